"""CPU time of process trees, and progress on stderr."""

import os
import pathlib
import sys

TICKS = os.sysconf("SC_CLK_TCK")


def log(text):
    print(text, file=sys.stderr, flush=True)


def stat_fields(pid):
    """Of /proc/PID/stat from the state on; None when the process has gone."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def tree(root):
    """The process and all its descendants."""
    children = {}
    for entry in pathlib.Path("/proc").iterdir():
        fields = stat_fields(entry.name) if entry.name.isdigit() else None
        if fields:
            children.setdefault(int(fields[1]), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def cpu_seconds(root):
    """User and system time that the process tree has used so far."""
    total = 0
    for pid in tree(root):
        fields = stat_fields(pid)
        if fields:
            total += int(fields[11]) + int(fields[12])
    return total / TICKS


def cpu_has_bf16():
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    flags = next((line for line in lines if line.startswith("flags")), "").split()
    return "avx512_bf16" in flags or "amx_bf16" in flags
