"""tools/lint on small trees: each rule finds what it is for and leaves alone what it is not."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"
sys.path.insert(0, str(TOOLS))

from linting import arrows, text  # noqa: E402
from linting.files import load_tree  # noqa: E402

BASE = {
    "src/base/CMakeLists.txt": "corelane_layer(base LINKS fmt::fmt)\n",
    "src/base/result.h": "#pragma once\n",
    "src/tensor/CMakeLists.txt": "corelane_layer(tensor USES base)\n",
    "src/tensor/shape.h": '#pragma once\n#include "base/result.h"\n',
    "src/model/CMakeLists.txt": "corelane_layer(model USES tensor TEST_LINKS corelane_stats)\n",
    "src/stats/CMakeLists.txt": "corelane_layer(stats USES base)\n",
    "src/stats/mean.h": "#pragma once\n",
    "src/stats/testing/fake.h": "#pragma once\n",
}


def make_tree(folder: Path, files: dict[str, str]) -> None:
    for name, content in (BASE | files).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    subprocess.run(["git", "init", "-q", folder], check=True)


def lint(folder: Path, files: dict[str, str]) -> list[str]:
    """The findings for BASE and `files` in a tree of their own, as "path:line: rule"."""
    make_tree(folder, files)
    tree = load_tree(folder)
    return [f"{found.path}:{found.line}: {found.rule}" for found in sorted(text.check(tree) + arrows.check(tree))]


def run_lint(folder: Path) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, TOOLS / "lint", "--root", folder], capture_output=True, text=True)


def test_the_command_says_what_it_found_and_by_its_exit_status_that_it_did(tmp_path):
    make_tree(tmp_path, {})
    done = run_lint(tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    make_tree(tmp_path, {"src/base/a.cc": "throw 3;\n"})
    done = run_lint(tmp_path)
    assert done.returncode == 1
    assert done.stdout.startswith("src/base/a.cc:1: throw: ")


ARROWS = {
    "through a layer in between": ("src/model/a.h", '#pragma once\n#include "base/result.h"\n', []),
    "upwards": ("src/base/a.cc", '#include "tensor/shape.h"\n', ["src/base/a.cc:1: arrow"]),
    "sideways": ("src/model/a.cc", '#include "stats/mean.h"\n', ["src/model/a.cc:1: arrow"]),
    "sideways in a test that links it": ("src/model/a_test.cc", '#include "stats/mean.h"\n', []),
    "a fake outside a test": ("src/stats/a.cc", '#include "stats/testing/fake.h"\n', ["src/stats/a.cc:1: arrow"]),
    "a fake in a test": ("src/stats/a_test.cc", '#include "stats/testing/fake.h"\n', []),
    "no file of ours": ("src/stats/a.cc", '#include "vector"\n', ["src/stats/a.cc:1: arrow"]),
    "in a comment": ("src/base/a.cc", '// #include "tensor/shape.h"\n', []),
    "excused": ("src/base/a.cc", '#include "tensor/shape.h"  // lint: arrow because of a test\n', []),
    "excused without a reason": ("src/base/a.cc", '#include "tensor/shape.h"  // lint: arrow because\n',
                                 ["src/base/a.cc:1: arrow"]),
    "a folder without a row": ("src/lost/a.cc", "int a;\n", ["src/lost/a.cc:1: arrow"]),
    "a row that names no layer": ("src/top/CMakeLists.txt", "corelane_layer(top USES nothing_such)\n",
                                  ["src/top/CMakeLists.txt:1: arrow"]),
}  # fmt: skip


@pytest.mark.parametrize("case", ARROWS)
def test_arrows(tmp_path, case):
    path, content, expected = ARROWS[case]
    assert lint(tmp_path, {path: content}) == expected


def test_two_layers_may_not_use_each_other(tmp_path):
    rows = {
        "src/a/CMakeLists.txt": "corelane_layer(a USES b)\n",
        "src/b/CMakeLists.txt": "corelane_layer(b USES a)\n",
    }
    assert lint(tmp_path, rows) == ["src/a/CMakeLists.txt:1: arrow", "src/b/CMakeLists.txt:1: arrow"]


def test_the_page_shows_the_rows_that_cmake_has(tmp_path):
    rows = ["src/base/ b -> nothing", "src/tensor/ t -> base", "src/model/ m -> tensor", "src/stats/ s -> base"]
    assert lint(tmp_path, {"ARCHITECTURE.md": "\n".join(rows)}) == []
    rows[1] = "src/tensor/ t -> base, stats"
    assert lint(tmp_path, {"ARCHITECTURE.md": "\n".join(rows)}) == ["ARCHITECTURE.md:2: arrow"]
    assert lint(tmp_path, {"ARCHITECTURE.md": "\n".join(rows[2:])}) == ["ARCHITECTURE.md:1: arrow"] * 2


FORBIDDEN = {
    "auto t = std::chrono::steady_clock::now();": "clock",
    "std::this_thread::sleep_for(1s);": "sleep",
    "usleep(3);": "sleep",
    "std::mutex m;": "mutex",
    "std::condition_variable v;": "mutex",
    "#include <format>": "format",
    'auto s = std::format("{}", 1);': "format",
    "auto p = new int(3);": "new",
    "delete p;": "delete",
    "delete[] p;": "delete",
    "worker.detach();": "thread",
    "std::thread worker(run);": "thread",
    "throw 3;": "throw",
    "using namespace std;": "using",
    "// TODO: later": "todo",
    "// FIXME": "todo",
}
ALLOWED = [
    "// new, delete, throw and std::mutex in a comment",
    'const char* text = "new TODO(#3) std::mutex throw";',
    'const char* raw = R"(throw new "thing")";',
    "/* std::mutex\n throw */",
    "Foo(const Foo&) = delete;",
    "void* operator new(std::size_t size);",
    "void operator delete(void* memory) noexcept;",
    "auto id = std::thread::hardware_concurrency();",
    "return std::unique_ptr<Foo>(new Foo(1));",
    "std::unique_ptr<Foo> foo(new Foo(1));",
    "#include <new>",
    "int throws = 1;",
    "// TODO(#12): when the server speaks gRPC",
    "auto n = 1'000'000; // and 'new' in quotes",
    "std::mutex m;  // lint: mutex because a foreign interface asks for one",
    "// lint: throw because the framework wants an exception here\nthrow 3;",
]


@pytest.mark.parametrize("line", FORBIDDEN)
def test_forbidden(tmp_path, line):
    assert lint(tmp_path, {"src/tensor/a.cc": f"\n{line}\n"}) == [f"src/tensor/a.cc:2: {FORBIDDEN[line]}"]


@pytest.mark.parametrize("line", ALLOWED)
def test_allowed(tmp_path, line):
    assert lint(tmp_path, {"src/tensor/a.cc": f"{line}\n"}) == []


def test_base_may_read_the_clock_and_guarded_may_hold_a_mutex(tmp_path):
    files = {
        "src/base/clock.cc": "auto t = std::chrono::steady_clock::now();\n",
        "src/base/guarded.h": "#pragma once\nstd::mutex m;\n",
        "src/base/log.cc": "std::mutex m;\n",
    }
    assert lint(tmp_path, files) == ["src/base/log.cc:1: mutex"]


def test_headers_start_with_pragma_once(tmp_path):
    assert lint(tmp_path, {"src/tensor/a.h": "int a;\n"}) == ["src/tensor/a.h:1: pragma"]
    assert lint(tmp_path, {"src/tensor/a.h": "#ifndef A\n#define A\n#ifdef __cplusplus\n#endif\n#endif\n"}) == []


def test_a_header_that_other_folders_include_is_light(tmp_path):
    files = {"src/tensor/a.h": "#pragma once\n#include <simdjson.h>\n", "src/tensor/a.cc": '#include "tensor/a.h"\n'}
    assert lint(tmp_path, files) == []
    assert lint(tmp_path, files | {"src/model/b.cc": '#include "tensor/a.h"\n'}) == ["src/tensor/a.h:2: heavy"]


def test_files_have_a_limit_and_tests_a_higher_one(tmp_path):
    files = {
        "src/tensor/a.cc": "int a;\n" * 500,
        "src/tensor/b.cc": "int a;\n" * 501,
        "src/tensor/a_test.cc": "int a;\n" * 700,
        "src/tensor/b_test.cc": "int a;\n" * 701,
    }
    assert lint(tmp_path, files) == ["src/tensor/b.cc:501: size", "src/tensor/b_test.cc:701: size"]


def body(lines: int) -> str:
    return "  a();\n" * lines


FUNCTIONS = {
    "short": (f"void f() {{\n{body(78)}}}\n", []),
    "long": (f"void f() {{\n{body(79)}}}\n", [1]),
    "two short ones": (f"void f() {{\n{body(50)}}}\nvoid g() {{\n{body(50)}}}\n", []),
    "in a class": (f"namespace n {{\nclass A : B {{\n  int f() const override {{\n{body(90)}}}\n}};\n}}\n", [3]),
    "a class of short ones": ("struct A {\n" + "  int f() { return 1; }\n" * 90 + "};\n", []),
    "with initialisers": (f"A::A() : a_{{1}}, b_(2) {{\n{body(90)}}}\n", [1]),
    "with a return type behind": (f"auto f(int a) -> int {{\n{body(90)}}}\n", [1]),
    "spread over lines": (f"template <typename T>\nint f(T a,\n      T b) noexcept {{\n{body(90)}}}\n", [1]),
    "a test": (f"TEST(A, B) {{\n{body(90)}}}\n", [1]),
    "blocks inside": (f"void f() {{\n  if (a) {{\n{body(40)}  }}\n{body(40)}}}\n", [1]),
    "a table": ("constexpr int kTable[] = {\n" + "  1,\n" * 90 + "};\n", []),
    "an enum": ("enum class A : int {\n" + "  a,\n" * 90 + "};\n", []),
    "braces in a literal": ("void f() {\n  a('{', \"{{{\");\n}\n" + "int a;\n" * 90, []),
}  # fmt: skip


@pytest.mark.parametrize("case", FUNCTIONS)
def test_function_sizes(tmp_path, case):
    content, lines = FUNCTIONS[case]
    assert lint(tmp_path, {"src/tensor/a.cc": content}) == [f"src/tensor/a.cc:{line}: size" for line in lines]


def test_python_and_shell_functions_have_the_same_limit(tmp_path):
    files = {
        "python/a.py": "def f():\n" + "    a()\n" * 80,
        "run": "#!/bin/bash\nf() {\n" + "  a\n" * 79 + "}\n",
    }
    assert lint(tmp_path, files) == ["python/a.py:1: size", "run:2: size"]
