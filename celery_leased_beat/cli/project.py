"""The project around an app, for commands that write into it."""

import ast
import importlib
import inspect
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from celery import Celery
from celery.utils.imports import cwd_in_path

from celery_leased_beat.binding import Schedule, registry, schedule_for, settings_for
from celery_leased_beat.binding.served import served
from celery_leased_beat.cli.access import Trouble, import_modules
from celery_leased_beat.generate import Import, Package, Plan

_STANDARD_LIBRARY = sysconfig.get_path("stdlib")


class Project:
    """What an app has, with the modules it includes imported."""

    def __init__(self, app: Celery) -> None:
        self._app = app
        self.load()
        settings = settings_for(app, offline=True)
        self.schedule = schedule_for(app, settings)
        self._entries = served(app, self.schedule, settings).entries.keys()

    def load(self) -> None:
        """Import what the app includes, once more where it was done already: what is new is found then."""
        importlib.invalidate_caches()
        import_modules(self._app)

    @property
    def has_schedule(self) -> bool:
        """Whether there is a Schedule, which could be told to look for modules."""
        return isinstance(self.schedule, Schedule)

    def package(self, name: str) -> Package:
        """Return the package of that dotted name. Raises ``Trouble`` where there is none that can be written into."""
        try:
            with cwd_in_path():
                spec = find_spec(name) if all(map(str.isidentifier, name.split("."))) else None
        except (ImportError, ValueError):  # ValueError: a module that was made by hand
            spec = None
        if spec is None:
            raise Trouble(f"there is no package {name!r} that can be imported here; give its dotted name, such as shop")
        folders = list(spec.submodule_search_locations or ())
        if len(folders) != 1 or not Path(folders[0]).is_dir():
            raise Trouble(f"{name!r} is no package but a module, {spec.origin}; give a package, a folder of modules")
        folder = Path(folders[0])
        if {"site-packages", "dist-packages"} & set(folder.parts) or folder.is_relative_to(_STANDARD_LIBRARY):
            raise Trouble(f"{name!r} is installed, in {folder}; it is edited where its source is")
        return Package(name, folder)

    def events(self) -> Import:
        """Return where the app's ``Events`` are. Raises ``Trouble`` where no module has them."""
        events = registry.events.get(self._app)
        homes = [
            (_imports(module, name), module.__name__, name)
            for module in list(sys.modules.values())
            if isinstance(module, ModuleType) and module.__name__ != "__main__"
            for name, value in list(vars(module).items())
            if events is not None and value is events
        ]
        if not homes:
            raise Trouble("the app has no Events in any module; write, beside the app: events = Events(app)")
        _, module, name = min(homes)
        return Import(module, name)

    def check_free(self, plan: Plan) -> None:
        """Raise ``Trouble`` where the app has what is planned: from other modules, or as no plan can read it."""
        if plan.is_there:
            return
        if plan.entry in self._entries:
            raise Trouble(f"the app has an entry {plan.entry!r} already; take another name")
        if plan.listener in self.listeners_of(plan.event):
            raise Trouble(f"{plan.event} has a listener {plan.listener!r} already; take another name")

    def finds(self, plan: Plan) -> bool:
        """Return whether the app has what is planned, or will have it at its next start."""
        module = sys.modules.get(plan.module)
        if plan.listener:
            return module is not None
        if plan.entry:
            loose = getattr(module, "schedule", None) is self.schedule
            return loose or self.schedule.finds(plan.module) or plan.entry in self.schedule.entries
        return True

    def listeners_of(self, event: str | None) -> set[str]:
        """Return who listens to the event of that name."""
        bound = registry.events.get(self._app)
        return {one.name for one in bound.listeners.of(event)} if bound and event else set()


def _imports(module: ModuleType, name: str) -> bool:
    """Return whether a module has ``name`` from another one."""
    try:
        tree = ast.parse(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return True
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return any(name in (alias.asname, alias.name) for node in imports for alias in node.names)
