"""The replicas, as people read them."""

from collections.abc import Sequence

from celery_leased_beat.cli.terminal import new_table, printable, terminal

COLUMNS = ("replica", "lease", "version", "entries", "digest", "")


def show(namespace: str, headline: str, rows: Sequence[Sequence[str]], *, no_color: bool) -> None:
    """Print who holds the lease, and a table with a line per replica."""
    console, plain = terminal(no_color=no_color)
    console.print(f"{namespace}: {printable(headline)}")
    table = new_table(plain=plain)
    for name in COLUMNS:
        table.add_column(name)
    for row in rows:
        table.add_row(*map(printable, row))
    if rows:
        console.print(table)
