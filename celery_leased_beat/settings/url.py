"""URLs of servers: their scheme, and how they are shown."""

import re

_SECRETS = re.compile(r"([?&][^=&]*(?:password|username)=)[^&]*")


def scheme_of(url: str) -> str:
    """Return the scheme of ``url`` (of the first, where several are joined by ``;``), empty where there is none."""
    return url.partition("://")[0] if "://" in url else ""


def safe_url(url: str) -> str:
    """Return ``url`` (or several, joined by ``;``) without user names and passwords."""
    return ";".join(_safe(part) for part in url.split(";"))


def _safe(url: str) -> str:
    scheme, separator, rest = url.rpartition("://")
    address, question, query = rest.partition("?")
    hidden = "***@" if "@" in address else ""
    return scheme + separator + hidden + address.rpartition("@")[2] + _SECRETS.sub(r"\1***", question + query)
