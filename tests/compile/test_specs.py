"""How inputs are named and limited, and how an output's shape is told from two runs."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

from corelane_tools import specs  # noqa: E402
from corelane_tools.failure import Failure  # noqa: E402
from corelane_tools.specs import Dim, Tensor  # noqa: E402


def names(tensor):
    return [dim.low if dim.fixed else dim.name for dim in tensor.shape]


def test_dimensions_are_named_by_their_place():
    text = Tensor("ids", "INT64", [Dim(), Dim("", 1, 512)])
    image = Tensor("image", "FP32", [Dim(), Dim("", 3, 3), Dim(), Dim()])
    sound = Tensor("sound", "FP32", [Dim(), Dim()])
    limits = specs.name_dimensions([text, image, sound], 32)
    assert names(text) == ["batch", "tokens"]
    assert names(image) == ["batch", 3, "height", "width"]
    assert names(sound) == ["batch", "sound_1"]
    assert (limits["batch"], limits["tokens"], limits["height"]) == ((1, 32), (1, 512), (1, 0))


def test_a_vector_alone_is_no_batch():
    vector = Tensor("x", "FP32", [Dim()])
    specs.name_dimensions([vector], 32)
    assert names(vector) == ["x_0"]


def test_dimensions_of_one_name_share_the_narrower_limits():
    tensors = [Tensor("a", "INT64", [Dim(), Dim("", 1, 512)]), Tensor("b", "INT64", [Dim("batch", 2, 8), Dim("", 4, 0)])]
    assert specs.name_dimensions(tensors, 32) == {"batch": (2, 8), "tokens": (4, 512)}
    apart = [Tensor("a", "FP32", [Dim("n", 1, 2)]), Tensor("b", "FP32", [Dim("n", 3, 4)])]
    with pytest.raises(Failure, match="'n' is given ranges that do not overlap"):
        specs.name_dimensions(apart, 32)


@pytest.mark.parametrize("turn", [0, 1])
def test_sizes_to_try_stay_inside_the_limits(turn):
    limits = {"batch": (1, 2), "height": (3, 0), "tokens": (2, 5)}
    sizes = specs.sizes_to_try(limits, turn)
    for name, (low, high) in limits.items():
        assert low <= sizes[name] and (high == 0 or sizes[name] <= high)


def test_a_size_of_an_output_is_the_dimension_that_it_changes_with():
    sizes = {"batch": 2, "tokens": 5}, {"batch": 3, "tokens": 6}
    assert specs.output_shape("y", [2, 5, 768], [3, 6, 768], *sizes) == ["batch", "tokens", 768]
    assert specs.output_shape("y", [2, 10], [3, 12], *sizes) == ["batch", "y_1"]
    assert specs.output_shape("y", [None, 2], [None, 2], *sizes) == ["y_0", 2]


def test_only_what_a_mask_covers_is_padded():
    ids, mask = (Tensor(n, "INT64", [Dim("batch", 1, 32), Dim("tokens", 1, 100)]) for n in ("ids", "attention_mask"))
    assert specs.buckets_of("tokens", 100, [ids, mask]) == [16, 32, 48, 64, 96, 100]
    assert specs.buckets_of("tokens", 8, [ids, mask]) == [8]
    assert specs.buckets_of("tokens", 100, [ids]) == []
    assert specs.buckets_of("batch", 32, [ids, mask]) == []
    assert specs.buckets_of("tokens", 0, [ids, mask]) == []


def test_labels_belong_to_outputs_that_end_with_their_number():
    outputs = [{"name": "logits", "shape": ["batch", 3]}, {"name": "hidden", "shape": ["batch", 3, 4]}, {"shape": []}]
    specs.name_labels(outputs, 3, "labels.txt")
    assert [output.get("labels") for output in outputs] == ["labels.txt", None, None]
