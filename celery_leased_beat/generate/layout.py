"""Code laid out as formatters have it: Black's and Ruff's rules, at their shortest line."""

import ast
from collections.abc import Sequence

from celery_leased_beat.generate.source import Definition, Module, blank_lines

#: What fits here fits wherever more is allowed; and what is broken with a last comma stays so.
WIDTH = 88


def fitted(head: str, arguments: Sequence[str], tail: str = "", *, indent: str = "", step: str = "    ") -> str:
    """Return ``head(arguments)tail`` in one line, or with a line for each argument where it is too long."""
    line = f"{indent}{head}({', '.join(arguments)}){tail}"
    return line if len(line.expandtabs()) <= WIDTH else broken(head, arguments, tail, indent=indent, step=step)


def broken(head: str, arguments: Sequence[str], tail: str = "", *, indent: str = "", step: str = "    ") -> str:
    """Return ``head(arguments)tail`` with a line for each argument."""
    return f"{indent}{head}(\n" + "".join(f"{indent}{step}{one},\n" for one in arguments) + f"{indent}){tail}"


def with_definition(module: Module, code: str, before: ast.stmt | None = None) -> Module:
    """Return the module with a function or a class before a statement, else at the end: two lines blank around it."""
    offset = module.above(before) if before else len(module.text)
    above = blank_lines(reversed(module.lines(until=offset)[:-1]))
    missing = max(0, 2 - above) if module.text[:offset].strip() else 0
    return module.inserted(offset, "\n" * missing + f"{code}\n" + "\n\n" * bool(before))


def with_last_statement(module: Module, code: str) -> Module:
    """Return the module with a statement at its end."""
    last = module.tree.body[-1] if module.tree.body else None
    blank = 2 if isinstance(last, Definition) else 0 if isinstance(last, ast.Expr) and not is_text(last) else 1
    above = blank_lines(reversed(module.lines()[:-1]))
    return module.inserted(len(module.text), "\n" * max(0, blank - above) + f"{code}\n")


def is_text(node: ast.stmt) -> bool:
    """Return whether a statement is nothing but a text, as a docstring is."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
