"""``events``: the modules with the classes of events."""

import ast
from collections.abc import Iterator

from celery_leased_beat.generate.entries import argument, name_of, text_of
from celery_leased_beat.generate.imports import Import, known_as, with_import
from celery_leased_beat.generate.layout import fitted, with_definition
from celery_leased_beat.generate.source import Module
from celery_leased_beat.generate.when import quoted

_EVENT = Import("celery_leased_beat", "event")
_DOCSTRING = '"""Its fields are what the listeners get: data that JSON can carry."""'


def events_of(module: Module) -> Iterator[tuple[str, str]]:
    """Yield each event's name and the name of its class."""
    decorator = known_as(module, _EVENT) or "event"
    for node in module.tree.body:
        for call in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            if isinstance(call, ast.Call) and name_of(call.func) in (decorator, "event"):
                name = text_of(argument(call, 0, "name"))
                if name is not None and isinstance(node, ast.ClassDef):
                    yield name, node.name


def add_event(module: Module, event: str, cls: str) -> Module:
    """Return the module with the class ``cls`` of ``event``; as it is, where it has a class of that event.

    Raises ``DuplicateNameError`` where the class's name is taken.
    """
    if event in dict(events_of(module)):
        return module
    module.check_free(cls)
    module, dataclass = with_import(module.ended(), Import("dataclasses", "dataclass"))
    module, decorator = with_import(module, _EVENT)
    step = module.indent
    head = fitted(f"@{decorator}", [quoted(event)], step=step)
    return with_definition(module, f"{head}\n@{dataclass}(frozen=True)\nclass {cls}:\n{step}{_DOCSTRING}")
