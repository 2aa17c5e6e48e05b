"""Imports: which a module has, and one more put where it belongs."""

import ast
from dataclasses import dataclass
from itertools import takewhile

from celery_leased_beat.errors import DuplicateNameError
from celery_leased_beat.generate.layout import WIDTH, broken, is_text
from celery_leased_beat.generate.order import Statement, name_key, section, sections, statement_key, top_of
from celery_leased_beat.generate.source import Definition, Module, bindings, blank_lines


@dataclass(frozen=True, slots=True)
class Import:
    """What is to be imported: a name from a module, or without one the module. ``module`` is a full dotted name.

    ``exported`` writes ``name as name``: it is there for others, and no linter calls it unused.
    """

    module: str
    name: str | None = None
    exported: bool = False

    @property
    def local(self) -> str:
        """What it is called where it is imported."""
        return self.name or self.module

    @property
    def alias(self) -> str:
        """What stands behind ``import``."""
        return f"{self.local} as {self.local}" if self.exported else self.local


def known_as(module: Module, wanted: Import) -> str | None:
    """Return by which name ``module`` has ``wanted`` imported at its top, None where it has not."""
    for statement in module.tree.body:
        match statement:
            case ast.Import() if wanted.name is None:
                name = wanted.module
            case ast.ImportFrom() if wanted.name is not None and _source(module, statement) == wanted.module:
                name = wanted.name
            case _:
                continue
        for alias in statement.names:
            if alias.name == name:
                return alias.asname or alias.name
    return None


def name_in(module: Module, wanted: Import) -> str | None:
    """Return by which name ``module`` may mean ``wanted``, if only at the end of its full name; None for none."""
    known = known_as(module, wanted)
    if known is None and wanted.local not in dict(bindings(module.tree.body)):
        return wanted.local
    return known


def with_import(module: Module, wanted: Import) -> tuple[Module, str]:
    """Return the module with ``wanted`` imported, and by which name.

    Raises ``DuplicateNameError`` where the module has something else of that name.
    """
    known = known_as(module, wanted)
    if known is not None:
        return module, known
    if wanted.local in dict(bindings(module.tree.body)):
        raise DuplicateNameError(
            f"{module.path} has a {wanted.local!r} of its own, and that of {wanted.module} is to be imported; "
            "rename one of the two"
        )
    merging = _merging(module, wanted)
    changed = _merged(module, merging, wanted.local) if merging else _placed(module, _code(module, wanted))
    return changed, wanted.local


def _source(module: Module, statement: ast.ImportFrom) -> str:
    """Return the full name of what a statement imports from."""
    if not statement.level:
        return statement.module or ""
    base = module.name.split(".")
    kept = base[: len(base) - statement.level + module.package]
    return ".".join([*kept, *filter(None, [statement.module])])


def _code(module: Module, wanted: Import) -> str:
    if wanted.name is None:
        return f"import {wanted.alias}"
    source = _spelled(module, wanted.module)
    line = f"from {source} import {wanted.alias}"
    return line if len(line) <= WIDTH else broken(f"from {source} import ", [wanted.alias])


def _spelled(module: Module, source: str) -> str:
    """Return how ``module`` names another one: from its own package by a dot, unless it writes full names already."""
    own = module.name if module.package else module.name.rpartition(".")[0]
    if not own or not f"{source}.".startswith(f"{own}."):
        return source
    statements = [node for node in module.tree.body if isinstance(node, ast.ImportFrom)]
    full = any(not node.level and top_of(node.module or "") == top_of(module.name) for node in statements)
    if full and not any(node.level for node in statements):
        return source
    return "." + source[len(own) + 1 :]


def _merging(module: Module, wanted: Import) -> ast.ImportFrom | None:
    """Return the statement that takes one more name, if any does: names with ``as`` stand alone."""
    for statement in reversed(module.tree.body):
        if isinstance(statement, ast.ImportFrom) and _source(module, statement) == wanted.module:
            plain = [alias for alias in statement.names if not alias.asname and alias.name != "*"]
            if plain and wanted.name is not None and not wanted.exported:
                return statement
    return None


def _merged(module: Module, statement: ast.ImportFrom, name: str) -> Module:
    """Put ``name`` among those of a statement, in their order."""
    following = next((alias for alias in statement.names if name_key(alias.name) > name_key(name)), None)
    last = statement.names[-1]
    closing = module.text[module.end(last) : module.end(statement)]
    if last.lineno != statement.lineno and ")" in closing:
        return _merged_as_line(module, last, following, name)
    at, text = (module.start(following), f"{name}, ") if following else (module.end(last), f", {name}")
    changed = module.inserted(at, text)
    line = changed.lines(since=module.line(statement.lineno))[0]
    if len(line) <= WIDTH or statement.end_lineno != statement.lineno:
        return changed
    names = sorted([*map(ast.unparse, statement.names), name], key=name_key)
    code = broken(f"from {'.' * statement.level}{statement.module or ''} import ", names)
    return module.replaced(module.start(statement), module.end(statement), code)


def _merged_as_line(module: Module, last: ast.alias, following: ast.alias | None, name: str) -> Module:
    """Put ``name`` among those of a statement in brackets that has a line for each."""
    before = module.before(last)
    indent = module.indent if before.strip() else before
    if following:
        return module.inserted(module.start(following), f"{name},\n{indent}")
    next_line = module.line(last.lineno + 1)
    if module.text[module.end(last) : next_line].lstrip().startswith(","):
        return module.inserted(next_line, f"{indent}{name},\n")
    return module.inserted(module.end(last), f",\n{indent}{name}")


def _placed(module: Module, code: str) -> Module:
    """Put a new statement where it belongs among those at the module's top."""
    (new,) = ast.parse(code).body
    assert isinstance(new, Statement)
    body = module.tree.body[1:] if module.tree.body and is_text(module.tree.body[0]) else module.tree.body
    block = [node for node in takewhile(lambda node: isinstance(node, Statement), body) if isinstance(node, Statement)]
    group, groups = section(module, new), sections(module, block)
    same = [node for node in block if groups[node] == group]
    smaller = [node for node in same if statement_key(node) <= statement_key(new)]
    lower = [node for node in block if groups[node] < group]
    if smaller:
        return module.inserted(module.after(smaller[-1]), f"{code}\n")
    if same:
        return module.inserted(module.above(same[0]), f"{code}\n")
    if lower:
        return _below(module, module.after(lower[-1]), code)
    if block:
        return module.inserted(module.above(block[0]), f"{code}\n\n")
    return _below(module, _head(module), code)


def _below(module: Module, offset: int, code: str) -> Module:
    """Put a statement below what ends at ``offset``, with blank lines around it as formatters want them."""
    following = next((node for node in module.tree.body if module.start(node) >= offset), None)
    wanted = 0 if following is None else 2 if isinstance(following, Definition) else 1
    missing = max(0, wanted - blank_lines(module.lines(since=offset)))
    return module.inserted(offset, "\n" * bool(offset) + f"{code}\n" + "\n" * missing)


def _head(module: Module) -> int:
    """Return where the docstring ends, or else the comments at the top."""
    if module.tree.body and is_text(module.tree.body[0]):
        return module.after(module.tree.body[0])
    comments = takewhile(lambda line: line.startswith("#"), module.lines())
    return module.line(1 + sum(1 for _ in comments))
