"""Whether a model's directory holds a tokenizer."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from corelane_tools import tokenizers_tool  # noqa: E402


def test_a_directory_without_words_has_no_tokenizer(tmp_path):
    for name in ("config.json", "tokenizer_config.json", "special_tokens_map.json"):
        (tmp_path / name).write_text("{}")
    assert tokenizers_tool.files_of(tmp_path) == []


def test_a_tokenizer_comes_with_its_settings(tmp_path):
    for name in ("vocab.txt", "tokenizer_config.json", "README.md"):
        (tmp_path / name).write_text("{}")
    assert tokenizers_tool.files_of(tmp_path) == ["tokenizer_config.json", "vocab.txt"]
