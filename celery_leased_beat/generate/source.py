"""A module's source, and where in it things stand. All offsets count characters of the text."""

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from celery_leased_beat.errors import DuplicateNameError, ScheduleError

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_INNER_SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_NEWLINE = re.compile(r"\r\n|\r|\n")  # what Python's parser takes for one, in contrast to str.splitlines


@dataclass(frozen=True, slots=True)
class Module:
    """A module as it is, or as it will be.

    ``name`` is its dotted name, ``path`` what messages call its file, ``package`` whether that is an ``__init__``.
    ``first_party`` are the names of what stands beside its topmost package. Raises ``ScheduleError`` where the text is
    not Python.
    """

    name: str
    path: str
    text: str
    package: bool = False
    first_party: frozenset[str] = frozenset()
    tree: ast.Module = field(init=False, repr=False, compare=False)
    _starts: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "tree", _parsed(self.path, self.text))
        object.__setattr__(self, "_starts", (0, *(newline.end() for newline in _NEWLINE.finditer(self.text))))

    @property
    def newline(self) -> str:
        """What ends the lines of this file."""
        found = _NEWLINE.search(self.text)
        return found[0] if found else "\n"

    @property
    def indent(self) -> str:
        """What one step of indentation is in this file."""
        for node in self.tree.body:
            if isinstance(node, Definition):
                before = self.before(node.body[0])
                if before and not before.strip():
                    return before
        return "    "

    def line(self, number: int) -> int:
        """Return where the line of that number begins, counted from 1; behind the last one, the text's end."""
        return self._starts[number - 1] if number <= len(self._starts) else len(self.text)

    def start(self, node: ast.stmt | ast.expr | ast.alias) -> int:
        """Return where ``node`` begins; a decorated definition begins at its first decorator."""
        if isinstance(node, Definition) and node.decorator_list:
            first = node.decorator_list[0]
            return self.text.rindex("@", 0, self.start(first))
        return self._offset(node.lineno, node.col_offset)

    def before(self, node: ast.stmt | ast.expr | ast.alias) -> str:
        """Return what stands before ``node`` in its line, which may be its indent."""
        return self.lines(until=self.start(node))[-1]

    def end(self, node: ast.stmt | ast.expr | ast.alias) -> int:
        """Return where ``node`` ends."""
        return self._offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def after(self, node: ast.stmt) -> int:
        """Return where the line after ``node`` begins."""
        return self.line((node.end_lineno or node.lineno) + 1)

    def above(self, node: ast.stmt) -> int:
        """Return where the line of ``node`` begins, or the comment right above it, unless that is the file's head."""
        lines = self.lines(until=self.start(node))
        number = len(lines)
        while number > 1 and lines[number - 2].startswith("#"):
            number -= 1
        return self.line(number if number > 1 else len(lines))

    def lines(self, since: int = 0, until: int | None = None) -> list[str]:
        """Return a part of the text as lines, without what ends them; the last one may be cut."""
        return _NEWLINE.split(self.text[since:until])

    def replaced(self, start: int, end: int, text: str) -> "Module":
        """Return the module with other text from ``start`` to ``end``; ``text`` has plain newlines."""
        text = text.replace("\n", self.newline)
        return replace(self, text=self.text[:start] + text + self.text[end:])

    def inserted(self, offset: int, text: str) -> "Module":
        """Return the module with ``text`` inserted."""
        return self.replaced(offset, offset, text)

    def ended(self) -> "Module":
        """Return the module with its last line ended."""
        return self if not self.text or self.text[-1] in "\r\n" else self.inserted(len(self.text), "\n")

    def check_free(self, name: str) -> None:
        """Raise ``DuplicateNameError`` where the module binds ``name``."""
        for bound, line in bindings(self.tree.body):
            if bound == name:
                raise DuplicateNameError(
                    f"{self.path} has a {name!r} already, in line {line}, and nothing is overwritten; take another name"
                )

    def _offset(self, line: int, column: int) -> int:
        """The parser counts columns in bytes of UTF-8."""
        start = self.line(line)
        return start + len(self.text[start : self.line(line + 1)].encode()[:column].decode())


def bindings(body: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    """Yield each name that statements bind, and its line; not what functions and classes bind inside."""
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.alias():
                yield node.asname or node.name.partition(".")[0], node.lineno
            case ast.Name(ctx=ast.Store()):
                yield node.id, node.lineno
        if not isinstance(node, (Definition, *_INNER_SCOPES)):
            waiting += ast.iter_child_nodes(node)


def blank_lines(lines: Iterable[str]) -> int:
    """Return how many of the first lines are blank."""
    return sum(1 for _ in takewhile(lambda line: not line.strip(), lines))


def _parsed(path: str, text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they are about the user's own strings
            return ast.parse(text)
    except SyntaxError as error:
        where = path if error.lineno is None else f"{path}, line {error.lineno}"
        raise ScheduleError(f"{where}: this is not Python: {error.msg}") from error
    except ValueError as error:
        raise ScheduleError(f"{path}: this is not Python: {error}") from error
