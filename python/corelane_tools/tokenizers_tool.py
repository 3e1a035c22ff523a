"""A Hugging Face tokenizer: copied beside the model, and converted to an OpenVINO model where that is possible."""

import json
import os
import shutil

from corelane_tools.failure import reason

_FILES = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
    "tokenizer.model",
    "sentencepiece.bpe.model",
    "spiece.model",
    "added_tokens.json",
)


def files_of(source):
    """The names of the tokenizer's files in a directory; none where only settings of a tokenizer are there."""
    names = [name for name in _FILES if os.path.exists(os.path.join(source, name))]
    return names if set(names) - {"tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"} else []


def prepare(source, names, out):
    """Takes the files `names` of files_of(source). Returns {"kind", "tokens", "converted", "why_not"}."""
    folder = os.path.join(out, "tokenizer")
    os.makedirs(folder)
    for name in names:
        shutil.copyfile(os.path.join(source, name), os.path.join(folder, name))
    shutil.copyfile(os.path.join(source, "config.json"), os.path.join(folder, "config.json"))
    found = {"kind": _kind(folder), "tokens": 0, "converted": False, "why_not": ""}
    try:
        import openvino
        import openvino_tokenizers
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        found["tokens"] = len(tokenizer)
        model = openvino_tokenizers.convert_tokenizer(tokenizer)
        openvino.save_model(model, os.path.join(out, "tokenizer.xml"))
        found["converted"] = True
    except Exception as error:  # every kind of tokenizer fails in its own way; the model is good without
        found["why_not"] = reason(error)
    return found


def _kind(folder):
    file = os.path.join(folder, "tokenizer.json")
    if os.path.exists(file):
        with open(file, encoding="utf-8") as text:
            return json.load(text).get("model", {}).get("type") or "tokenizer"
    return "WordPiece" if os.path.exists(os.path.join(folder, "vocab.txt")) else "SentencePiece"
