"""``tasks`` or ``listeners``: the modules with the listeners, which workers import."""

import ast
from collections.abc import Iterator

from celery_leased_beat.generate.entries import argument, name_of, text_of
from celery_leased_beat.generate.imports import Import, known_as, with_import
from celery_leased_beat.generate.layout import fitted, with_definition
from celery_leased_beat.generate.names import check_not_needed
from celery_leased_beat.generate.source import Definition, Module

_DOCSTRING = '"""Do what follows from ``event``."""'


def has_listener(module: Module, event: Import, name: str) -> bool:
    """Return whether ``module`` has a listener of that name and event."""
    cls = known_as(module, event)
    for call, handler in _listeners(module):
        named = text_of(argument(call, len(call.args), "name")) or handler
        if named == name and name_of(argument(call, 0, "event")) in (cls, event.name):
            return True
    return False


def _listeners(module: Module) -> Iterator[tuple[ast.Call, str | None]]:
    """Yield each call of ``listener`` with the name of the handler: what it decorates, or is handed to its answer."""
    for node in ast.walk(module.tree):
        found: list[tuple[ast.expr, str | None]] = []
        if isinstance(node, Definition):
            found = [(one, node.name) for one in node.decorator_list]
        elif isinstance(node, ast.Call):
            found = [(node.func, name_of(argument(node, 0, "handler")))]
        for one, handler in found:
            if isinstance(one, ast.Call) and name_of(one.func) == "listener":
                yield one, handler


def add_listener(module: Module, event: Import, events: Import, name: str) -> Module:
    """Return the module with the listener ``name`` of ``event``; as it is, where it has that.

    ``events`` are the app's ``Events``. Raises ``DuplicateNameError`` where the name is taken.
    """
    if has_listener(module, event, name):
        return module
    module.check_free(name)
    module, bound = (module, events.local) if events.module == module.name else with_import(module.ended(), events)
    module, cls = with_import(module.ended(), event)
    module, logging = with_import(module, Import("logging"))
    check_not_needed(name, bound, cls, logging)
    step = module.indent
    head = fitted(f"@{bound}.listener", [cls], step=step)
    function = fitted(f"def {name}", [f"event: {cls}"], " -> None:", step=step)
    body = fitted(f"{logging}.getLogger(__name__).info", ['"%r"', "event"], indent=step, step=step)
    return with_definition(module, f"{head}\n{function}\n{step}{_DOCSTRING}\n{body}")
