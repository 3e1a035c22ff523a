"""Which folder of src/ may include which: the rows are the corelane_layer(NAME USES ...) lines of CMake."""

import re

from linting.files import Finding, SourceFile, Tree

_ROW = re.compile(r"corelane_layer\(\s*(?P<name>\w+)(?P<rest>[^)]*)\)")
_KEYWORDS = {"USES", "LINKS", "TEST_LINKS"}
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


class Row:
    def __init__(self, path: str, line: int, uses: list[str], test_uses: list[str]):
        self.path, self.line, self.uses, self.test_uses = path, line, uses, test_uses


def _words_after(keyword: str, rest: str) -> list[str]:
    words, current = [], None
    for word in rest.split():
        if word in _KEYWORDS:
            current = word
        elif current == keyword:
            words.append(word)
    return words


def read_rows(tree: Tree) -> dict[str, Row]:
    rows = {}
    for file in tree.files:
        if not re.fullmatch(r"src/\w+/CMakeLists\.txt", file.path):
            continue
        for match in _ROW.finditer(re.sub(r"#[^\n]*", "", file.content)):
            rest = match["rest"]
            links = _words_after("TEST_LINKS", rest)
            test_uses = [link.removeprefix("corelane_") for link in links if link.startswith("corelane_")]
            line = file.content[: file.content.find("corelane_layer(")].count("\n") + 1
            rows[match["name"]] = Row(file.path, line, _words_after("USES", rest), test_uses)
    return rows


def reach(rows: dict[str, Row], start: str) -> set[str]:
    """Every layer that `start` may include: its own, those it uses, and what those use."""
    seen, waiting = set(), [start]
    while waiting:
        layer = waiting.pop()
        if layer not in seen:
            seen.add(layer)
            waiting += rows[layer].uses if layer in rows else []
    return seen


def _check_rows(rows: dict[str, Row]) -> list[Finding]:
    findings = []
    for name, row in rows.items():
        for used in row.uses + row.test_uses:
            if used not in rows:
                findings.append(Finding(row.path, row.line, "arrow", f"{name} uses {used}, which is no layer"))
            elif name in reach(rows, used):
                findings.append(Finding(row.path, row.line, "arrow", f"{name} and {used} use each other"))
    return findings


def _check_include(file: SourceFile, line: int, name: str, rows: dict[str, Row], paths: set[str]) -> Finding | None:
    layer = file.path.split("/")[1]
    target = name.split("/")[0]
    allowed = reach(rows, layer)
    if file.is_test:
        for extra in rows[layer].test_uses:
            allowed |= reach(rows, extra)
    if target in rows and target not in allowed:
        advice = f"{layer} may not include {target}: its row in src/{layer}/CMakeLists.txt does not lead there"
        return Finding(file.path, line, "arrow", advice)
    if "/testing/" in name and not file.is_test:
        return Finding(file.path, line, "arrow", f"{name} is for tests only")
    if f"src/{name}" not in paths:
        return Finding(file.path, line, "arrow", f'"{name}" is no file of src/: quotes are for ours, <> for others\'')
    return None


def check(tree: Tree) -> list[Finding]:
    rows = read_rows(tree)
    findings = _check_rows(rows)
    paths = {file.path for file in tree.files}
    for file in tree.cxx:
        if not file.path.startswith("src/") or file.path.count("/") < 2:
            continue
        layer = file.path.split("/")[1]
        if layer not in rows:
            findings.append(Finding(file.path, 1, "arrow", f"src/{layer}/CMakeLists.txt has no row for its folder"))
            continue
        for match in _INCLUDE.finditer(file.code):
            line = file.code[: match.start(1)].count("\n") + 1
            if file.allows(line, "arrow"):
                continue
            finding = _check_include(file, line, match[1], rows, paths)
            if finding:
                findings.append(finding)
    return findings + _check_page(tree, rows)


def _check_page(tree: Tree, rows: dict[str, Row]) -> list[Finding]:
    """ARCHITECTURE.md shows the rows as lines "src/NAME/ ... -> a, b"; they must be those of CMake."""
    page = next((file for file in tree.files if file.path == "ARCHITECTURE.md"), None)
    if page is None:
        return []
    findings, shown = [], {}
    for number, line in enumerate(page.lines, start=1):
        match = re.match(r"\s*src/(\w+)/\s.*->\s*(.*)$", line)
        if match:
            shown[match[1]] = (number, {word for word in re.split(r"[,\s]+", match[2]) if word and word != "nothing"})
    for name, row in rows.items():
        if name not in shown:
            findings.append(Finding(page.path, 1, "arrow", f"src/{name}/ is missing from the table of layers"))
        elif shown[name][1] != set(row.uses):
            number, uses = shown[name]
            advice = f"src/{name}/ is shown with {sorted(uses)}, CMake has {sorted(row.uses)}"
            findings.append(Finding(page.path, number, "arrow", advice))
    for name in shown.keys() - rows.keys():
        findings.append(Finding(page.path, shown[name][0], "arrow", f"src/{name}/ is no layer"))
    return findings
