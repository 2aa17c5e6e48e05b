"""Listeners: kept by event, in the order in which they were written, one of a name."""

from dataclasses import dataclass

import pytest

from celery_leased_beat.errors import DuplicateNameError
from celery_leased_beat.events import Listener, Listeners, event


@event("shop.placed")
@dataclass(frozen=True)
class Placed:
    pass


@event("shop.placed")
@dataclass(frozen=True)
class PlacedElsewhere:
    pass


@event("shop.paid")
@dataclass(frozen=True)
class Paid:
    pass


def listener(name: str, event_class: type = Placed) -> Listener:
    return Listener(name, event_class, lambda event: None)


def test_an_event_has_its_listeners_in_order() -> None:
    listeners = Listeners()
    added = [listener("c"), listener("a"), listener("b")]
    for one in added:
        listeners.add(one)
    listeners.add(listener("a", Paid))
    assert listeners.of("shop.placed") == tuple(added)
    assert [one.task for one in listeners] == [
        "listener:shop.placed:c",
        "listener:shop.placed:a",
        "listener:shop.placed:b",
        "listener:shop.paid:a",
    ]
    assert len(listeners) == 4


def test_an_event_without_listeners_has_none() -> None:
    assert Listeners().of("shop.unheard") == ()


@pytest.mark.parametrize("event_class", [Placed, PlacedElsewhere])
def test_a_second_listener_of_one_name_is_an_error(event_class: type) -> None:
    listeners = Listeners()
    listeners.add(listener("send"))
    with pytest.raises(DuplicateNameError, match=r'event shop\.placed has a listener "send" already.*name="\.\.\."'):
        listeners.add(listener("send", event_class))
    assert len(listeners) == 1
