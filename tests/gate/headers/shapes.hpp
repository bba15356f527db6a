// Shapes: the text form of a C type, with all that determines how it is passed and read. vendor.py
// writes programs with the queries below.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

// Called by a template of an old hip_ext.h that only hipcc compiles.
template <int, typename... Args> void pArgs(Args&&...);

namespace shapes {

template <class T> std::string name() {
    std::string text = __PRETTY_FUNCTION__; // … [with T = NAME; …]
    size_t start = text.find("T = ") + 4;
    return text.substr(start, text.find_first_of(";]", start) - start);
}

template <class T> std::string bits() { return std::to_string(8 * sizeof(T)); }

template <class T> std::string shape() {
    if constexpr (std::is_const_v<T> || std::is_volatile_v<T>) return shape<std::remove_cv_t<T>>();
    else if constexpr (std::is_void_v<T>) return "void";
    else if constexpr (std::is_function_v<T>) return "fn";
    else if constexpr (std::is_array_v<T>) return shape<std::remove_extent_t<T>>() + "[" + std::to_string(std::extent_v<T>) + "]";
    else if constexpr (std::is_pointer_v<T>) return "*" + shape<std::remove_pointer_t<T>>();
    else if constexpr (std::is_reference_v<T>) return "*" + shape<std::remove_reference_t<T>>();
    else if constexpr (std::is_same_v<T, bool>) return "bool";
    else if constexpr (std::is_same_v<T, char>) return "char8";
    else if constexpr (std::is_floating_point_v<T>) return "f" + bits<T>();
    else if constexpr (std::is_enum_v<T>) return "enum" + bits<T>();
    else if constexpr (std::is_integral_v<T>) return (std::is_signed_v<T> ? "i" : "u") + bits<T>();
    else return "struct " + name<T>();
}

// A function: its result, then its arguments, between tabs.
template <class T> struct Signature;
template <class R, class... Args> struct Signature<R(Args...)> {
    static std::string text() { return (shape<R>() + ... + ("\t" + shape<Args>())); }
};
template <class T> struct Signature<T*> : Signature<T> {};
template <class R, class... Args> struct Signature<R(Args...) noexcept> : Signature<R(Args...)> {};

inline void* volatile kept; // a function's address, so that the linker looks for its symbol

} // namespace shapes

// Queries; each prints a line: the member of Facts, a name, the answer.
#define FUNCTION(NAME, POINTER)                                                                         \
    std::printf("functions\t" NAME "\t%s\n", shapes::Signature<decltype(POINTER)>::text().c_str());     \
    shapes::kept = reinterpret_cast<void*>(POINTER);
#define POINTER(NAME, T) std::printf("functions\t" NAME "\t%s\n", shapes::Signature<T>::text().c_str());
#define TYPE(NAME, T) std::printf("types\t" NAME "\t%s\n", shapes::shape<T>().c_str());
#define SIZE(NAME, T) std::printf("sizes\t" NAME "\t%zu\t%zu\n", sizeof(T), alignof(T));
#define FIELD(NAME, T, F) /* silent where there is none; F may be a.b */                                \
    [](auto& object) {                                                                                   \
        using S = std::remove_reference_t<decltype(object)>;                                             \
        if constexpr (requires { object.F; })                                                            \
            std::printf("fields\t" NAME "\t%zu\t%s\n", offsetof(S, F), shapes::shape<decltype(object.F)>().c_str()); \
    }(*static_cast<T*>(nullptr));
#define VALUE(NAME, V) std::printf("values\t" NAME "\t%lld\n", (long long)(V));
