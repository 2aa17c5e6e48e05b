"""The envelope: it comes back from a message as it went in."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from celery_leased_beat.errors import PayloadError
from celery_leased_beat.events import Envelope

ENVELOPE = Envelope(
    id="3ac14242-a6cb-5fc5-b929-bc653b7883e4",
    name="shop.digest_due",
    payload={"audience": "all", "parts": [1, {"a": None}]},
    occurred_at=datetime(2026, 3, 29, 5, 30, 0, 7000, tzinfo=UTC),
    metadata={"entry": "shop.digest_due"},
)


def test_it_survives_a_message() -> None:
    assert Envelope.from_message(json.loads(json.dumps(ENVELOPE.to_message()))) == ENVELOPE


def test_its_message_is_plain() -> None:
    assert ENVELOPE.to_message() == {
        "id": "3ac14242-a6cb-5fc5-b929-bc653b7883e4",
        "name": "shop.digest_due",
        "payload": {"audience": "all", "parts": [1, {"a": None}]},
        "occurred_at": "2026-03-29T05:30:00.007000+00:00",
        "metadata": {"entry": "shop.digest_due"},
    }


def test_its_time_is_kept_in_utc() -> None:
    written = datetime(2026, 3, 29, 7, 30, tzinfo=timezone(timedelta(hours=2)))
    envelope = Envelope("id", "shop.digest_due", {}, written)
    assert envelope.occurred_at.isoformat() == "2026-03-29T05:30:00+00:00"


def test_a_naive_time_is_refused() -> None:
    with pytest.raises(ValueError, match="an aware datetime"):
        Envelope("id", "shop.digest_due", {}, datetime(2026, 3, 29))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": 5}, "id: text expected, not 5"),
        ({"payload": "x"}, "payload.payload: an object expected, not 'x'"),
        ({"occurred_at": "2026-03-29T05:30:00"}, "an aware datetime expected"),
        ({"occurred_at": None}, "occurred_at: an ISO 8601 datetime expected, not None"),
    ],
)
def test_a_message_that_is_no_envelope_is_told(change: dict[str, object], problem: str) -> None:
    with pytest.raises(PayloadError) as raised:
        Envelope.from_message({**ENVELOPE.to_message(), **change})
    assert "an envelope does not fit" in str(raised.value)
    assert problem in str(raised.value)
