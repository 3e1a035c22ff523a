"""What surrounds the server's process: its standard files, its ready file, its limits."""

import os
import pathlib
import resource
import signal
import subprocess

import pytest
import serving


def test_it_outlives_whoever_read_its_log(own_server):
    reading, writing = os.pipe()
    server = own_server(stderr=writing, stdout=writing)
    os.close(writing)
    os.close(reading)
    before = server.restarts()
    os.kill(server.workers()[0], signal.SIGKILL)
    serving.wait_for(lambda: server.restarts() > before, "a new worker")


def test_without_standard_files_nothing_else_takes_their_place(own_server):
    def close_all():
        for descriptor in (0, 1, 2):
            os.close(descriptor)

    server = own_server(preexec_fn=close_all)
    for descriptor in (0, 1, 2):
        taken = os.readlink(f"/proc/{server.process.pid}/fd/{descriptor}")
        assert "memfd" not in taken and "socket" not in taken  # a library may have made an eventfd before main


def test_the_ready_file_is_of_this_server_only(own_server, tmp_path):
    ready = tmp_path / "ready"
    ready.write_text('{"http": "127.0.0.1:1", "pid": 1}')
    command = [str(serving.BUILD / "corelane"), "serve", str(tmp_path / "nothing"), "--ready-file", str(ready)]
    assert subprocess.run(command, capture_output=True, timeout=60).returncode == 1
    assert not ready.exists()
    server = own_server()
    assert server.ready_file.exists()
    server.stop()
    assert not server.ready_file.exists()


def test_a_ready_file_never_replaces_what_is_no_regular_file(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    command = [str(serving.BUILD / "corelane"), "serve", str(serving.PROBES), "--http", "127.0.0.1:0"]
    run = subprocess.run([*command, "--ready-file", str(tmp_path / "fifo")], capture_output=True, text=True, timeout=60)
    assert run.returncode == 2 and "is no regular file" in run.stderr
    assert (tmp_path / "fifo").is_fifo()


def test_it_takes_as_many_descriptors_as_it_may(own_server):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 512:
        pytest.skip("the hard limit is too low to tell")
    limit = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))  # noqa: E731
    server = own_server(preexec_fn=limit)
    limits = pathlib.Path(f"/proc/{server.process.pid}/limits").read_text().splitlines()
    (line,) = [line for line in limits if line.startswith("Max open files")]
    assert int(line.split()[3]) == hard
