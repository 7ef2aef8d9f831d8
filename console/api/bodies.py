"""Declared parameters of an act as the body of a call: a JSON schema describes them, ``from_json`` validates them."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from django import forms

from core.errors import CounterpartError
from core.parameters import Declared, Parameters, PathField, values_of
from core.text import NAME_PATTERN, NameField

PYTHON: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
    "boolean": (),
    "null": type(None),
}
"""Types of JSON → those of Python; true and false are not numbers."""
WORDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "array": "a list",
    "object": "an object",
    "boolean": "true or false",
    "null": "null",
}


def schema_of(kind: type[Parameters], *, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the JSON schema of a body with these parameters. Those that are paths on the server are left out."""
    fields = {name: field for name, field in _shown(kind).items() if name not in without}
    defaults = kind.defaults()
    return {
        "title": kind.__name__,
        "type": "object",
        "properties": {name: _property(field, name, defaults) for name, field in fields.items()},
        "required": [name for name in fields if name not in defaults],
        "additionalProperties": False,
    }


def read_body(kind: type[Declared], body: dict[str, Any], known: Mapping[str, Any]) -> Declared:
    """Return the parameters of a body, and of what is ``known`` from the address.

    Raises CounterpartError as ``from_json`` does, for a value of another type (forms would accept the text of a
    number), and for a value that is read as a path: a call must not read files of the server.
    """
    if hidden := sorted((kind.fields().keys() - _shown(kind).keys() | known.keys()) & body.keys()):
        raise CounterpartError(f"Invalid parameter {hidden[0]}: a call cannot set it. Leave it out.")
    described = schema_of(kind)["properties"]
    for name in body.keys() & described.keys():
        if not _fits(body[name], described[name]):
            raise CounterpartError(f"Invalid {name.replace('_', ' ')} {body[name]!r}: send {_kinds(described[name])}.")
    parameters = kind.from_json({**body, **known})
    for name in body:
        if isinstance(getattr(parameters, name), Path):
            raise CounterpartError(f"Invalid {name} {body[name]!r}: a call cannot name a file of the server.")
    return parameters


def _fits(value: Any, described: dict[str, Any]) -> bool:
    """Whether a value has a type that its schema allows, and so have its items."""
    if "anyOf" in described:
        return any(_fits(value, one) for one in described["anyOf"])
    allowed = described["type"] if isinstance(described["type"], list) else [described["type"]]
    if not any(_is_of(value, kind) for kind in allowed):
        return False
    return not isinstance(value, list) or all(_fits(item, described["items"]) for item in value)


def _is_of(value: Any, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    whole = isinstance(value, float) and value.is_integer()
    return isinstance(value, PYTHON[kind]) or (kind == "integer" and whole)


def _kinds(described: dict[str, Any]) -> str:
    if "anyOf" in described:
        return " or ".join(_kinds(one) for one in described["anyOf"])
    allowed = described["type"] if isinstance(described["type"], list) else [described["type"]]
    return " or ".join(WORDS[name] for name in allowed)


def _shown(kind: type[Parameters]) -> dict[str, forms.Field]:
    return {name: field for name, field in kind.fields().items() if not isinstance(field, PathField)}


def _property(field: forms.Field, name: str, defaults: Mapping[str, Any]) -> dict[str, Any]:
    described = {"description": str(field.help_text), **_type(field)}
    if name not in defaults:
        return described
    default = defaults[name]
    if default is None:
        return {"description": described.pop("description"), "anyOf": [described, {"type": "null"}], "default": None}
    return described | {"default": list(default) if isinstance(default, tuple) else _plain(default)}


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool | int | float | str) else str(value)


def _type(field: forms.Field) -> dict[str, Any]:
    """Return the schema of a field's values: the one that it declares, or that of its class."""
    declared: Any = getattr(field, "json_schema", None)
    if declared:
        return dict(declared) | ({"minItems": 1} if field.required and declared["type"] == "array" else {})
    match field:
        case forms.BooleanField():
            return {"type": "boolean"}
        case forms.ChoiceField():
            return {"type": "string", "enum": values_of(field) + ([] if field.required else [""])}
        case forms.DecimalField():
            return {"type": ["number", "string"], "format": "decimal", **_largest(field), **_limits(field)}
        case forms.FloatField():
            return {"type": "number", **_limits(field)}
        case forms.IntegerField():
            return {"type": "integer", **_limits(field)}
        case forms.CharField():
            return _text(field)
    return {"type": "string"}


def _limits(field: forms.IntegerField) -> dict[str, Any]:
    number = float if isinstance(field, forms.FloatField) else int
    limits: dict[str, Any] = {"minimum": field.min_value, "maximum": field.max_value}
    return {name: number(limit) for name, limit in limits.items() if limit is not None}


def _largest(field: forms.DecimalField) -> dict[str, Any]:
    if field.max_digits is None:
        return {}
    return {"maximum": 10 ** (field.max_digits - (field.decimal_places or 0)) - 1}


def _text(field: forms.CharField) -> dict[str, Any]:
    limits: dict[str, Any] = {"minLength": 1} if field.required else {}
    if field.max_length:
        limits["maxLength"] = field.max_length
    if isinstance(field, NameField):
        limits["pattern"] = NAME_PATTERN
    return {"type": "string", **limits}
