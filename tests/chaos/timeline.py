"""What happened, line by line: printed with a failure."""

import time
from collections.abc import Iterator


class Timeline:
    """Lines with their times, from any thread."""

    def __init__(self) -> None:
        self.begun = time.time()
        self._lines: list[tuple[float, str]] = []

    def note(self, text: str) -> None:
        self._lines.append((time.time(), text))

    def lines(self) -> Iterator[str]:
        for at, text in sorted(self._lines):
            clock = time.strftime("%H:%M:%S", time.gmtime(at))
            yield f"{clock}.{at % 1 * 1000:03.0f} {at - self.begun:8.3f} {text}"

    def __str__(self) -> str:
        return "\n".join(self.lines())
