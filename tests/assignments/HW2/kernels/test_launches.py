"""The rewriting of CUDA to C++: launches and shared variables, whatever stands around them, and no line moves."""

from __future__ import annotations

import pytest

from assignments.HW2.kernels.launches import rewrite
from assignments.HW2.kernels.tokens import tokens
from grader.known.cuda import SOURCE

KERNEL = "__global__ void k(float* out, const int n = 3) {}\n"


def launch(text: str, before: str = KERNEL) -> str:
    rewritten = rewrite(before + text)
    assert rewritten.text.startswith(before)
    assert rewritten.text.count("\n") == (before + text).count("\n")
    return rewritten.text.removeprefix(before)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("k<<<1, 2>>>(a, b);", '::tg::config(__LINE__, 1, 2).kernel("k", "out,n", k)(a, b);'),
        (
            "k <<< g, dim3(1, 2), 0, s >>> ();",
            '::tg::config(__LINE__,  g, dim3(1, 2), 0, s ).kernel("k", "out,n", k) ();',
        ),
        ("ns::k<<<f(a >> 1), 2>>>();", '::tg::config(__LINE__, f(a >> 1), 2).kernel("k", "out,n", ns::k)();'),
        ("k<<<(n >> 3), x[1]>>>(p);", '::tg::config(__LINE__, (n >> 3), x[1]).kernel("k", "out,n", k)(p);'),
    ],
)
def test_a_launch(text: str, expected: str) -> None:
    assert launch(text) == expected


def test_a_launch_over_several_lines_keeps_them() -> None:
    assert launch("k<<<\n  1,\n  2\n>>>(a);\nnext();").splitlines()[-1] == "next();"


@pytest.mark.parametrize(
    "text",
    [
        "// k<<<1, 2>>>(a);\n",
        "/* k<<<1, 2>>>(a);\n */\n",
        'const char* s = "k<<<1, 2>>>(a)";\n',
        'const char* s = R"x(k<<<1, 2>>>(a) )" )x";\n',
        "char c = '\"'; // k<<<1, 2>>>\n",
        "int a = b << 3 >> 1; std::vector<std::vector<std::vector<int>>> v;\n",
        "#include <k<<<1>>>.h>\n",
        "// a comment that goes on \\\n k<<<1, 2>>>(a);\n",
    ],
)
def test_what_is_no_launch_stays_as_it_is(text: str) -> None:
    assert launch(text) == text


def test_a_launch_in_a_macro() -> None:
    text = launch("#define LAUNCH(n) \\\n    k<<<n, 256>>>(a); \\\n    check()\n")
    assert "::tg::config(__LINE__, n, 256)" in text
    assert text.count("\\\n") == 2


def test_template_kernels() -> None:
    before = "template <int N, class T>\n__global__ void __launch_bounds__(256) k(T* out) {}\n"
    assert launch("k<3, A<B<int>>><<<1, 2>>>(a);", before).startswith(
        '::tg::config(__LINE__, 1, 2).kernel("k", "out", k<3, A<B<int>>>)(a)'
    )
    deduced = launch("k<<<1, 2>>>(a);", before)
    assert '.deduced("k", "out", [](auto... tg_arguments) { k(tg_arguments...); })(a);' in deduced


@pytest.mark.parametrize("text", ["k<<<1, 2;\n", "<<<1, 2>>>(a);\n"])
def test_what_begins_like_a_launch_is_told(text: str) -> None:
    assert rewrite(text).problems or "tg::config" not in rewrite(text).text


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("__shared__ float a[3][N + 1];", "typedef float tg_type_a[ 3 ] [ N + 1 ];"),
        ("__shared__ float a[3], b, *c[2];", "typedef float tg_type_b;"),
        ("__shared__ float a[3], b, *c[2];", "typedef float * tg_type_c[ 2 ];"),
        ("__shared__ unsigned int x;", "typedef unsigned int tg_type_x;"),
        ("static __shared__ __align__(16) volatile float y[4];", "typedef volatile float tg_type_y[ 4 ];"),
        ("float __shared__ z[4];", "typedef float tg_type_z[ 4 ];"),
        ("extern __shared__ float s[];", "float (&s)[] = *reinterpret_cast<float (*)[]>(::tg::dynamic_shared"),
        ("extern __shared__ __align__(sizeof(double)) unsigned char s[];", "unsigned char (&s)[]"),
    ],
)
def test_a_shared_variable(text: str, holds: str) -> None:
    found = rewrite("void f() {\n" + text + "\n}\n").text
    assert holds in found
    assert found.count("\n") == 3
    assert "__shared__" not in found


def test_a_shared_variable_over_several_lines_keeps_them() -> None:
    found = rewrite("void f() { if (x) { }\n  __shared__ float a[\n 3\n];\n g(); }\n").text
    assert found.splitlines()[4] == " g(); }"


def test_functions_are_those_with_a_body_outside_of_others() -> None:
    text = 'extern "C" {\nvoid a(int x) { if (x) { b(); } }\nvoid c();\n}\nnamespace n { int d() { return 0; } }\n'
    assert rewrite(text).functions == {"a", "d"}


def test_the_template_s_file() -> None:
    text = SOURCE.read_text("utf-8")
    rewritten = rewrite(text)
    assert rewritten.problems == []
    assert {"tensorMap", "tensorZip", "tensorReduce", "MatrixMultiply"} <= rewritten.functions
    assert rewritten.text.count("\n") == text.count("\n")
    assert rewritten.text.count("::tg::config(") == 4
    kept = [token.text for token in tokens(rewritten.text) if token.text in ("<<<", "__shared__")]
    assert kept == []


@pytest.mark.parametrize(
    "text",
    ["", "'", '"', "/*", 'R"(', "#define", "<<<", "k<<<", "__shared__", "extern __shared__ ;", "\\", "{[(", ")]}>>>"],
)
def test_odd_text_ends_without_an_error(text: str) -> None:
    assert rewrite(text).text.count("\n") == text.count("\n")
