"""The pytest plugin: the fixture ``leased_beat``.

pytest loads it wherever the package is installed, so until the fixture is asked for nothing else is imported.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from celery_leased_beat.testing import Rehearsals


@pytest.fixture
def leased_beat() -> Iterator["Rehearsals"]:
    """Rehearsals of schedules, without a server: ``leased_beat(app_or_schedule).run("an.entry", at="...")``."""
    from celery_leased_beat.testing import Rehearsals

    with Rehearsals() as rehearsals:
        yield rehearsals
