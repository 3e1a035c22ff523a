"""The operators of a model: counted, and cut into the parts that an engine takes."""

from collections import Counter
from dataclasses import dataclass, field


def _words(text):
    return frozenset(text.split())


# Operators that move, shape, choose or make data. All others compute with it: those are arithmetic.
_ONNX_MOVES = _words(
    "Cast CastLike Compress Concat Constant ConstantOfShape DepthToSpace Dropout Expand EyeLike Flatten Gather "
    "GatherElements GatherND Identity If Loop NonZero OneHot Pad Range Reshape Reverse ReverseSequence Scan "
    "Scatter  ScatterElements ScatterND SequenceAt SequenceConstruct Shape Size Slice SpaceToDepth Split "
    "SplitToSequence  Squeeze Tile Transpose Unsqueeze Where Equal Greater Less GreaterOrEqual LessOrEqual And Or "
    "Not Xor"
)
_TORCH_MOVES = _words(
    "alias arange as_strided broadcast_tensors broadcast_to cat chunk clone contiguous copy_ detach dropout "
    "dropout_  embedding empty empty_like eq expand expand_as fill_ flatten flip full full_like gather ge gt "
    "index index_put  index_put_ index_select le lift_fresh logical_and logical_not logical_or lt masked_fill "
    "masked_fill_  masked_select movedim narrow ne new_empty new_full new_ones new_zeros nonzero numel ones "
    "ones_like pad permute  pin_memory repeat repeat_interleave reshape reshape_as roll scatter scatter_ select "
    "size slice split  split_with_sizes squeeze stack swapaxes t tensor tile to transpose tril triu type_as "
    "unbind unflatten unsafe_chunk  unsafe_split unsqueeze view view_as where zeros zeros_like __and__ __or__ "
    "__not__ __getitem__ dim len Bool Float  Int append feature_dropout constant_pad_nd"
)
_OPENVINO_MOVES = _words(
    "BatchToSpace BitwiseAnd BitwiseNot BitwiseOr Broadcast Concat Convert ConvertLike DepthToSpace Equal Gather "
    "GatherElements GatherND Greater GreaterEqual If Less LessEqual LogicalAnd LogicalNot LogicalOr Loop NonZero "
    "NotEqual  OneHot Pad Range Reshape Reverse ReverseSequence ScatterElementsUpdate ScatterNDUpdate "
    "ScatterUpdate Select ShapeOf  Slice SpaceToBatch SpaceToDepth Split Squeeze StridedSlice TensorIterator Tile "
    "Transpose Unsqueeze VariadicSplit"
)
# Nodes of a TorchScript graph that are its plumbing and no operators; data flows through them.
_TORCH_PLUMBING = {"aten::Int", "aten::IntImplicit", "aten::ScalarImplicit", "aten::FloatImplicit"}


@dataclass
class Node:
    kind: str
    inputs: list
    outputs: list
    arithmetic: bool = True
    counted: bool = True  # False: plumbing
    name: str = ""


@dataclass
class Coverage:
    engine: str
    operators: int = 0
    operators_taken: int = 0
    arithmetic: int = 0
    arithmetic_taken: int = 0
    subgraphs: int = 0
    not_taken: Counter = field(default_factory=Counter)

    def json(self):
        listed = [f"{kind} ({n} use{'s' if n > 1 else ''})" for kind, n in self.not_taken.most_common()]
        return {**self.__dict__, "not_taken": listed}


def onnx_nodes(model):
    nodes = []

    def add(graph):
        for node in graph.node:
            kind = f"{node.domain}.{node.op_type}" if node.domain not in ("", "ai.onnx") else node.op_type
            if node.op_type != "Constant":
                name = node.name or (node.output[0] if node.output else "")
                nodes.append(Node(kind, list(node.input), list(node.output), node.op_type not in _ONNX_MOVES, name=name))
            for attribute in node.attribute:
                for inner in [attribute.g] if attribute.HasField("g") else attribute.graphs:
                    add(inner)

    add(model.graph)
    return nodes


def torch_nodes(graph):
    """Nodes of an inlined TorchScript graph, those of its blocks included."""
    nodes = []

    def add(block):
        for node in block.nodes():
            kind = node.kind()
            if kind not in ("prim::Constant", "prim::GetAttr"):
                counted = not kind.startswith("prim::") and kind not in _TORCH_PLUMBING
                namespace, _, short = kind.partition("::")
                moves = namespace == "aten" and short in _TORCH_MOVES
                inputs = [value.debugName() for value in node.inputs()]
                nodes.append(Node(kind, inputs, [value.debugName() for value in node.outputs()], counted and not moves, counted))
            for inner in node.blocks():
                add(inner)

    add(graph)
    return nodes


def openvino_nodes(model):
    nodes = []
    for op in model.get_ordered_ops():
        kind = op.get_type_name()
        if kind not in ("Parameter", "Result", "Constant"):
            inputs = [f"{v.get_source_output().get_node().get_name()}:{v.get_source_output().get_index()}" for v in op.inputs()]
            outputs = [f"{op.get_name()}:{k}" for k in range(op.get_output_size())]
            nodes.append(Node(kind, inputs, outputs, kind not in _OPENVINO_MOVES, name=op.get_friendly_name()))
    return nodes


def cover(nodes, not_taken, engine):
    """Counts what an engine takes.

    `not_taken` is a Counter of uses by kind; where it has fewer uses of a kind than there are nodes, the first ones
    are left out. Subgraphs are the connected groups of taken nodes that can run one after the other: two nodes are in
    one group if they are connected and equally many not-taken operators come before them.
    """
    left = Counter(not_taken)
    result = Coverage(engine)
    taken = []
    for node in nodes:
        out = left[node.kind] > 0
        if out:
            left[node.kind] -= 1
            result.not_taken[node.kind] += 1
        taken.append(not out)
        result.operators += node.counted
        result.operators_taken += node.counted and not out
        result.arithmetic += node.arithmetic
        result.arithmetic_taken += node.arithmetic and not out
    result.subgraphs = _count_groups(nodes, taken)
    return result


def _count_groups(nodes, taken):
    producer = {value: k for k, node in enumerate(nodes) for value in node.outputs}
    stage = [0] * len(nodes)  # not-taken operators before it, on the longest path
    parent = list(range(len(nodes)))

    def root(k):
        while parent[k] != k:
            parent[k] = parent[parent[k]]
            k = parent[k]
        return k

    for k, node in enumerate(nodes):
        before = [producer[value] for value in node.inputs if value in producer and producer[value] < k]
        stage[k] = max((stage[b] + (not taken[b]) for b in before), default=0)
        for b in before:
            if taken[k] and taken[b] and stage[k] == stage[b]:
                parent[root(b)] = root(k)
    return len({root(k) for k, node in enumerate(nodes) if taken[k] and node.counted})
