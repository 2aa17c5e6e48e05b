"""The order of releases, as ``leased_beat_version`` names them: that of the versions of Python packages (PEP 440).

``1.10`` is newer than ``1.9``, ``2.0`` than ``2.0rc1``, and build 412 than 411. ``1.0`` and ``1.0.0`` are one release,
and what follows a ``+`` says how something was built, not which of two is the newer one.
"""

from packaging.version import Version


def read_release(text: str) -> Version | None:
    """Return the place of a release in the order, None for a text that has none, such as a hash."""
    try:
        return Version(Version(text).public)
    except ValueError:  # also of a number with more digits than Python reads
        return None


def is_newer(one: str, other: str) -> bool:
    """Return whether the release ``one`` is newer than ``other``; any release is, than one that has no place."""
    first, second = read_release(one), read_release(other)
    return first is not None and (second is None or first > second)
