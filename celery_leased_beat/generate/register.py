"""One more call on the schedule, where a module has its others: in ``register``, or at the module's top."""

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.generate.imports import Import, with_import
from celery_leased_beat.generate.layout import fitted, is_text, with_definition, with_last_statement
from celery_leased_beat.generate.source import Definition, Module, bindings

_DOCSTRING = '"""Add what this package does to the schedule."""'


@dataclass(frozen=True, slots=True)
class Call:
    """A method of the schedule and its arguments, in Python."""

    method: str
    arguments: Sequence[str]

    def on(self, schedule: str, module: Module, indent: str = "") -> str:
        """Return the call as a statement, without its first line's indent."""
        code = fitted(f"{schedule}.{self.method}", self.arguments, indent=indent, step=module.indent)
        return code.removeprefix(indent)


def find_register(module: Module) -> ast.FunctionDef | None:
    """Return the module's ``register``. Raises ``ScheduleError`` where that is no function that can be extended."""
    for node in reversed(module.tree.body):
        if isinstance(node, ast.FunctionDef) and node.name == "register" and _schedule_of(node):
            return node
    for name, line in bindings(module.tree.body):
        if name == "register":
            raise ScheduleError(
                f"{module.path}, line {line}: register is no plain function that takes the schedule; make it one, "
                "def register(schedule):"
            )
    return None


def loose_schedule(module: Module) -> str | None:
    """Return ``schedule`` where a module without ``register`` has that name at its top, as Flask projects do."""
    if find_register(module):
        return None
    for node in module.tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "celery":
            continue  # a class of Celery's
        if isinstance(node, ast.ImportFrom | ast.Assign) and "schedule" in dict(bindings([node])):
            return "schedule"
    return None


def check_free_in_register(module: Module, name: str) -> None:
    """Raise ``ScheduleError`` where ``name`` means something else inside ``register``."""
    register = find_register(module)
    if register is None:
        taken = {"schedule", "register"}
    else:
        arguments = [node.arg for node in ast.walk(register.args) if isinstance(node, ast.arg)]
        taken = {"register", *arguments, *dict(bindings(register.body))}
    if name in taken:
        raise ScheduleError(f"register in {module.path} has a {name!r} of its own; take another name")


def with_call(module: Module, call: Call) -> Module:
    """Return the module with the call: at the end of ``register``, which is written where there is none."""
    loose = loose_schedule(module)
    if loose:
        return with_last_statement(module, call.on(loose, module))
    register = find_register(module)
    if register:
        return _extended(module, register, call)
    module, schedule = with_import(module, Import("celery_leased_beat", "Schedule"))
    step = module.indent
    body = f"{step}{_DOCSTRING}\n{step}{call.on('schedule', module, step)}"
    return with_definition(module, f"def register(schedule: {schedule}) -> None:\n{body}")


def _extended(module: Module, register: ast.FunctionDef, call: Call) -> Module:
    """Put the call behind the last statement of ``register`` that does not leave it."""
    body, schedule = register.body, _schedule_of(register)
    assert schedule
    first, last, indent = module.start(body[0]), body[-1], module.before(body[0])
    if indent.strip():  # it stands in the line of its def
        gap = len(module.text[:first].rstrip())
        return with_call(module.replaced(gap, first, f"\n{module.indent}"), call)
    code = call.on(schedule, module, indent)
    if _is_placeholder(last) and all(map(is_text, body[:-1])):
        return module.replaced(module.start(last), module.end(last), code)
    staying = body[:-1] if isinstance(last, ast.Return | ast.Raise) else body
    if staying != body and module.before(last).strip():
        return module.inserted(module.start(last), f"{code}; ")
    if not staying:
        return module.inserted(first, f"{code}\n{indent}")
    blank = "\n" * isinstance(staying[-1], Definition)
    return module.inserted(_below_comments(module, staying[-1], indent), f"{blank}{indent}{code}\n")


def _below_comments(module: Module, node: ast.stmt, indent: str) -> int:
    """Return where the line after ``node`` begins, or after the comments that belong to it."""
    number = (node.end_lineno or node.lineno) + 1
    for line in module.lines(since=module.line(number)):
        if not (line.startswith(indent) and line.lstrip().startswith("#")):
            break
        number += 1
    return module.line(number)


def _schedule_of(register: ast.FunctionDef) -> str | None:
    arguments = [*register.args.posonlyargs, *register.args.args]
    return arguments[0].arg if arguments else None


def _is_placeholder(node: ast.stmt) -> bool:
    is_dots = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is Ellipsis
    return is_dots or isinstance(node, ast.Pass)
