"""corelane's side: compiled models, a running server, and its own bench on the lanes."""

import json
import os
import pathlib
import shutil
import subprocess
import time

from .processes import log
from .study import run_study

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Corelane:
    """The program of a build folder; what it makes lies in `work`."""

    def __init__(self, build, work):
        self.program, self.loop = build / "corelane", build / "bench" / "openvino_loop"
        self.work = work
        work.mkdir(parents=True, exist_ok=True)
        if not self.program.exists():
            raise SystemExit(f"ratios: no {self.program}; build it first: cmake --build --preset dev --target program")

    def run(self, *arguments, accept=(0,)):
        done = subprocess.run([self.program, *arguments], capture_output=True, text=True, cwd=self.work)
        if done.returncode not in accept:
            raise SystemExit(f"ratios: corelane {' '.join(map(str, arguments))} failed:\n{done.stderr}{done.stdout}")
        return done.stdout

    def model(self, name, source):
        """The repository that holds only this model, compiled from `source` unless it is newer than that."""
        repository = self.work / name / "models"
        stamp = self.work / name / "source"
        made_of = f"{source} {source.stat().st_mtime_ns} {source.stat().st_size}"
        if not (stamp.exists() and stamp.read_text() == made_of):
            log(f"compiling {source.name}")
            shutil.rmtree(repository, ignore_errors=True)
            self.run("compile", source, "--name", name, "--out", repository)
            stamp.write_text(made_of)
        return repository

    def unbounded(self, name, source):
        """The same repository, but with as many shapes cached as OpenVINO keeps by itself (5000)."""
        made, repository = self.model(name, source), self.work / f"{name}-unbounded"
        shutil.rmtree(repository, ignore_errors=True)
        shutil.copytree(made, repository, copy_function=os.link)
        manifest = repository / name / "1" / "model.toml"
        text = manifest.read_text()
        own = '[precision.f32]\nengine = "openvino"\n'
        assert own in text
        manifest.unlink()  # else the link would change the original
        options = "options = { properties = { CPU_RUNTIME_CACHE_CAPACITY = 5000 } }\n"
        manifest.write_text(text.replace(own, own + options))
        return repository

    def artifact(self, name, source):
        (found,) = self.model(name, source).glob(f"{name}/1/f32.xml")
        return found

    def probe_model(self, name):
        """A repository that holds this one of the probe models."""
        repository = self.work / f"probe-{name}"
        shutil.rmtree(repository, ignore_errors=True)
        shutil.copytree(ROOT / "examples" / "probe-models" / name, repository / name)
        return repository

    def serve(self, repository, model, lanes="auto", precision="f32"):
        return Serving(self, repository, model, lanes, precision)

    def lanes_rate(self, name, source, point):
        """Items per second of one experiment that drives the lanes directly, or the server at point["target"]."""
        return self.experiment(self.model(name, source), name, point)["items_per_second"]

    def experiment(self, repository, name, point):
        return run_study(self, repository, name, point)

    def loop_rate(self, name, source, *arguments):
        command = [self.loop, self.artifact(name, source), "--json", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"ratios: {done.stderr}")
        return json.loads(done.stdout)["items_per_second"]


class Serving:
    """A running `corelane serve`; drained at the end of a `with`."""

    def __init__(self, corelane, repository, model, lanes, precision):
        self.corelane, self.repository = corelane, repository
        self.lanes, self.precision = lanes, precision
        self.path = f"/v2/models/{model}/infer"

    def __enter__(self):
        log(f"starting corelane serve ({self.precision}, lanes {self.lanes})")
        ready = self.corelane.work / "ready.json"
        ready.unlink(missing_ok=True)
        command = [self.corelane.program, "serve", self.repository, "--http", "127.0.0.1:0", "--ready-file", ready]
        command += ["--lanes", self.lanes, "--precision", self.precision]
        self.log = (self.corelane.work / "serve.log").open("w")
        self.process = subprocess.Popen(command, cwd=self.corelane.work, stdout=self.log, stderr=self.log)
        limit = time.monotonic() + 120
        while not ready.exists():
            if self.process.poll() is not None or time.monotonic() > limit:
                self.process.kill()
                raise SystemExit("ratios: corelane serve: " + pathlib.Path(self.log.name).read_text())
            time.sleep(0.02)
        self.pid = self.process.pid
        self.port = int(json.loads(ready.read_text())["http"].rpartition(":")[2])
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
        self.log.close()


def usable_cores():
    return len(os.sched_getaffinity(0))
