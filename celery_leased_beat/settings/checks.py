"""The names that a user gives, and the one switch. Each check raises ``SettingsError``."""

import re
from datetime import tzinfo

from celery_leased_beat.errors import SettingsError, SpecError
from celery_leased_beat.settings.sources import Found
from celery_leased_beat.timing import to_zone
from celery_leased_beat.versions import read_version

#: The namespace stands between braces in every key, where a brace would split what a cluster must keep together.
_NAMESPACE = re.compile(r"[^\s{}\x00-\x1f\x7f\ud800-\udfff]{1,200}")
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*[.:][^\W\d]\w*")


def namespace(found: Found | None, app_name: str | None) -> str:
    """Return what is set, else the app's name."""
    if found is None:
        # __main__ is any script: two of them would share one lease.
        if not app_name or app_name == "__main__":
            raise SettingsError(
                f"leased_beat_namespace is not set, and the Celery app's name is {app_name!r}: name the app, as in"
                ' Celery("shop"), or set leased_beat_namespace, so that two apps on one server do not share a lease'
            )
        found = Found(app_name, "leased_beat_namespace (the Celery app's name)")
    if not isinstance(found.value, str) or not _NAMESPACE.fullmatch(found.value):
        raise found.error("1 to 200 characters are wanted, without spaces, braces and control characters")
    return found.value


def zone(found: Found) -> tzinfo:
    """Return the zone of that name, or the zone itself."""
    try:
        return to_zone(found.value)
    except SpecError as error:
        raise found.error('the name of a time zone is wanted, such as "Europe/Budapest"') from error


def schedule_path(found: Found | None) -> str | None:
    """Return the dotted path, None where there is none. Nothing is imported yet."""
    if found is None:
        return None
    if not isinstance(found.value, str) or not _DOTTED.fullmatch(found.value):
        raise found.error('the dotted path of a Schedule is wanted, such as "shop.jobs.schedule"')
    return found.value


def in_worker(found: Found | None) -> bool:
    """Return the switch, which is off by default."""
    if found is not None and not isinstance(found.value, bool):
        raise found.error("True or False is wanted")
    return found is not None and bool(found.value)


def version(found: Found | None) -> str | None:
    """Return the version of the app as text, None where there is none."""
    if found is None:
        return None
    text = str(found.value).strip() if isinstance(found.value, str | int) else ""  # the float 1.10 would be 1.1
    if read_version(text) is None:
        raise found.error('a version that can be newer than another is wanted, such as "1.4.2", or a build\'s number')
    return text
