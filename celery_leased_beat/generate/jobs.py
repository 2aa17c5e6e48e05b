"""``jobs``: the modules with ``register(schedule)``."""

from celery_leased_beat.generate.entries import argument, calls, has_event_entry, has_job, name_of, text_of
from celery_leased_beat.generate.imports import Import, name_in, with_import
from celery_leased_beat.generate.layout import fitted, with_definition
from celery_leased_beat.generate.names import check_not_needed
from celery_leased_beat.generate.register import (
    Call,
    check_free_in_register,
    find_register,
    loose_schedule,
    with_call,
)
from celery_leased_beat.generate.source import Module
from celery_leased_beat.generate.when import When, quoted

_DOCSTRING = '"""Do what is due at ``fire.instant``."""'


def add_job(module: Module, job: str, function: str, when: When) -> Module:
    """Return the module with a handler and the entry ``job`` that runs it; as it is, where it has that entry.

    Raises ``DuplicateNameError`` where the function's name is taken, or the job is due at other times.
    """
    if has_job(module, job, when):
        return module
    module.check_free(function)
    check_free_in_register(module, function)
    module, fire = with_import(module.ended(), Import("celery_leased_beat", "Fire"))
    module, logging = with_import(module, Import("logging"))
    check_not_needed(function, logging)
    code = _handler(module, function, fire, logging)
    loose, spec = loose_schedule(module), [quoted(job), when.for_job]
    if loose:
        decorator = Call("job", spec).on(f"@{loose}", module)
        return with_definition(module, f"{decorator}\n{code}")
    return with_call(with_definition(module, code, find_register(module)), Call("job", [*spec, function]))


def add_event_entry(module: Module, event: Import, when: When) -> Module:
    """Return the module with an entry that dispatches ``event``; as it is, where it has that entry.

    Raises ``DuplicateNameError`` where it is due at other times.
    """
    known = name_in(module, event)
    if known is not None and has_event_entry(module, known, when):
        return module
    check_free_in_register(module, known or event.local)
    module, cls = with_import(module.ended(), event)
    return with_call(module, Call(when.method, [when.for_event, f"{cls}()"]))


def add_inclusion(module: Module, part: str) -> Module:
    """Return the module, which is a package, with the module ``part`` of it included; as it is, where it is that."""
    for call in calls(module, "include"):
        included = argument(call, 0, "module")
        if name_of(included) == part or text_of(included) == f"{module.name}.{part}":
            return module
    check_free_in_register(module, part)
    module, name = with_import(module.ended(), Import(module.name, part))
    return with_call(module, Call("include", [name]))


def _handler(module: Module, function: str, fire: str, logging: str) -> str:
    step = module.indent
    head = fitted(f"def {function}", [f"fire: {fire}"], " -> None:", step=step)
    arguments = ['"%s is due at %s"', "fire.entry", "fire.instant"]
    body = fitted(f"{logging}.getLogger(__name__).info", arguments, indent=step, step=step)
    return f"{head}\n{step}{_DOCSTRING}\n{body}"
