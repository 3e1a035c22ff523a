"""The OpenAPI file is valid, the server serves it, and what it says of each path is what that path does."""
import json
import re

import jsonschema
import pytest
import serving
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate
from serving import tensor

FILE = serving.ROOT / "src" / "serve" / "openapi.json"
DOCUMENT = json.loads(FILE.read_text())
OPERATIONS = [(path, method, what) for path, methods in DOCUMENT["paths"].items() for method, what in methods.items()]
IDS = [what["operationId"] for _, _, what in OPERATIONS]
INFER = json.dumps({"id": "7", "inputs": [tensor([1, 2, 3, 4], shape=[1, 4])]})


def schema(of):
    """The schema with what it refers to, since references are to places in the whole document."""
    return {**of, "components": DOCUMENT["components"]}


def check(of, value):
    OAS31Validator(schema(of)).validate(value)


def resolved(what):
    while "$ref" in what:
        name = what["$ref"].rsplit("/", 1)[1]
        what = DOCUMENT["components"]["responses"][name]
    return what


def call(server, path, method, model="id_b8", version="1"):
    if "/repository/" in path and model == "id_b8":
        model = "reload"  # which nothing else here needs
    concrete = path.replace("{model}", model).replace("{version}", version)
    assert "{" not in concrete
    return server.request(method.upper(), concrete, INFER if path.endswith("/infer") else None)


def test_it_is_valid_and_served_as_it_is(server):
    validate(DOCUMENT)
    status, headers, body = server.get("/v2/openapi.json")
    assert status == 200 and headers["Content-Type"] == "application/json" and body == FILE.read_bytes()


@pytest.mark.parametrize("path,method,what", OPERATIONS, ids=IDS)
def test_each_path_answers_as_it_says(server, path, method, what):
    status, headers, body = call(server, path, method)
    assert status == 200, body
    said = resolved(what["responses"]["200"]).get("content")
    if said is None:
        assert body == b""
        return
    kind = headers["Content-Type"].split(";")[0]
    assert kind in said
    if kind == "application/json":
        check(said[kind]["schema"], json.loads(body))


@pytest.mark.parametrize("path,method,what", [o for o in OPERATIONS if "404" in o[2]["responses"]],
                         ids=[o[2]["operationId"] for o in OPERATIONS if "404" in o[2]["responses"]])
def test_what_is_not_there_is_404(server, path, method, what):
    status, _, body = call(server, path, method, model="nothing")
    assert status == 404
    check(resolved(what["responses"]["404"])["content"]["application/json"]["schema"], json.loads(body))
    status, _, body = call(server, path, method, version="9")
    assert status == (404 if "{version}" in path else 200), body
    if "{version}" in path:
        assert call(server, path, method, version="abc")[0] == 404


@pytest.mark.parametrize("path", DOCUMENT["paths"])
def test_another_method_is_405(server, path):
    status, headers, body = call(server, path, "delete")
    assert status == 405 and headers["Allow"].lower() in DOCUMENT["paths"][path]
    check({"$ref": "#/components/schemas/Error"}, json.loads(body))


def test_every_path_of_the_guide_is_in_it():
    guide = (serving.ROOT / "docs" / "guide" / "serve.md").read_text()
    rows = re.findall(r"^\| `(GET|POST) (/\S+?)`", guide, re.MULTILINE)
    named = {(path, method.lower()) for path, method, _ in OPERATIONS}
    for method, row in rows:
        path = row.replace("/M", "/{model}")
        for whole in {path.replace("[/versions/N]", ""), path.replace("[/versions/N]", "/versions/{version}")}:
            assert (whole, method.lower()) in named, whole
            named.discard((whole, method.lower()))
    assert rows and not named, f"not in the guide: {named}"


def test_the_schema_of_a_request_takes_what_the_server_takes_and_no_more(server):
    of = {"$ref": "#/components/schemas/InferRequest"}
    good = [
        {"inputs": [tensor([1, 2, 3, 4], shape=[1, 4])]},
        {"inputs": [tensor([[1, 2, 3, 4]], shape=[1, 4])], "id": "x", "parameters": {"timeout": 0, "priority": 0}},
        {"inputs": [{**tensor([1, 2, 3, 4], shape=[1, 4]), "parameters": {}}],
         "outputs": [{"name": "OUTPUT0", "parameters": {"classification": 1, "binary_data": False}}]},
    ]
    for request in good:
        check(of, request)
        assert server.request("POST", "/v2/models/id_b8/infer", json.dumps(request))[0] == 200
    whole = tensor([1, 2, 3, 4], shape=[1, 4])
    bad = [
        {},
        {"inputs": [{key: value for key, value in whole.items() if key != "data"}]},
        {"inputs": [{**whole, "parameters": {"binary_data_size": 16}}]},
        {"inputs": [{**whole, "datatype": "float"}]},
        {"inputs": [{**whole, "shape": [1, -4]}]},
        {"inputs": [whole], "id": 7},
        {"inputs": [whole], "more": 1},
        {"inputs": [whole], "parameters": {"priority": 1}},
        {"inputs": [whole], "outputs": [{"name": "OUTPUT0", "parameters": {"classification": 0}}]},
    ]
    for request in bad:
        with pytest.raises(jsonschema.ValidationError):
            check(of, request)
        status, _, body = server.request("POST", "/v2/models/id_b8/infer", json.dumps(request))
        assert status in (400, 501), (request, body)
