"""The order of imports, as isort and Ruff have it."""

import ast
import re
import sys
from collections.abc import Sequence
from enum import IntEnum
from itertools import pairwise
from typing import Any

from celery_leased_beat.generate.source import Module, blank_lines

Statement = ast.Import | ast.ImportFrom


class Section(IntEnum):
    """The groups of imports, in their order."""

    FUTURE = 0
    STANDARD = 1
    THIRD_PARTY = 2
    FIRST_PARTY = 3
    LOCAL = 4


def section(module: Module, statement: Statement) -> Section:
    """Return in which group of ``module`` a statement stands."""
    if isinstance(statement, ast.ImportFrom) and statement.level:
        return Section.LOCAL
    top = top_of(_named(statement))
    if top == "__future__":
        return Section.FUTURE
    if top in sys.stdlib_module_names:
        return Section.STANDARD
    return Section.FIRST_PARTY if top in {*module.first_party, top_of(module.name)} else Section.THIRD_PARTY


def sections(module: Module, block: Sequence[Statement]) -> dict[Statement, Section]:
    """Return the group of each statement. Who writes a package together with the project's own takes it for one."""
    runs: list[dict[Statement, Section]] = []
    for previous, node in pairwise([None, *block]):
        if previous is None or blank_lines(module.lines(since=module.after(previous))):
            runs.append({})
        if node is not None:
            runs[-1][node] = section(module, node)
    return {
        node: Section.FIRST_PARTY if group == Section.THIRD_PARTY and Section.FIRST_PARTY in run.values() else group
        for run in runs
        for node, group in run.items()
    }


def statement_key(statement: Statement) -> tuple[Any, ...]:
    """Sort statements of a group: plain imports come first; of relative ones those from farther away."""
    is_from = isinstance(statement, ast.ImportFrom)
    level = statement.level if isinstance(statement, ast.ImportFrom) else 0
    return is_from, -level, _natural(_named(statement)), name_key(statement.names[0].name)


def name_key(name: str) -> tuple[Any, ...]:
    """Sort the names of a statement: constants, then classes, then the rest."""
    kind = 0 if len(name) > 1 and name.isupper() else 1 if name[:1].isupper() else 2
    return kind, _natural(name)


def top_of(name: str) -> str:
    """Return the topmost package in a dotted name."""
    return name.partition(".")[0]


def _named(statement: Statement) -> str:
    return statement.module or "" if isinstance(statement, ast.ImportFrom) else statement.names[0].name


def _natural(name: str) -> list[str | int]:
    return [int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", name.lower())]
