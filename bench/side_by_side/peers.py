"""The peer servers that corelane is compared with: a kit of scripts that sets them up, starts and stops them.

The kit (--peers or CORELANE_PEERS) is a folder with setup.sh, measure.sh, client/hload.cpp and one folder per server;
its README says what each stands for. It writes under PEERS_WORK only.
"""

import os
import pathlib
import subprocess

from .processes import log

BASE_PORT = int(os.environ.get("PEERS_PORT", "8100"))
PORTS = {"seedstack": BASE_PORT, "triton": BASE_PORT + 200}


class Kit:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        if not (self.folder / "setup.sh").exists():
            raise SystemExit(f"ratios: {self.folder} is no kit of peers: it has no setup.sh")
        cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
        self.work = pathlib.Path(os.environ.get("PEERS_WORK") or cache / "peers")
        self.environment = os.environ | {"PEERS_WORK": str(self.work), "PEERS_PORT": str(BASE_PORT)}

    def run(self, script, *arguments):
        command = ["bash", str(self.folder / script), *arguments]
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"ratios: {' '.join(command)} failed:\n{done.stdout}{done.stderr}")

    def set_up(self, *names):
        for name in names:
            if not self.is_set_up(name):
                log(f"setting up {name}; the first time it takes minutes")
                self.run("setup.sh", name)

    def is_set_up(self, name):
        parts = {
            "client": ["bin/hload", "bodies/v2bin_mixed.bin", "bodies/null_v2bin.bin"],
            "models": ["models/bert.pt", "models/resnet50.onnx"],
            "seedstack": ["venv-seedstack/installed.txt"],
            "triton": ["venv-triton/installed.txt", "triton-native/libtriton_nullcpp.so"],
        }[name]
        return all((self.work / part).exists() for part in parts)

    def body(self, name):
        return self.work / "bodies" / f"{name}.bin"


class Peer:
    """A running server of the kit; stopped at the end of a `with`."""

    def __init__(self, kit, name, arguments, path):
        self.kit, self.name, self.arguments, self.path = kit, name, arguments, path
        self.port = PORTS[name]

    def __enter__(self):
        log(f"starting {self.name} {' '.join(self.arguments)}")
        self.kit.run(f"{self.name}/start.sh", *self.arguments)
        self.pid = int((self.kit.work / "run" / self.name / "server.pid").read_text().split()[0])
        return self

    def __exit__(self, *_):
        self.kit.run(f"{self.name}/stop.sh")
