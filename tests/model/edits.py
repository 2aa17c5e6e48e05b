"""A guard removed: one text of the production code becomes another, and is there exactly once."""

import inspect
import textwrap
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pydoc import locate
from typing import Any

import pytest


@dataclass(frozen=True)
class Edit:
    """In ``where``, a script (``claim.lua``) or a function (``publisher.Publisher._send``)."""

    where: str
    old: str
    new: str

    @property
    def is_of_script(self) -> bool:
        return self.where.endswith(".lua")

    def apply(self, source: str) -> str:
        found = source.count(self.old)
        assert found == 1, f"{self.where} has this text {found} times: {self.old!r}"
        return source.replace(self.old, self.new)


def edited(name: str, source: str, edits: Iterable[Edit]) -> str:
    """Return the source of the script ``name`` with those edits that are of it."""
    for edit in edits:
        if edit.where == f"{name}.lua":
            source = edit.apply(source)
    return source


@contextmanager
def functions_edited(edits: Iterable[Edit]) -> Iterator[None]:
    """Put edited functions in the places of those of production."""
    with pytest.MonkeyPatch.context() as patch:
        for edit in edits:
            if not edit.is_of_script:
                owner, _, name = f"celery_leased_beat.{edit.where}".rpartition(".")
                function = locate(f"{owner}.{name}")
                assert function is not None, f"there is no {edit.where} any more"
                patch.setattr(locate(owner), name, _compiled(function, edit))
        yield


def _compiled(function: Any, edit: Edit) -> Any:
    source = edit.apply(textwrap.dedent(inspect.getsource(function)))
    names: dict[str, Any] = {}
    exec(compile(source, edit.where, "exec"), function.__globals__, names)
    return names[function.__name__]
