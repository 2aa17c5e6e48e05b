"""A time in which the lease's server gives no answer."""

import logging


class Silence:
    """Is told of each call; writes to ``logger`` when a silence begins, with its reason, and when it ends."""

    def __init__(self, logger: logging.Logger, *, begins: str, ends: str) -> None:
        self._logger = logger
        self._begins = begins
        self._ends = ends
        self._lasts = False

    def note(self, error: Exception) -> None:
        """Take in that a call had no answer."""
        if not self._lasts:
            self._logger.warning("%s: %s", self._begins, error)
        self._lasts = True

    def end(self) -> None:
        """Take in that a call was answered."""
        if self._lasts:
            self._logger.warning("%s", self._ends)
        self._lasts = False
