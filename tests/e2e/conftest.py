"""Fixtures of the end-to-end tests."""
import pytest
import serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The probe models on two lanes; stopped by SIGTERM, which must end it with 0."""
    running = serving.Server(tmp_path_factory.mktemp("serve"), serving.PROBES, "--lanes", serving.two_lanes())
    yield running
    running.stop()


@pytest.fixture
def own_server(tmp_path):
    """Starts servers that a test may hurt: own_server(*args, models=FOLDER)."""
    started = []

    def start(*args, models=serving.PROBES, **popen):
        started.append(serving.Server(tmp_path, models, "--lanes", serving.two_lanes(), *args, **popen))
        return started[-1]

    yield start
    for running in started:
        running.stop()
