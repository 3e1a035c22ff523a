"""What surrounds the server's process: its standard files, its ready file, its limits."""

import json
import os
import pathlib
import resource
import signal
import subprocess

import pytest
import serving


def start(folder, ready, **popen):
    command = [serving.BUILD / "corelane", "serve", serving.PROBES, "--http", "127.0.0.1:0", "--ready-file", ready]
    command += ["--lanes", serving.two_lanes()]
    process = subprocess.Popen([str(part) for part in command], cwd=folder, **popen)
    serving.wait_for(lambda: ready.exists() or process.poll() is not None, "the server's start")
    assert process.poll() is None
    running = serving.Server.__new__(serving.Server)
    running.process, running.http = process, json.loads(ready.read_text())["http"]
    return running


def end(server):
    server.terminate()
    assert server.process.wait(timeout=20) == 0


def test_it_outlives_whoever_read_its_log(tmp_path):
    reading, writing = os.pipe()
    server = start(tmp_path, tmp_path / "ready", stderr=writing, stdout=writing)
    os.close(writing)
    os.close(reading)
    before = server.restarts()
    os.kill(server.workers()[0], signal.SIGKILL)
    serving.wait_for(lambda: server.restarts() > before, "a new worker")
    end(server)


def test_without_standard_files_nothing_else_takes_their_place(tmp_path):
    ready = tmp_path / "ready"

    def close_all():
        for descriptor in (0, 1, 2):
            os.close(descriptor)

    server = start(tmp_path, ready, preexec_fn=close_all)
    for descriptor in (0, 1, 2):
        taken = os.readlink(f"/proc/{server.process.pid}/fd/{descriptor}")
        assert "memfd" not in taken and "socket" not in taken  # a library may have made an eventfd before main
    end(server)


def test_the_ready_file_is_of_this_server_only(tmp_path):
    ready = tmp_path / "ready"
    ready.write_text('{"http": "127.0.0.1:1", "pid": 1}')
    command = [str(serving.BUILD / "corelane"), "serve", str(tmp_path / "nothing"), "--ready-file", str(ready)]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 1
    assert not ready.exists()
    server = start(tmp_path, ready)
    end(server)
    assert not ready.exists()


def test_a_ready_file_never_replaces_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    command = [str(serving.BUILD / "corelane"), "serve", str(serving.PROBES), "--http", "127.0.0.1:0"]
    run = subprocess.run([*command, "--ready-file", str(tmp_path / "fifo")], capture_output=True, text=True, timeout=60)
    assert run.returncode == 2 and "is no regular file" in run.stderr
    assert (tmp_path / "fifo").is_fifo()


def test_it_takes_as_many_descriptors_as_it_may(tmp_path):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 512:
        pytest.skip("the hard limit is too low to tell")
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))  # noqa: E731
    server = start(tmp_path, tmp_path / "ready", preexec_fn=limit)
    limits = pathlib.Path(f"/proc/{server.process.pid}/limits").read_text().splitlines()
    (line,) = [line for line in limits if line.startswith("Max open files")]
    assert int(line.split()[3]) == hard
    end(server)
