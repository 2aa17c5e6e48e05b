"""The order of an app's versions (``leased_beat_version``): that of the versions of Python packages (PEP 440).

``1.10`` is newer than ``1.9``, ``2.0`` than ``2.0rc1``, and build 412 than 411. ``1.0`` and ``1.0.0`` are one version,
and what follows a ``+`` says how something was built, not which of two is the newer one.
"""

from packaging.version import Version


def read_version(text: str) -> Version | None:
    """Return the place of a version in the order, None for a text that has none, such as a hash."""
    try:
        return Version(Version(text).public)
    except ValueError:  # also of a number with more digits than Python reads
        return None


def is_newer(one: str, other: str) -> bool:
    """Return whether the version ``one`` is newer than ``other``; any version is, than one that has no place."""
    first, second = read_version(one), read_version(other)
    return first is not None and (second is None or first > second)
