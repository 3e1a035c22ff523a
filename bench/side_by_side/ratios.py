"""The ratios: what each compares, its goal, and how it is measured with the two sides alternating in one run."""

from statistics import median

from .corelane import ROOT, usable_cores
from .load import alternate
from .peers import Peer
from .processes import cpu_has_bf16, log

GOALS = {
    "direct-bert": 0.97,
    "direct-resnet": 0.97,
    "http-bert": 0.95,
    "shape-cache": 0.97,
    "seed-f32-fixed": 1.25,
    "seed-bf16-fixed": 2.3,
    "seed-f32-mixed": 3.0,
    "null-triton-c1": 2.0,
    "null-triton-c32": 1.7,
}


class Skipped(Exception):
    """This machine or build cannot measure the ratio; says why."""


def summary(windows):
    """Medians over the windows of one server."""
    keys = {"rps": "per_second", "p50_ms": "p50_ms", "p95_ms": "p95_ms", "p99_ms": "p99_ms"}
    keys["per_cpu_second"] = "per_cpu_second"
    return {name: round(median(w[key] for w in windows), 3) for key, name in keys.items()}


def verdict(name, ratio, ours, theirs, holds=True, why=""):
    outcome = {"name": name, "ratio": round(ratio, 3), "goal": GOALS[name], "met": bool(ratio >= GOALS[name] and holds)}
    if why and not holds:
        outcome["why"] = why
    return outcome | {"corelane": ours, "other": theirs}


def alternating_rates(ours, theirs, rounds):
    """The median ratio of neighbouring windows and each side's median rate; ours and theirs are (name, function).

    Which side goes first changes with each round, so that a machine that gets slower or faster favours neither.
    """
    rates = {name: [] for name, _ in (ours, theirs)}
    for number in range(rounds):
        for name, measure in (theirs, ours) if number % 2 == 0 else (ours, theirs):
            rates[name].append(measure())
            log(f"  {name}: {rates[name][-1]:.2f} items/s")
    mine, other = (rates[name] for name, _ in (ours, theirs))
    ratio = median(a / b for a, b in zip(mine, other, strict=True))
    return ratio, {"per_second": round(median(mine), 3)}, {"per_second": round(median(other), 3)}


def direct(name, run, source, sizes):
    """The lanes directly, one lane on all cores, against the plain OpenVINO loop on as many threads; batch 8.

    Both sides have one request under way: what a batch pays for going through a lane is not hidden behind the next.
    """
    cores = usable_cores()
    point = {"batch": 8, "concurrency": 1, "lanes": "all", "sizes": sizes, "seconds": run.seconds, "warmup": 2}
    arguments = ["--batch", 8, "--tokens", 128, "--threads", cores, "--seconds", run.seconds]
    model = source.stem
    lanes = ("lanes", lambda: run.corelane.lanes_rate(model, source, point))
    loop = ("loop", lambda: run.corelane.loop_rate(model, source, *arguments))
    return verdict(name, *alternating_rates(lanes, loop, run.rounds + 2))


def direct_bert(run):
    run.kit.set_up("models")
    return direct("direct-bert", run, run.kit.work / "models" / "bert.onnx", {run.tokens_name: 128})


def direct_resnet(run):
    run.kit.set_up("models")
    return direct("direct-resnet", run, run.kit.work / "models" / "resnet50.onnx", {})


def http_bert(run):
    """corelane's own client on both sides: 8 requests under way, over HTTP binary and to the lanes themselves."""
    run.kit.set_up("models")
    source = run.kit.work / "models" / "bert.onnx"
    point = {"batch": 1, "concurrency": 8, "sizes": {run.tokens_name: 128}, "seconds": run.seconds, "warmup": 2}
    with run.corelane.serve(run.corelane.model("bert", source), "bert") as server:
        target = {"target": f"http://127.0.0.1:{server.port}"}
        over_http = ("http", lambda: run.corelane.lanes_rate("bert", source, point | target))
        direct = ("lanes", lambda: run.corelane.lanes_rate("bert", source, point | {"lanes": "auto"}))
        return verdict("http-bert", *alternating_rates(over_http, direct, run.rounds + 2))


