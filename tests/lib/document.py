"""docs/openapi.yaml as tests read it: its operations, and the schema that each answer must fit."""

from dataclasses import dataclass, field

import yaml

from lib.project import ROOT

DOCUMENT = yaml.safe_load((ROOT / "docs" / "openapi.yaml").read_text())
METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True)
class Operation:
    """One method of one path."""
    method: str
    path: str
    parameters: list = field(hash=False)  # resolved, those of the path included
    body: dict = field(hash=False)        # the schema of a JSON body, None where there is none
    responses: dict = field(hash=False)
    security: list = field(hash=False)


def resolve(node):
    while "$ref" in node:
        found = DOCUMENT
        for part in node["$ref"].removeprefix("#/").split("/"):
            found = found[part.replace("~1", "/").replace("~0", "~")]
        node = found
    return node


def operations():
    """All of them, in the document's order."""
    found = []
    for path, item in DOCUMENT["paths"].items():
        for method in METHODS:
            if method not in item:
                continue
            operation = item[method]
            parameters = [resolve(one) for one in item.get("parameters", []) + operation.get("parameters", [])]
            content = resolve(operation.get("requestBody", {})).get("content", {})
            body = content.get("application/json", {}).get("schema")
            found.append(Operation(method.upper(), path, parameters, body, operation["responses"], operation.get("security", [])))
    return found


def schema_of(method, path, status):
    """None for an answer without a body. Fails for a status that the document does not name."""
    responses = DOCUMENT["paths"][path][method.lower()]["responses"]
    assert str(status) in responses, f"{method} {path} answers {status}, which the document does not name"
    content = resolve(responses[str(status)]).get("content", {})
    return next(iter(content.values()))["schema"] if content else None


def closed(schema):
    """The schema with every object closed: a field that the document does not name is a fault."""
    schema = resolve(schema)
    closed_schema = dict(schema)
    if "properties" in schema:
        closed_schema["properties"] = {name: closed(part) for name, part in schema["properties"].items()}
        closed_schema.setdefault("additionalProperties", False)
    if isinstance(schema.get("items"), dict):
        closed_schema["items"] = closed(schema["items"])
    for word in ("oneOf", "anyOf"):
        if word in schema:
            closed_schema[word] = [closed(part) for part in schema[word]]
    if "allOf" in schema:
        merged = {"type": "object", "properties": {}, "required": []}
        for part in schema["allOf"]:
            part = resolve(part)
            merged["properties"].update({n: closed(p) for n, p in part.get("properties", {}).items()})
            merged["required"] += part.get("required", [])
        merged["additionalProperties"] = False
        return merged
    return closed_schema
