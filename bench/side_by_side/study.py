"""One experiment of `corelane bench`, as a plan file and its result."""

import json
import pathlib
import shutil
import tempfile

from .processes import log

ATTEMPTS = 4  # at a point, before the machine counts as too busy


def plan_text(name, point):
    grid = {"batch": point["batch"], "concurrency": point["concurrency"]}
    if "target" not in point:  # a server has its own
        grid |= {"precision": "f32", "lanes": point["lanes"]}
    grid |= point.get("sizes", {})
    lines = ["[study]", 'name = "ratio"', f"models = {json.dumps([name])}"]
    lines += [f"target = {json.dumps(point.get('target', 'lanes'))}", "[grid]"]
    lines += [f"{key} = {json.dumps([value])}" for key, value in grid.items()]
    lines += ["[load]", f'warmup = "{point["warmup"]}s"', f'window = "{point["seconds"]}s"', "min_requests = 1"]
    return "\n".join(lines) + "\n"


def run_study(corelane, repository, name, point):
    """The result of a point: batch, concurrency, seconds, warmup, sizes of named dimensions, and lanes or target."""
    with tempfile.TemporaryDirectory(dir=corelane.work) as folder:
        folder = pathlib.Path(folder)
        sizes = dict(point.get("sizes", {}))
        for dimension, size in sizes.items():
            if isinstance(size, pathlib.Path):  # a plan reads files of its own folder only
                sizes[dimension] = pathlib.Path(shutil.copy(size, folder)).name
        point = point | {"sizes": sizes}
        plan = folder / "plan.toml"
        plan.write_text(plan_text(name, point))
        reasons = []
        for _ in range(ATTEMPTS):
            corelane.run("bench", plan, "--models", repository, "--results", folder / "results", "--again", accept=(0, 1))
            (file,) = (folder / "results" / "ratio").glob("*.json")
            result = json.loads(file.read_text())
            if result["valid"]:
                return result
            reasons += result["invalid_because"]
            log(f"  once more: {result['invalid_because'][0]}")
        raise SystemExit(f"ratios: no valid measurement of {name} in {ATTEMPTS} attempts: {'; '.join(reasons)}")
