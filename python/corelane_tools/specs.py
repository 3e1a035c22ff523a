"""Tensors as the manifest describes them: names, element types, sizes and named dimensions."""

from dataclasses import dataclass, field

from corelane_tools.failure import Failure


@dataclass
class Dim:
    """A fixed size where low == high; high == 0: no limit. A name of "" is still to be given."""

    name: str = ""
    low: int = 1
    high: int = 0

    @property
    def fixed(self):
        return self.low == self.high


@dataclass
class Tensor:
    name: str
    dtype: str  # of the v2 protocol: "FP32"
    shape: list = field(default_factory=list)
    pad: float = 0


def tensor_from_json(value):
    dims = []
    for dim in value["shape"]:
        if isinstance(dim, int):
            dims.append(Dim("", dim, dim))
        else:
            dims.append(Dim(dim["name"], dim["min"], dim["max"]))
    return Tensor(value["name"], value["type"], dims)


def is_integer(dtype):
    return "INT" in dtype


def _default_name(tensor, axis, has_batch):
    if axis == 0 and has_batch:
        return "batch"
    if axis == 1 and len(tensor.shape) == 2 and is_integer(tensor.dtype):
        return "tokens"
    if len(tensor.shape) == 4 and axis in (2, 3):
        return ("height", "width")[axis - 2]
    return f"{tensor.name}_{axis}"


def name_dimensions(tensors, max_batch):
    """Names what varies by its position, limits the batch, and makes dimensions of one name agree."""
    has_batch = any(len(t.shape) > 1 and not t.shape[0].fixed and t.shape[0].name in ("", "batch") for t in tensors)
    limits = {}
    for tensor in tensors:
        for axis, dim in enumerate(tensor.shape):
            if dim.fixed:
                continue
            dim.name = dim.name or _default_name(tensor, axis, has_batch)
            if dim.name == "batch" and dim.high == 0:
                dim.high = max(max_batch, dim.low)
            low, high = limits.get(dim.name, (dim.low, dim.high))
            both = [limit for limit in (high, dim.high) if limit > 0]
            limits[dim.name] = (max(low, dim.low), min(both) if both else 0)
    for tensor in tensors:
        for dim in tensor.shape:
            if not dim.fixed:
                dim.low, dim.high = limits[dim.name]
                if 0 < dim.high < dim.low:
                    raise Failure(f"dimension '{dim.name}' is given ranges that do not overlap")
    return limits


def sizes_to_try(limits, turn):
    """A size for each name, different for each name and turn, small, and inside the limits."""
    sizes = {}
    for place, (name, (low, high)) in enumerate(sorted(limits.items())):
        wanted = low + (1 + turn if name == "batch" else 4 + 3 * place + turn)
        sizes[name] = min(wanted, high) if high else wanted
    return sizes


def typical_sizes(limits):
    """The sizes at which the work of one run is stated: one row of 128 tokens or of whatever is possible."""
    sizes = {}
    for name, (low, high) in limits.items():
        wanted = 1 if name == "batch" else 128 if name == "tokens" else 224
        sizes[name] = max(low, min(wanted, high) if high else wanted)
    return sizes


def concrete(tensor, sizes):
    return [dim.low if dim.fixed else sizes[dim.name] for dim in tensor.shape]


def output_shape(name, first, second, sizes_first, sizes_second):
    """What an output's shape is in names, seen from its shapes in two runs of different sizes.

    A size that changes like exactly one dimension is that dimension; one that changes otherwise gets a
    dimension of its own.
    """
    shape = []
    for axis, (a, b) in enumerate(zip(first, second, strict=True)):
        same = [n for n in sizes_first if sizes_first[n] != sizes_second[n] and (sizes_first[n], sizes_second[n]) == (a, b)]
        if a == b and a is not None:
            shape.append(int(a))
        elif same:
            shape.append(same[0])
        else:
            shape.append(f"{name}_{axis}")
    return shape


def buckets_of(name, high, tensors):
    """Sizes to pad to. Only what a mask covers may be padded, since elsewhere padding changes the answer."""
    masked = any("mask" in t.name and any(d.name == name for d in t.shape) for t in tensors)
    if not masked or name == "batch" or high == 0:
        return []
    steps, power = [16], 32
    while power < high:
        steps += [power, power * 3 // 2]
        power *= 2
    return [size for size in steps if size < high] + [high]


def inputs_json(tensors):
    return [
        {
            "name": t.name,
            "type": t.dtype,
            "shape": [d.low if d.fixed else d.name for d in t.shape],
            "pad": t.pad,
        }
        for t in tensors
    ]


def dimensions_json(limits, tensors):
    return {name: {"min": low, "max": high, "buckets": buckets_of(name, high, tensors)} for name, (low, high) in limits.items()}


def name_labels(outputs, count, file):
    """Outputs whose last size is the number of the labels get the file's name."""
    for output in outputs:
        if output["shape"][-1:] == [count]:
            output["labels"] = file
