"""Source files: read as Python reads them, and written in one step each."""

import io
import os
import shutil
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path
from uuid import uuid4

from celery_leased_beat.errors import ScheduleError


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file as it was read; ``raw`` is None where there is none. ``shown`` is what messages call it."""

    path: Path
    shown: str
    raw: bytes | None
    encoding: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """A file, what it is to hold now, and what of it is new."""

    file: SourceFile
    text: str
    what: str

    @property
    def is_new(self) -> bool:
        """Whether there was no file."""
        return self.file.raw is None

    def diff(self) -> str:
        """Return the change as a unified diff."""
        old, new = (text.splitlines(keepends=True) for text in (self.file.text, self.text))
        before = "/dev/null" if self.is_new else self.file.shown
        lines = unified_diff(old, new, before, self.file.shown)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def read_source(path: Path, shown: str) -> SourceFile:
    """Read a file of Python in its encoding, with its newlines. Raises ``ScheduleError`` where that cannot be."""
    path = path.resolve()  # behind a link is the file that is to be replaced
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return SourceFile(path, shown, None, "utf-8", "")
    except OSError as error:
        raise ScheduleError(f"{shown} cannot be read: {error.strerror}") from error
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
        return SourceFile(path, shown, raw, encoding, raw.decode(encoding))
    except (SyntaxError, UnicodeDecodeError) as error:
        raise ScheduleError(f"{shown} cannot be read: {error}") from error


def write_changes(changes: Iterable[Change]) -> None:
    """Write all changes, each in one step; none where one of them cannot be prepared.

    Raises ``ScheduleError``, also where a file is no longer what was read.
    """
    ready: list[tuple[Path, Change]] = []
    try:
        for change in changes:
            ready.append((change.file.path.with_name(f".{change.file.path.name}.{uuid4().hex}"), change))
            _prepare(*ready[-1])
        for prepared, change in ready:
            os.replace(prepared, change.file.path)
    except (OSError, UnicodeEncodeError) as error:
        raise ScheduleError(f"{ready[-1][1].file.shown} cannot be written: {error}") from error
    finally:
        for prepared, _ in ready:
            prepared.unlink(missing_ok=True)


def _prepare(prepared: Path, change: Change) -> None:
    path, raw = change.file.path, change.file.raw
    prepared.write_bytes(change.text.encode(change.file.encoding))
    if raw is not None:
        shutil.copymode(path, prepared)
    if (path.read_bytes() if path.exists() else None) != raw:
        raise ScheduleError(f"{change.file.shown} was changed meanwhile; call again")
