"""Makes the artifacts of a model version and describes them: what `corelane compile` runs.

    python -m corelane_tools.compile REQUEST

REQUEST is a JSON object: path, out (an empty folder), engine, precisions, max_batch, inputs, task, pooling.
Progress goes to stderr. One JSON object goes to stdout: the description, or {"error": text}, then with status 1.
"""

import json
import os
import shutil
import sys

from corelane_tools import specs
from corelane_tools.failure import Failure

_PRECISIONS = {"openvino": ("f32", "bf16"), "torch": ("f32", "bf16")}


def progress(text):
    print(text, file=sys.stderr, flush=True)


def _kind(path):
    if os.path.isdir(path):
        return "directory"
    ending = os.path.splitext(path)[1].lower()
    kinds = {".onnx": "onnx", ".xml": "ir", ".pt": "torchscript", ".pth": "torchscript", ".ts": "torchscript"}
    if ending not in kinds:
        raise Failure(f"{path}: neither TorchScript (.pt), ONNX (.onnx), OpenVINO IR (.xml) nor a Hugging Face directory")
    return kinds[ending]


def compile_model(request):
    path, engine, kind = request["path"], request["engine"], _kind(request["path"])
    unknown = [p for p in request["precisions"] if p not in _PRECISIONS[engine]]
    if unknown:
        raise Failure(f"--precision {unknown[0]}: {engine} has {', '.join(_PRECISIONS[engine])} here")
    if engine == "torch" and kind in ("onnx", "ir"):
        raise Failure(f"{path}: --engine torch takes TorchScript (.pt) or a Hugging Face directory, not {kind.upper()}")
    progress(f"reading {path}")
    source = _torch_source(kind, request)
    described = _for_torch(source, request) if engine == "torch" else _for_openvino(kind, source, request)
    if source is not None:
        described["layers"] = source.layers
        described["task"] = request["task"] or source.task
    if kind == "directory":
        _add_companions(request, described)
    return described


def _torch_source(kind, request):
    if kind == "torchscript":
        from corelane_tools import torch_source

        return torch_source.read(request["path"], request)
    if kind == "directory":
        from corelane_tools import hugging_face

        return hugging_face.read(request["path"], request)
    return None


def _described(request, tensors, limits, file, made_by):
    return {
        "inputs": specs.inputs_json(tensors),
        "dimensions": specs.dimensions_json(limits, tensors),
        "precisions": {name: {"engine": request["engine"], "file": file} for name in request["precisions"]},
        "layers": 0,
        "task": request["task"],
        "tokenizer": None,
        "made_by": made_by,
    }


def _size(parameters, flops, tensors, sizes):
    shape = "[" + ",".join(str(n) for n in specs.concrete(tensors[0], sizes)) + "]"
    return {"parameters": parameters[0], "parameter_bytes": parameters[1], "flops": flops, "shape": shape}


def _for_torch(source, request):
    import torch

    from corelane_tools import flops, operators, torch_source

    limits = specs.name_dimensions(source.inputs, request["max_batch"])
    name = "torch " + torch.__version__.split("+")[0]
    described = _described(request, source.inputs, limits, "model.pt", name)
    progress("running it with two sets of sizes")
    described["outputs"] = torch_source.outputs(source, limits)
    nodes = operators.torch_nodes(source.module.inlined_graph)
    # A file that torch has loaded holds no operator that its registry lacks, so all are taken.
    described["coverage"] = operators.cover(nodes, {}, name).json()
    sizes = specs.typical_sizes(limits)
    work = flops.of_torch(source.module, torch_source.example(source, sizes))
    described["size"] = _size(torch_source.parameters(source.module), work, source.inputs, sizes)
    progress("writing model.pt")
    out = os.path.join(request["out"], "model.pt")
    if source.file:
        shutil.copyfile(source.file, out)
    else:
        source.module.save(out)
    return described


def _for_openvino(kind, source, request):
    from corelane_tools import openvino_engine as engine

    path = request["path"]
    if source is not None:
        from corelane_tools import torch_source

        tensors = source.inputs
        limits = specs.name_dimensions(tensors, request["max_batch"])
        progress("converting")
        model, nodes = engine.from_torch(path, source)
        parameters = torch_source.parameters(source.module)
    else:
        model, nodes, parameters = _openvino_file(kind, path)
        tensors = engine.described_inputs(path, model, request)
        limits = specs.name_dimensions(tensors, request["max_batch"])
    engine.reshape(path, model, tensors)
    described = _described(request, tensors, limits, "f32.xml", engine.version())
    described["outputs"] = engine.outputs(path, model, tensors, limits)
    progress("checking that cpu takes every operator")
    described["coverage"] = engine.check_runs(path, model, nodes).json()
    sizes = specs.typical_sizes(limits)
    described["size"] = _size(parameters, engine.flops_at(path, model, tensors, sizes), tensors, sizes)
    progress("writing f32.xml")
    engine.save(model, request["out"])
    return described


def _openvino_file(kind, path):
    from corelane_tools import onnx_source
    from corelane_tools import openvino_engine as engine

    if kind == "onnx":
        source = onnx_source.read(path)
        model, nodes = engine.from_onnx(path, source)
        return model, nodes, onnx_source.parameters(source)
    model, nodes = engine.from_ir(path)
    return model, nodes, engine.parameters(model)


def _add_companions(request, described):
    from corelane_tools import hugging_face, tokenizers_tool

    files = tokenizers_tool.files_of(request["path"])
    if files:
        progress("preparing the tokenizer")
        described["tokenizer"] = tokenizers_tool.prepare(request["path"], files, request["out"])
    names = hugging_face.labels(request["path"])
    if names:
        with open(os.path.join(request["out"], "labels.txt"), "w", encoding="utf-8") as file:
            file.write("".join(name + "\n" for name in names))
        specs.name_labels(described["outputs"], len(names), "labels.txt")


def main(arguments):
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a framework prints must not get between the results
    request = json.loads(arguments[0])
    try:
        if not os.path.exists(request["path"]):
            raise Failure(f"{request['path']}: no such file or folder")
        result, status = compile_model(request), 0
    except Failure as failure:
        result, status = {"error": str(failure)}, 1
    except (OSError, MemoryError) as error:
        result, status = {"error": f"{request['path']}: {error or 'not enough memory'}"}, 1
    json.dump(result, results)
    results.close()
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
