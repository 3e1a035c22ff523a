#!/usr/bin/env python3
"""Which sentences of a file mean nearly the same? Asks a served embedding model, with the v2 protocol's usual client.

    sentences.py --url http://127.0.0.1:8000 --model minilm --tokenizer DIR/tokenizer.json FILE

Each sentence is one request of its own, many at a time; the server batches them.
"""

import argparse
import sys

import numpy as np
import tritonclient.http as v2
from tokenizers import Tokenizer


def request_inputs(encoding, names: list[str]) -> list[v2.InferInput]:
    columns = {
        "input_ids": encoding.ids,
        "attention_mask": encoding.attention_mask,
        "token_type_ids": encoding.type_ids,
    }
    inputs = []
    for name in names:
        values = np.array([columns[name]], dtype=np.int64)
        inputs.append(v2.InferInput(name, list(values.shape), "INT64"))
        inputs[-1].set_data_from_numpy(values, binary_data=True)
    return inputs


def embed(client: v2.InferenceServerClient, model: str, tokenizer: Tokenizer, sentences: list[str]) -> np.ndarray:
    metadata = client.get_model_metadata(model)
    names = [tensor["name"] for tensor in metadata["inputs"]]
    output = metadata["outputs"][0]["name"]
    asked = [client.async_infer(model, request_inputs(tokenizer.encode(text), names)) for text in sentences]
    return np.concatenate([request.get_result().as_numpy(output) for request in asked])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--tokenizer", required=True, help="the tokenizer.json of the model")
    parser.add_argument("file", help="one sentence a line")
    arguments = parser.parse_args()

    with open(arguments.file, encoding="utf-8") as lines:
        sentences = [line.strip() for line in lines if line.strip()]
    if len(sentences) < 2:
        sys.exit(f"{arguments.file}: at least two sentences are needed")
    tokenizer = Tokenizer.from_file(arguments.tokenizer)
    tokenizer.no_padding()
    client = v2.InferenceServerClient(arguments.url.removeprefix("http://"), concurrency=8)
    vectors = embed(client, arguments.model, tokenizer, sentences)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    likeness = vectors @ vectors.T
    np.fill_diagonal(likeness, -1)
    for number, sentence in enumerate(sentences):
        nearest = int(likeness[number].argmax())
        print(f"  {sentence:<58} {likeness[number, nearest]:5.2f}  {sentences[nearest]}")


if __name__ == "__main__":
    main()
