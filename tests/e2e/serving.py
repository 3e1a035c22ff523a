"""A running `corelane serve` for tests, and small clients that send to it."""
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CORELANE_BUILD", ROOT / "build" / "dev")).resolve()
PROBES = ROOT / "examples" / "probe-models"
PATIENCE = 60  # seconds until a test gives up on something that should take far less


def two_lanes():
    """A plan of two lanes where there are two CPUs, else what there is."""
    cpus = sorted(os.sched_getaffinity(0))
    return f"cpu:{cpus[0]}|cpu:{cpus[1]}" if len(cpus) > 1 else "auto"


def demo_source(name, folder):
    """A model of ./demo as a Hugging Face directory, made in `folder`."""
    command = [sys.executable, "-m", "corelane_tools.demo_models", "--only", name, "--out", str(folder)]
    subprocess.run(command, check=True, env={"PYTHONPATH": str(ROOT / "python")}, timeout=300)
    return folder / name


def compiled(source, models, *args):
    """The repository `models` with what `source` becomes."""
    command = [BUILD / "corelane", "compile", source, "--out", models, *args]
    subprocess.run([str(part) for part in command], check=True, timeout=300)
    return models


def wait_for(holds, what, seconds=PATIENCE):
    """Returns how long it took until holds() was true."""
    began = time.monotonic()
    while not holds():
        assert time.monotonic() - began < seconds, f"{what}: not within {seconds} s"
        time.sleep(0.005)
    return time.monotonic() - began


class Server:
    """Starts with the models given; `http` and `grpc` are its addresses once it is ready. `popen` goes to the process."""

    def __init__(self, folder, models, *args, **popen):
        self.ready_file = ready = folder / "ready.json"
        ready.unlink(missing_ok=True)
        self.log = folder / "serve.log"
        command = [BUILD / "corelane", "serve", models, "--http", "127.0.0.1:0", "--ready-file", ready, *args]
        with self.log.open("w") as log:
            options = {"stdout": log, "stderr": log, **popen}
            self.process = subprocess.Popen([str(part) for part in command], cwd=folder, **options)
        wait_for(lambda: ready.exists() or self.process.poll() is not None, "the server's start")
        assert ready.exists(), self.log.read_text()
        said = json.loads(ready.read_text())
        self.http, self.grpc = said["http"], said.get("grpc")

    def request(self, method, path, body=None, headers=None):
        """(status, headers, body) of one request on a connection of its own."""
        connection = http.client.HTTPConnection(self.http, timeout=PATIENCE)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def get(self, path):
        return self.request("GET", path)

    def infer(self, model, *inputs, **more):
        """Sends JSON; (status, parsed answer)."""
        body = json.dumps({"inputs": list(inputs), **more})
        status, _, answer = self.request("POST", f"/v2/models/{model}/infer", body)
        return status, json.loads(answer)

    def metrics(self):
        """{'name{labels}': value}"""
        _, _, text = self.get("/metrics")
        lines = [line for line in text.decode().splitlines() if line and not line.startswith("#")]
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}

    def lanes_up(self):
        return self._sum("corelane_lane_up")

    def restarts(self):
        return self._sum("corelane_lane_restarts_total")

    def _sum(self, metric):
        return sum(value for name, value in self.metrics().items() if name.startswith(metric + "{"))

    def workers(self):
        """Process ids of the live workers."""
        pids = []
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                pids += [int(pid) for pid in (task / "children").read_text().split()]
            except OSError:
                continue
        return [pid for pid in pids if b"worker" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]

    def terminate(self):
        self.process.send_signal(signal.SIGTERM)

    def stop(self):
        """Ends it as a service manager would; a running test's last check."""
        if self.process.poll() is None:
            self.terminate()
        try:
            assert self.process.wait(timeout=10) == 0, self.log.read_text()
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()


def tensor(data, datatype="FP32", name="INPUT0", shape=None):
    return {"name": name, "shape": shape or [len(data)], "datatype": datatype, "data": data}


class Load:
    """Closed loop: each of `clients` sends on a connection of its own, checks the answer, and sends again, until stop()."""

    def __init__(self, server, model, clients, make_input, check):
        self.server, self.model, self.make_input, self.check = server, model, make_input, check
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.ok, self.failures = 0, []
        self.threads = [threading.Thread(target=self._run, args=(i,)) for i in range(clients)]
        for thread in self.threads:
            thread.start()

    def _run(self, client):
        connection = http.client.HTTPConnection(self.server.http, timeout=PATIENCE)
        sent = 0
        while not self.stopping.is_set():
            sent += 1
            request = self.make_input(client, sent)
            body = json.dumps({"inputs": [request]})
            try:
                connection.connect() if connection.sock is None else None
            except OSError:
                return  # no longer listening: nothing was accepted
            try:
                connection.request("POST", f"/v2/models/{self.model}/infer", body)
                answer = connection.getresponse()
                text = answer.read()
            except (OSError, http.client.HTTPException) as error:
                if self._between_requests(error):
                    return
                self._count(f"client {client}: {error!r}")
                return
            wrong = f"{answer.status} {text!r}" if answer.status != 200 else self.check(request, json.loads(text))
            self._count(wrong)
            if answer.getheader("Connection", "").lower() == "close":
                connection.close()

    def _between_requests(self, error):
        """A server that ends may close a connection just as the next request is on its way: not accepted, so no failure."""
        return isinstance(error, (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError)) and self.ending

    ending = False  # set by a test that stops the server

    def _count(self, wrong):
        with self.lock:
            if wrong:
                self.failures.append(wrong)
            else:
                self.ok += 1

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(timeout=PATIENCE)
