"""A package of the user's: which of its modules take a job, an event, a listener."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from celery_leased_beat.errors import ScheduleError
from celery_leased_beat.generate.files import Change, SourceFile, read_source
from celery_leased_beat.generate.source import Module, bindings

_DOCSTRINGS = {
    "jobs": "When {} does what.",
    "events": "What can happen in {}.",
    "tasks": "What {} does when something happens.",
}


@dataclass(frozen=True, slots=True)
class Home:
    """A module and its file. ``outer`` is the package that has to import it, where it is a part of one."""

    file: SourceFile
    module: Module
    outer: "Home | None" = None

    def changed(self, module: Module, what: str) -> tuple[Change, ...]:
        """Return what is to be written, which may be nothing."""
        return (Change(self.file, module.text, what),) if module.text != self.file.text else ()


@dataclass(frozen=True, slots=True)
class Package:
    """A package by its dotted name, and the folder of its modules."""

    name: str
    folder: Path

    @property
    def label(self) -> str:
        """The last part of its name, with which the names of its jobs and events begin."""
        return self.name.rpartition(".")[2]

    def home(self, related: str, part: str) -> Home:
        """Return where something called ``part`` goes: the module ``related``, or a module of its own in that package.

        It need not exist. Raises ``ScheduleError`` where it cannot be made.
        """
        inside = self.folder / related
        if (inside / "__init__.py").exists():
            outer = self._module(f"{related}/__init__.py", related)
            return self._module(f"{related}/{part}.py", f"{related}.{part}", outer)
        if inside.exists() and not inside.with_suffix(".py").exists():
            raise ScheduleError(f"{_shown(inside)} is a folder without __init__.py; make it a package, or rename it")
        return self._module(f"{related}.py", related)

    def homes(self, related: str) -> Iterator[Home]:
        """Yield all that is there of ``related``: one module, or those of a package."""
        inside = self.folder / related
        if not (inside / "__init__.py").exists():
            if inside.with_suffix(".py").exists():
                yield self._module(f"{related}.py", related)
            return
        for file in sorted(inside.glob("*.py")):
            name = related if file.stem == "__init__" else f"{related}.{file.stem}"
            yield self._module(f"{related}/{file.name}", name)

    @property
    def listeners(self) -> str:
        """The module that takes listeners: ``tasks``, where Celery looks, unless there is one called ``listeners``."""
        found = self.folder / "listeners"
        return "listeners" if found.exists() or found.with_suffix(".py").exists() else "tasks"

    def _module(self, file: str, name: str, outer: Home | None = None) -> Home:
        path = self.folder / file
        source = read_source(path, _shown(path))
        if source.raw is None:
            self._check_not_hidden(name)
        docstring = _DOCSTRINGS.get(name.partition(".")[0], "").format(self.label)
        text = source.text if source.text.strip() else f'"""{docstring}"""\n'
        is_package = path.name == "__init__.py"
        module = Module(f"{self.name}.{name}", source.shown, text, is_package, self._first_party())
        return Home(source, module, outer)

    def _check_not_hidden(self, name: str) -> None:
        """A module that is imported takes the place of what its package has under that name."""
        source = read_source(self.folder / "__init__.py", _shown(self.folder / "__init__.py"))
        for bound, line in bindings(Module(self.name, source.shown, source.text).tree.body):
            if bound == name:
                raise ScheduleError(
                    f"{source.shown} has a {name!r} of its own, in line {line}, which the module {self.name}.{name} "
                    "would take the place of; move it into another module"
                )

    def _first_party(self) -> frozenset[str]:
        root = self.folder.parents[self.name.count(".")]
        return frozenset(one.stem for one in root.iterdir() if one.is_dir() or one.suffix == ".py")


def _shown(path: Path) -> str:
    """Return a path as short as it can be told."""
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
