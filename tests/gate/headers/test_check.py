"""test_check: every kind of wrong statement is found, in the newest release of the headers that are given."""
import pathlib, sys, unittest
from unittest import mock

import check, ours, vendor, words

WRONG = pathlib.Path(__file__).resolve().parent / "wrong"
WORDS = [("operation", "librocblas.so", "rocblas_operation", "rocblas_operation_"), ("gone", "librocblas.so", "rocblas_fill", "rocblas_fill_")]


class TheCheck(unittest.TestCase):
    maxDiff = None
    headers = None

    @mock.patch.object(words, "WORDS", WORDS)
    def test_every_wrong_statement_is_found(self):
        our = check.Ours.read(WRONG / "rows.tsv", WRONG, WRONG / "known.tsv")
        found = check.complaints_of(our, check.compare(our, check.releases(self.headers)[-1:]))
        self.assertEqual((WRONG / "expected.txt").read_text(), "".join(f"{what}: {text}\n" for what, text, _ in found))

    def test_a_declaration_is_read_as_the_compiler_reads_it(self):
        for text, name in [("const void* f", "f"), ("dim3 gridDim", "gridDim"), ("void** args", "args"), ("unsigned int", None), ("hipStream_t", None),
                           ("const char*", None), ("int list[3]", "list"), ("void (*call)(int, void*)", "call")]:
            self.assertEqual(vendor.parameter_name(text), name)
        text = 'int f(int a, void (*g)(int, int) = 0, T<int, int> b) __attribute__((deprecated("use (g)"))) ;'
        plain = vendor.without_attributes(text)
        self.assertEqual(vendor.arguments(plain, len("int f(")), (["int a", "void (*g)(int, int)", "T<int, int> b"], ";"))

    def test_shapes_agree_where_they_are_passed_and_read_alike(self):
        for our, their, agree in [("u32", "enum32", True), ("i32", "enum32", True), ("i64", "enum32", False), ("u32", "i32", False), ("*void", "**struct s", True),
                                  ("**void", "**struct s", True), ("*u64", "*u32", False), ("*void", "u64", False), ("u64", "*void", False), ("**i8", "*i8", False), ("u8[4]", "char8[4]", True), ("u8[4]", "char8[8]", False)]:
            self.assertEqual(check.agree(our, their), agree, f"{our}, {their}")

    def test_unreadable_declarations_are_reported(self):
        for text in ["pub(crate) struct NotC { a: u32 }", "pub(crate) enum E { A }", "const A: u32 = B + 1;", "type T = u32"]:
            for item in ours.items(text):
                with self.assertRaises(ours.NotUnderstood):
                    ours.declare(item, ours.Abi({}, {}, {}, {}, {}), "a.rs")


if __name__ == "__main__":
    TheCheck.headers = pathlib.Path(sys.argv.pop(1))
    unittest.main(verbosity=0)
