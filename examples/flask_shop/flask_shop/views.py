"""What the shop shows, and an event that a visitor causes."""

from flask import Blueprint

from flask_shop.background import events
from flask_shop.database import connection
from flask_shop.events import DigestDue

shop = Blueprint("shop", __name__)


@shop.get("/digests")
def digests() -> dict[str, int]:
    """Return how many digests each audience got."""
    rows = connection().execute("SELECT audience, count(*) FROM digest GROUP BY audience")
    return dict(rows.fetchall())


@shop.post("/digests/<audience>")
def send_digest(audience: str) -> tuple[dict[str, str], int]:
    """Send one at once; it goes to the same listeners."""
    return {"envelope": events.dispatch(DigestDue(audience))}, 202
