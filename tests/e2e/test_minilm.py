"""MiniLM with its real weights, from the package to the client: the served vectors are those of transformers."""

import numpy as np
import pytest
import serving
import tritonclient.http as v2

pytestmark = pytest.mark.filterwarnings("ignore")
CLOSE = 1e-4


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    """MiniLM as a Hugging Face directory."""
    return serving.demo_source("minilm", tmp_path_factory.mktemp("sources"))


@pytest.fixture(scope="module")
def server(source, tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    models = serving.compiled(source, folder / "models")
    running = serving.Server(folder, models, "--lanes", serving.two_lanes(), "--precision", "f32")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def texts(source):
    """Each sentence's token ids and the vector that transformers gives for it alone, in f32."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    sentences = (serving.ROOT / "examples" / "sentences.txt").read_text(encoding="utf-8").splitlines()
    tokenizer, model = AutoTokenizer.from_pretrained(source), AutoModel.from_pretrained(source).eval()
    known = []
    for sentence in sentences:
        given = tokenizer(sentence, return_tensors="pt")
        with torch.no_grad():
            tokens = model(**given).last_hidden_state[0]
        vector = torch.nn.functional.normalize(tokens.mean(0), dim=0)
        known.append((given["input_ids"][0].numpy(), vector.numpy()))
    assert len(known) >= 200
    return known


def batches(texts, seed):
    """All texts once, in random order, in batches of 1 to 32."""
    random = np.random.default_rng(seed)
    order, start = random.permutation(len(texts)), 0
    while start < len(order):
        size = int(random.integers(1, 33))
        yield [texts[k] for k in order[start : start + size]]
        start += size


def inputs(batch, binary):
    longest = max(len(ids) for ids, _ in batch)
    padded = np.zeros((3, len(batch), longest), dtype=np.int64)  # ids, mask, types
    for row, (ids, _) in enumerate(batch):
        padded[0, row, : len(ids)] = ids
        padded[1, row, : len(ids)] = 1
    tensors = []
    for name, values in zip(("input_ids", "attention_mask", "token_type_ids"), padded, strict=True):
        tensors.append(v2.InferInput(name, list(values.shape), "INT64"))
        tensors[-1].set_data_from_numpy(values, binary_data=binary)
    return tensors


@pytest.mark.parametrize("binary", [False, True], ids=["json", "binary"])
def test_vectors_are_those_of_transformers(server, texts, binary):
    client = v2.InferenceServerClient(server.http, concurrency=4)
    wanted = [v2.InferRequestedOutput("sentence_embedding", binary_data=binary)]
    apart = 0.0
    asked = [(batch, client.async_infer("minilm", inputs(batch, binary), outputs=wanted)) for batch in batches(texts, 7)]
    for batch, request in asked:
        vectors = request.get_result().as_numpy("sentence_embedding")
        assert vectors.shape == (len(batch), 384)
        apart = max(apart, float(np.abs(vectors - np.stack([vector for _, vector in batch])).max()))
    assert apart < CLOSE


def test_single_texts_that_the_server_merges_are_those_of_transformers(server, texts):
    client = v2.InferenceServerClient(server.http, concurrency=16)
    for _ in range(10):  # until requests met while they waited, which the machine's load decides
        # Each four times in a row: texts of one length are what is merged.
        asked = [(vector, client.async_infer("minilm", inputs([(ids, vector)], True))) for ids, vector in texts for _ in range(4)]
        for vector, request in asked:
            np.testing.assert_allclose(request.get_result().as_numpy("sentence_embedding")[0], vector, atol=CLOSE)
        rows = serving_counts(server)
        if rows["runs"] < rows["requests"]:
            break
    assert rows["runs"] < rows["requests"], "the server merged nothing"


def serving_counts(server):
    metrics = server.metrics()
    total = lambda word: sum(value for name, value in metrics.items() if name.startswith(word) and "minilm" in name)  # noqa: E731
    return {"requests": total("corelane_succeeded_requests_total"), "runs": total("corelane_batches_total")}
