"""The kit's load client: a closed loop of keep-alive connections, the same for every server."""

import json
import subprocess

from .processes import cpu_seconds, log


def send(kit, server, body, connections, seconds):
    """One window of load: the client's figures, and the CPU time of all the server's processes in it."""
    before = cpu_seconds(server.pid)
    command = [kit.work / "bin" / "hload", server.port, server.path, kit.body(body), connections, 0, seconds]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"ratios: the load client failed: {done.stderr}")
    figures = json.loads(done.stdout)
    errors = figures["http_err"] + figures["sock_err"]
    if errors:
        raise SystemExit(f"ratios: {figures['ok']} answers, {errors} errors from {server.path}: {done.stderr.strip()}")
    figures["per_cpu_second"] = figures["ok"] / max(0.01, cpu_seconds(server.pid) - before)
    return figures


def alternate(kit, sides, rounds, seconds, connections):
    """Windows on each of `sides` ((name, server, body)) in turn, after a warm-up; lists of figures by name."""
    for _, server, body in sides:
        send(kit, server, body, connections, max(3.0, seconds / 2))
    windows = {name: [] for name, _, _ in sides}
    for _ in range(rounds):
        for name, server, body in sides:
            figures = send(kit, server, body, connections, seconds)
            if not figures["ok"]:
                raise SystemExit(f"ratios: no answer from {name} in {seconds} s: give longer windows (--seconds)")
            windows[name].append(figures)
            log(f"  {name}: {figures['rps']:.1f}/s, p50 {figures['p50_ms']:.2f} ms, p95 {figures['p95_ms']:.2f} ms")
    return windows
