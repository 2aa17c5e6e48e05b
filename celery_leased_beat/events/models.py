"""Pydantic models, which bring their own way to JSON and back. It is the user's class that imports pydantic, not we."""

import json
import sys
from collections.abc import Iterator, Mapping
from typing import Any


def is_model(cls: object) -> bool:
    """Return whether ``cls`` is a pydantic model (of pydantic 2)."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(cls, type) and issubclass(cls, pydantic.BaseModel)


def is_model_error(error: Exception) -> bool:
    """Return whether ``error`` is what a pydantic model raises for values that do not fit it."""
    pydantic = sys.modules.get("pydantic")
    return pydantic is not None and isinstance(error, pydantic.ValidationError)


def dump(model: Any) -> Any:
    """Return the JSON-ready form of a model, under the names by which the model reads it back."""
    return model.model_dump(mode="json", by_alias=True, round_trip=True)


def load(payload: Mapping[str, Any], cls: Any) -> Any:
    """Return the model of ``payload``, read by the rules of JSON. Raises pydantic's ``ValidationError``."""
    return cls.model_validate_json(json.dumps(payload))


def model_problems(error: Any) -> Iterator[tuple[str, str]]:
    """Return (path, problem) of each fault in a pydantic ``ValidationError``."""
    for fault in error.errors(include_url=False):
        path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in fault["loc"])
        yield path, fault["msg"] if fault["type"] == "missing" else f"{fault['msg']}, not {fault['input']!r}"