def shape_cache(run):
    """Mixed lengths, with the bound on what OpenVINO keeps for each shape and with OpenVINO's own; memory beside."""
    run.kit.set_up("models")
    source = run.kit.work / "models" / "bert.onnx"
    lengths = ROOT / "examples" / "lengths.txt"
    point = {"batch": 1, "concurrency": 8, "lanes": "auto", "sizes": {run.tokens_name: lengths}, "warmup": 8}
    point["seconds"] = 2 * run.seconds
    memory = {"bounded": [], "unbounded": []}

    def measure(name, repository):
        result = run.corelane.experiment(repository, "bert", point)
        memory[name].append(result["memory_bytes"] / 1e6)
        return result["items_per_second"]

    bounded = ("bounded", lambda: measure("bounded", run.corelane.model("bert", source)))
    unbounded = ("unbounded", lambda: measure("unbounded", run.corelane.unbounded("bert", source)))
    ratio, mine, other = alternating_rates(bounded, unbounded, run.rounds + 2)
    for side, name in ((mine, "bounded"), (other, "unbounded")):
        side["memory_mb"] = round(median(memory[name]))
    return verdict("shape-cache", ratio, mine, other)


def seed(name, run, precision, lengths):
    """Against FastAPI, Hypercorn and TorchScript with two workers, 8 requests under way, at no worse P95."""
    run.kit.set_up("client", "models", "seedstack")
    repository = run.corelane.model("bert", run.kit.work / "models" / "bert.onnx")
    with (
        Peer(run.kit, "seedstack", ["2"], "/predict") as peer,
        run.corelane.serve(repository, "bert", precision=precision) as ours,
    ):
        sides = [("seedstack", peer, f"plain_{lengths}"), ("corelane", ours, f"v2bin_{lengths}")]
        windows = alternate(run.kit, sides, run.rounds, run.seconds, 8)
    mine, theirs = summary(windows["corelane"]), summary(windows["seedstack"])
    ratio = mine["per_second"] / theirs["per_second"]
    return verdict(name, ratio, mine, theirs, mine["p95_ms"] <= theirs["p95_ms"], "its P95 is worse")


def seed_bf16(run):
    if not cpu_has_bf16():
        raise Skipped("this CPU has no bf16 instructions")
    return seed("seed-bf16-fixed", run, "bf16", "fixed")


def null_triton(name, run, connections):
    """What the server itself costs: identity on FP32 [1,16] over HTTP binary, Triton without a queue delay."""
    run.kit.set_up("client", "triton")
    with (
        Peer(run.kit, "triton", ["direct", "nullcpp0"], "/v2/models/nullcpp0/infer") as peer,
        run.corelane.serve(run.corelane.probe_model("null"), "null") as ours,
    ):
        sides = [("triton", peer, "null_v2bin"), ("corelane", ours, "null_v2bin")]
        windows = alternate(run.kit, sides, run.rounds + 2, min(run.seconds, 4), connections)
    mine, theirs = summary(windows["corelane"]), summary(windows["triton"])
    return verdict(name, mine["per_second"] / theirs["per_second"], mine, theirs)


MEASURES = {
    "direct-bert": direct_bert,
    "direct-resnet": direct_resnet,
    "http-bert": http_bert,
    "shape-cache": shape_cache,
    "seed-f32-fixed": lambda run: seed("seed-f32-fixed", run, "f32", "fixed"),
    "seed-bf16-fixed": seed_bf16,
    "seed-f32-mixed": lambda run: seed("seed-f32-mixed", run, "f32", "mixed"),
    "null-triton-c1": lambda run: null_triton("null-triton-c1", run, 1),
    "null-triton-c32": lambda run: null_triton("null-triton-c32", run, 32),
}
