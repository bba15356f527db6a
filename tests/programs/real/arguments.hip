// Kernels that take every kind of argument, for arguments.c. They need no header and no library. A
// compressed bundle: clang -x hip --offload-compress --offload-arch=gfx1100
// --offload-arch=gfx90a:xnack+ --offload-arch=gfx90a:xnack- --offload-arch=gfx942
// --cuda-device-only --gpu-bundle-output -nogpuinc -nogpulib -O2 -o arguments.hipfb arguments.hip
#define KERNEL __attribute__((global))

struct Pair { float a; int b; };
struct Triple { unsigned x, y, z; };
struct Large { unsigned char bytes[360]; };
enum Mode : int { plain, fancy };

extern "C" KERNEL void nothing() {}

KERNEL void scalars(float f, double d, int i, unsigned u, long l, unsigned long ul, short s, unsigned char c, bool b, _Float16 h, Mode mode, float *out)
{
    *out = f + d + i + u + l + ul + s + c + b + h + mode;
}

KERNEL void structs(Pair pair, Triple triple, const Pair *pairs, float *out)
{
    *out = pair.a + pair.b + triple.x + triple.y + triple.z + pairs->a;
}

// More than an event has room for: `out` does not fit.
KERNEL void large(int before, Large bytes, int after, float *out)
{
    *out = before + bytes.bytes[0] + after;
}

template <typename T, int N> KERNEL void filled(T *out, T value, int n)
{
    for (int i = 0; i < n && i < N; i++)
        out[i] = value;
}
template KERNEL void filled<float, 4>(float *, float, int);
template KERNEL void filled<unsigned short, 64>(unsigned short *, unsigned short, int);
