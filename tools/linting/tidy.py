"""clang-tidy over compile_commands.json, as many at once as there are cores. A file that was clean and has not
changed since, nor any of our headers it includes, is not read again: its digest is kept in the cache folder."""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from linting.files import Finding, SourceFile, Tree

TIDY = "clang-tidy-19"
_DIAGNOSTIC = re.compile(r"^(?P<path>/[^:]+):(?P<line>\d+):\d+: (?:warning|error): (?P<what>.*)$", re.MULTILINE)
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "corelane-tidy"


def _with_headers(path: str, files: dict[str, SourceFile]) -> list[SourceFile]:
    seen, waiting = {}, [path]
    while waiting:
        name = waiting.pop()
        if name in files and name not in seen:
            seen[name] = files[name]
            waiting += ["src/" + included for included in _INCLUDE.findall(files[name].content)]
    return [seen[name] for name in sorted(seen)]


def _digest(command: str, sources: list[SourceFile], fixed: str) -> str:
    digest = hashlib.sha256((fixed + command).encode())
    for source in sources:
        digest.update(source.path.encode() + b"\0" + source.content.encode() + b"\0")
    return digest.hexdigest()


def _changed(root: Path) -> set[str]:
    base = subprocess.run(["git", "merge-base", "HEAD", "main"], cwd=root, capture_output=True, text=True)
    against = base.stdout.strip() or "HEAD"
    listed = subprocess.run(["git", "diff", "--name-only", against], cwd=root, capture_output=True, text=True).stdout
    untracked = ["git", "ls-files", "--others", "--exclude-standard"]
    listed += subprocess.run(untracked, cwd=root, capture_output=True, text=True).stdout
    return set(listed.split())


def _findings(output: str, root: Path) -> list[Finding]:
    found = {
        Finding(os.path.relpath(match["path"], root), int(match["line"]), "tidy", match["what"])
        for match in _DIAGNOSTIC.finditer(output)
    }
    return sorted(found)


class Runner:
    def __init__(self, tree: Tree, build: Path, fix_includes: bool):
        self.tree, self.build = tree, build
        self.extra = ["--checks=-*,misc-include-cleaner", "--fix"] if fix_includes else []
        self.files = {file.path: file for file in tree.files}
        self.cache = _cache_folder()
        self.cache.mkdir(parents=True, exist_ok=True)
        version = subprocess.run([TIDY, "--version"], capture_output=True, text=True, check=True).stdout
        self.fixed = version + (tree.root / ".clang-tidy").read_text()

    def run(self, path: str, command: str) -> tuple[str, float, list[Finding]]:
        start = time.monotonic()
        command = command.replace(str(self.tree.root), ".")
        stamp = self.cache / _digest(command, _with_headers(path, self.files), self.fixed)
        if stamp.exists():
            stamp.touch()
            return path, 0.0, []
        done = subprocess.run(
            [TIDY, "-p", str(self.build), "--quiet", *self.extra, str(self.tree.root / path)],
            cwd=self.tree.root, capture_output=True, text=True,
        )  # fmt: skip
        findings = _findings(done.stdout + done.stderr, self.tree.root)
        if done.returncode and not findings:
            findings = [Finding(path, 0, "tidy", (done.stdout + done.stderr).strip()[-400:])]
        if not findings and not self.extra:
            stamp.touch()
        return path, time.monotonic() - start, findings


def _commands(tree: Tree, database: Path, runner: Runner, arguments) -> dict[str, str]:
    """The compile command of each source that is asked for."""
    commands = {}
    for entry in json.loads(database.read_text()):
        path = os.path.relpath(entry["file"], tree.root)
        wanted = not arguments.only or path.startswith(tuple(arguments.only))
        if wanted and path in runner.files and path.endswith(".cc"):
            commands[path] = entry["command"]
    if arguments.tidy == "changed":
        changed = _changed(tree.root)
        commands = {
            path: command
            for path, command in commands.items()
            if changed & {source.path for source in _with_headers(path, runner.files)}
        }
    return commands


def check(tree: Tree, arguments) -> list[Finding]:
    database = arguments.build / "compile_commands.json"
    if not database.exists():
        return [Finding(".", 0, "tidy", f"{database} is missing: cmake --workflow --preset dev")]
    runner = Runner(tree, arguments.build, arguments.fix_includes)
    commands = _commands(tree, database, runner, arguments)
    findings = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = pool.map(lambda item: runner.run(*item), sorted(commands.items()))
        for number, (path, seconds, found) in enumerate(jobs, start=1):
            print(f"[{number}/{len(commands)}] {path} {seconds:.1f} s", file=sys.stderr, flush=True)
            findings += found
    return sorted(set(findings))
