"""BERT-base as ./demo makes it: the same answers on every path and precision, and a killed worker that nobody notices."""

import os
import signal
import threading

import numpy as np
import pytest
import serving
import tritonclient.http as v2

pytestmark = pytest.mark.filterwarnings("ignore")
F32, BF16 = 1e-4, 2e-2  # largest difference, as a part of the largest logit
LENGTHS = (8, 128, 23, 41, 41, 77, 16, 64)
LOGITS = ("start_logits", "end_logits")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    made = serving.ROOT / "build" / "demo" / "sources" / "bert-base"
    if (made / "model.safetensors").exists():
        return made
    return serving.demo_source("bert-base", tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def models(source, tmp_path_factory):
    return serving.compiled(source, tmp_path_factory.mktemp("compiled") / "models", "--name", "bert-base")


@pytest.fixture(scope="module")
def texts():
    """Token ids of one row each, of several lengths."""
    random = np.random.default_rng(5)
    return [random.integers(1000, 30000, (1, length), dtype=np.int64) for length in LENGTHS]


@pytest.fixture(scope="module")
def expected(source, texts):
    """Both logits of each text, by transformers in f32."""
    import torch
    from transformers import AutoModelForQuestionAnswering

    model = AutoModelForQuestionAnswering.from_pretrained(source).eval()
    with torch.no_grad():
        answers = [model(input_ids=torch.from_numpy(ids)) for ids in texts]
    return [[getattr(answer, name).numpy() for name in LOGITS] for answer in answers]


def inputs(ids, binary):
    values = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
    tensors = []
    for name, array in values.items():
        tensors.append(v2.InferInput(name, list(array.shape), "INT64"))
        tensors[-1].set_data_from_numpy(array, binary_data=binary)
    return tensors


def distance(answers, expected):
    got = np.concatenate([np.concatenate(pair, axis=1) for pair in answers], axis=1)
    wanted = np.concatenate([np.concatenate(pair, axis=1) for pair in expected], axis=1)
    return float(np.abs(got - wanted).max() / np.abs(wanted).max())


@pytest.mark.parametrize(("precision", "close"), [("f32", F32), ("bf16", BF16)])
def test_logits_are_those_of_transformers_however_they_are_asked_for(own_server, models, texts, expected, precision, close):
    server = own_server("--precision", precision, models=models)
    client = v2.InferenceServerClient(server.http, concurrency=len(texts))
    for binary in (False, True):
        wanted = [v2.InferRequestedOutput(name, binary_data=binary) for name in LOGITS]
        one_by_one = [client.infer("bert-base", inputs(ids, binary), outputs=wanted) for ids in texts]
        together = [client.async_infer("bert-base", inputs(ids, binary), outputs=wanted) for ids in texts]
        for answers in (one_by_one, [request.get_result() for request in together]):
            logits = [[answer.as_numpy(name) for name in LOGITS] for answer in answers]
            assert distance(logits, expected) < close
    client.close()


def test_a_killed_worker_is_replaced_without_a_failed_request(own_server, models, texts):
    server = own_server("--precision", "f32", models=models)
    if len(server.workers()) < 2:
        pytest.skip("needs two lanes")
    ended, failures, answered = threading.Event(), [], []

    def ask():
        client = v2.InferenceServerClient(server.http, network_timeout=serving.PATIENCE)
        while not ended.is_set():
            try:
                answered.append(client.infer("bert-base", inputs(texts[2], True)))
            except Exception as error:  # noqa: BLE001 - whatever it is, it is a failed request
                failures.append(error)

    def wait_for_more(what):
        goal = len(answered) + 10
        serving.wait_for(lambda: len(answered) > goal or failures, what)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    not_ready = []
    for kills in range(1, 4):
        wait_for_more("answers before the kill")
        os.kill(server.workers()[kills % 2], signal.SIGKILL)

        def back(expected=kills):
            if server.get("/v2/models/bert-base/ready")[0] != 200 or server.get("/v2/health/ready")[0] != 200:
                not_ready.append(expected)
            return server.restarts() == expected and server.lanes_up() == 2

        print(f"the worker was back after {serving.wait_for(back, 'the worker'):.2f} s")
    wait_for_more("answers after the kills")
    ended.set()
    for thread in threads:
        thread.join()
    assert not failures and not not_ready
