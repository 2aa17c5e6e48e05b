"""Where the commands print: to a terminal in colours and lines, to anything else in plain text."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

#: Wide enough for any line: what is no terminal has no width.
ENDLESS = 10_000


def terminal(*, no_color: bool) -> tuple[Console, bool]:
    """Return where to print, and whether that is in plain text."""
    plain = not Console().is_terminal
    width = ENDLESS if plain else None
    return Console(width=width, no_color=no_color or plain, highlight=False, emoji=False, markup=False), plain


def new_table(*, plain: bool) -> Table:
    """Return a table without columns yet."""
    return Table(box=None if plain else SIMPLE_HEAD, pad_edge=False)


def printable(text: str) -> str:
    """Return ``text``, in its Python form where it has what would move a terminal's cursor."""
    return text if text.isprintable() else repr(text)
