"""Payloads: what survives the JSON of the broker, and what is said of a payload that does not fit."""

import json
import subprocess
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum, Flag, IntEnum, StrEnum
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from celery_leased_beat.errors import EventError, PayloadError
from celery_leased_beat.events import decode, encode, event


class Color(Enum):
    RED = "red"
    PAIR = (1, 2)
    PRICE = Decimal("1.5")


class Level(IntEnum):
    HIGH = 3


class Size(StrEnum):
    LARGE = "large"


class Access(Flag):
    READ = 1
    WRITE = 2


class Point(NamedTuple):
    x: int
    on: date


class Address(TypedDict):
    city: str
    since: date


FIRST = UUID(int=0)
ORIGIN = Point(0, date(2026, 1, 1))
KEYS = [UUID(int=number) for number in range(50)]


@attrs.frozen
class Line:
    sku: str
    price: Decimal


class Note(pydantic.BaseModel):
    text: str
    at: datetime


@event("shop.everything")
@dataclass(frozen=True)
class Everything:
    value: Any = None
    text: str = ""
    number: int = 0
    real: float = 0.0
    flag: bool = False
    raw: bytes = b""
    at: datetime = datetime(2026, 1, 1, tzinfo=UTC)
    on: date = date(2026, 1, 1)
    clock: time = time(1, 2)
    span: timedelta = timedelta()
    price: Decimal = Decimal(0)
    key: UUID = FIRST
    path: Path = Path("a/b")
    color: Color = Color.RED
    level: Level = Level.HIGH
    size: Size = Size.LARGE
    access: Access = Access.READ
    literal: Literal["a", 1] = "a"
    optional: int | None = None
    either: int | str | None = None
    amount: int | Decimal = 0
    line: Line | None = None
    note: Note | None = None
    nested: "Everything | None" = None
    point: Point = ORIGIN
    address: Address = field(default_factory=lambda: Address(city="Pécs", since=date(2026, 1, 1)))
    items: list[Line] = field(default_factory=list)
    pair: tuple[int, Decimal] = (1, Decimal(2))
    row: tuple[date, ...] = ()
    sequence: Sequence[date] = ()
    queue: deque[int] = field(default_factory=deque)
    unique: set[UUID] = field(default_factory=set)
    frozen: frozenset[date] = frozenset()
    table: dict[str, list[Line]] = field(default_factory=dict)
    by_day: Mapping[date, Line] = field(default_factory=dict)
    by_number: dict[int, str] = field(default_factory=dict)
    by_level: dict[Level, str] = field(default_factory=dict)
    by_color: dict[Color, str] = field(default_factory=dict)


def through_the_broker(event: Any) -> Any:
    return decode(type(event), json.loads(json.dumps(encode(event), allow_nan=False)))


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "é\u2028 🎉 \x00"},
        {"number": 10**30, "real": 1},
        {"real": 0.1, "flag": True},
        {"raw": bytes(range(256))},
        {"at": datetime(2026, 3, 29, 2, 30, 0, 7, tzinfo=UTC)},
        {"at": datetime(2026, 3, 29, 2, 30)},
        {"at": datetime(2026, 3, 29, 2, 30, tzinfo=timezone(timedelta(hours=-3, minutes=-30)))},
        {"clock": time(23, 59, 59, 999999)},
        {"span": timedelta(days=400, microseconds=1)},
        {"span": -timedelta(microseconds=1)},
        {"span": timedelta.max},
        {"price": Decimal("1.10"), "amount": Decimal("2.0")},
        {"price": Decimal("1E-30")},
        {"key": UUID(int=2**128 - 1)},
        {"color": Color.PAIR},
        {"color": Color.PRICE, "level": Level.HIGH, "size": Size.LARGE},
        {"access": Access.READ | Access.WRITE},
        {"literal": 1, "optional": 5, "either": "5"},
        {"either": 5, "amount": 5},
        {"line": Line("a", Decimal("2.50"))},
        {"note": Note(text="x", at=datetime(2026, 1, 1, tzinfo=UTC))},
        {"nested": Everything(items=[Line("b", Decimal(1))])},
        {"point": Point(2, date(2027, 1, 1)), "address": {"city": "Győr", "since": date(2020, 2, 29)}},
        {"items": [Line("a", Decimal(1)), Line("b", Decimal(2))]},
        {"pair": (2, Decimal("0.1")), "row": (date(2026, 1, 1), date(2026, 1, 2)), "sequence": (date(2026, 1, 3),)},
        {"queue": deque([3, 2])},
        {"unique": {UUID(int=1), UUID(int=2)}, "frozen": frozenset({date(2026, 1, 1), date(2026, 1, 2)})},
        {"table": {"a": [Line("a", Decimal(1))], "b": []}},
        {"by_day": {date(2026, 1, 1): Line("a", Decimal(1))}, "by_number": {1: "a", -2: "b"}},
        {"by_level": {Level.HIGH: "x"}, "by_color": {Color.RED: "x"}},
        {"value": {"deep": [1, "a", None, {"b": [True, 1.5]}]}},
    ],
    ids=lambda fields: "-".join(fields),
)
def test_a_value_survives_the_json_of_the_broker(fields: dict[str, Any]) -> None:
    sent = Everything(**fields)
    assert through_the_broker(sent) == sent


@given(
    st.builds(
        Everything,
        text=st.text(st.characters(exclude_categories=["Cs"])),
        real=st.floats(allow_nan=False, allow_infinity=False),
        at=st.datetimes(timezones=st.none() | st.just(UTC)),
        span=st.timedeltas(),
        price=st.decimals(allow_nan=False),
        unique=st.sets(st.uuids()),
        by_number=st.dictionaries(st.integers(), st.text(st.characters(exclude_categories=["Cs"]))),
    )
)
def test_what_is_sent_comes_back(sent: Everything) -> None:
    assert through_the_broker(sent) == sent


def test_a_zone_comes_back_as_its_offset() -> None:
    at = datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Budapest"))
    assert through_the_broker(Everything(at=at)).at == at
    assert encode(Everything(at=at))["at"] == "2026-07-01T12:00:00+02:00"


def test_a_set_is_sent_in_one_order_by_every_replica() -> None:
    payloads = {json.dumps(encode(Everything(unique=set(order)))) for order in (KEYS, KEYS[::-1])}
    assert len(payloads) == 1


def test_a_payload_has_exact_json_types() -> None:
    payload = encode(Everything(size=Size.LARGE, level=Level.HIGH, value=(Size.LARGE, Level.HIGH)))
    assert type(payload["size"]) is str
    assert type(payload["level"]) is int
    assert [type(item) for item in payload["value"]] == [str, int]


@event("shop.placed")
@attrs.define
class Placed:
    order: int
    _secret: str = "s"
    shown: str = attrs.field(init=False, default="derived")


@event("shop.modelled")
class Modelled(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)

    number: int = pydantic.Field(alias="Number")
    at: datetime
    price: Decimal
    tags: set[str] = set()
    by_number: dict[int, Note] = {}

    @pydantic.computed_field
    def double(self) -> int:
        return self.number * 2


def test_an_attrs_class_survives() -> None:
    assert encode(Placed(5, "x")) == {"order": 5, "_secret": "x"}
    assert through_the_broker(Placed(5, "x")) == Placed(5, "x")


def test_a_pydantic_model_survives_by_its_own_rules() -> None:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    sent = Modelled(Number=1, at=at, price=Decimal("1.10"), tags={"a", "b"}, by_number={1: Note(text="x", at=at)})
    assert through_the_broker(sent) == sent


def test_a_payload_of_another_deploy_is_read() -> None:
    assert decode(Placed, {"order": 5, "color": "of a newer deploy"}) == Placed(5)
    assert decode(Everything, {"text": "of an older one"}) == Everything(text="of an older one")


@pytest.mark.parametrize(
    ("payload", "problem"),
    [
        ({"number": "abc"}, "payload.number: a whole number expected, not 'abc'"),
        ({"number": "5"}, "payload.number: a whole number expected, not '5'"),
        ({"number": True}, "payload.number: a whole number expected, not True"),
        ({"number": 1.5}, "payload.number: a whole number expected, not 1.5"),
        ({"number": None}, "payload.number: a whole number expected, not None"),
        ({"text": 5}, "payload.text: text expected, not 5"),
        ({"flag": "yes"}, "payload.flag: true or false expected, not 'yes'"),
        ({"flag": 1}, "payload.flag: true or false expected, not 1"),
        ({"real": "1.5"}, "payload.real: a number expected, not '1.5'"),
        ({"at": "yesterday"}, "payload.at: an ISO 8601 datetime expected, not 'yesterday'"),
        ({"at": 1774762200}, "payload.at: an ISO 8601 datetime expected, not 1774762200"),
        ({"on": "2026-02-30"}, "payload.on: an ISO 8601 date expected, not '2026-02-30'"),
        ({"span": "1h"}, "payload.span: seconds as text expected, not '1h'"),
        ({"price": "much"}, "payload.price: a decimal number as text expected, not 'much'"),
        ({"price": 1.1}, "payload.price: a decimal number as text expected, not 1.1"),
        ({"key": "5"}, "payload.key: a UUID expected, not '5'"),
        ({"raw": "*"}, "payload.raw: base64 text expected, not '*'"),
        ({"color": "blue"}, "payload.color: 'blue' is not a valid Color"),
        ({"level": 9}, "payload.level: one of [3] expected, not 9"),
        ({"literal": "b"}, "b not in literal"),
        ({"optional": "x"}, "payload.optional: a whole number expected, not 'x'"),
        ({"items": "abc"}, "payload.items: an array expected, not 'abc'"),
        ({"items": {"a": 1}}, "payload.items: an array expected, not {'a': 1}"),
        ({"items": [{"sku": "a", "price": "1"}, {"sku": 2}]}, "payload.items[1].sku: text expected, not 2"),
        ({"items": [{"sku": "a"}]}, "payload.items[0].price: is missing and has no default"),
        ({"items": ["sku"]}, "payload.items[0]: an object expected, not 'sku'"),
        ({"pair": [1]}, "payload.pair: an array of 2 expected, not [1]"),
        ({"pair": [1, "x"]}, "payload.pair[1]: a decimal number as text expected, not 'x'"),
        ({"table": []}, "payload.table: an object expected, not []"),
        ({"table": {"a": [5]}}, "payload.table['a'][0]: an object expected, not 5"),
        ({"by_number": {"x": "a"}}, "payload.by_number['x']: a whole number expected, not 'x'"),
        ({"line": {"sku": "a"}}, "payload.line.price: is missing and has no default"),
        ({"nested": {"nested": {"number": "x"}}}, "payload.nested.nested.number: a whole number expected, not 'x'"),
        ({"note": {"text": "x", "at": "never"}}, "payload.note.at: Input should be a valid datetime"),
        ([], "payload: an object expected, not []"),
        (None, "payload: an object expected, not None"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_payload_that_does_not_fit_is_told_by_event_path_and_value(payload: object, problem: str) -> None:
    with pytest.raises(PayloadError) as raised:
        decode(Everything, payload)
    assert "event shop.everything" in str(raised.value)
    assert "Everything: " in str(raised.value)
    assert problem in str(raised.value)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(PayloadError, match=r"payload\.text: .*; payload\.number: "):
        decode(Everything, {"text": 1, "number": "x"})


def test_a_pydantic_payload_that_does_not_fit_is_told_in_the_same_way() -> None:
    note = {"text": "x", "at": 5}
    with pytest.raises(PayloadError) as raised:
        decode(Modelled, {"Number": "x", "at": "2026-01-01T00:00:00Z", "by_number": {"1": {**note, "text": 1}}})
    text = str(raised.value)
    assert "event shop.modelled" in text
    assert "payload.Number: Input should be a valid integer, not 'x'" in text
    assert "payload.price: Field required" in text
    assert "payload.by_number.1.text: Input should be a valid string, not 1" in text


def test_a_class_that_refuses_its_values_is_a_payload_error() -> None:
    @event("shop.checked")
    @dataclass
    class Checked:
        number: int

        def __post_init__(self) -> None:
            if self.number < 0:
                raise ValueError(f"a number below zero: {self.number}")

    with pytest.raises(PayloadError, match="payload: a number below zero: -1"):
        decode(Checked, {"number": -1})


def test_many_problems_do_not_flood_the_error() -> None:
    with pytest.raises(PayloadError, match=r"payload\.items\[9\]: .*; and 990 more") as raised:
        decode(Everything, {"items": [5] * 1000})
    assert "payload.items[10]" not in str(raised.value)


def test_a_long_value_does_not_flood_the_error() -> None:
    with pytest.raises(PayloadError) as raised:
        decode(Everything, {"number": "x" * 100_000})
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"value": object()}, "payload.value: JSON cannot carry <object"),
        ({"value": [{"a": complex(1)}]}, "payload.value[0].a: JSON cannot carry (1+0j) (complex)"),
        ({"value": float("nan")}, "payload.value: JSON cannot carry nan (float)"),
        ({"real": float("inf")}, "payload.real: JSON cannot carry inf (float)"),
        ({"value": {None: 1}}, "payload.value: the key None (NoneType) is neither text nor a number"),
        ({"text": 5}, "payload.text: text expected, not 5"),
        ({"number": "5"}, "payload.number: a whole number expected, not '5'"),
        ({"price": 1.5}, "payload.price: a decimal number as text expected, not 1.5"),
        ({"on": datetime(2026, 1, 1, 5)}, "payload.on: an ISO 8601 date expected"),
        ({"level": 9}, "payload.level: one of [3] expected, not 9"),
    ],
)
def test_an_event_that_could_not_be_read_back_is_refused_where_it_is_sent(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(EventError) as raised:
        encode(Everything(**fields))
    assert "Everything (event shop.everything) cannot be sent" in str(raised.value)
    assert problem in str(raised.value)
    assert not isinstance(raised.value, PayloadError)


def test_a_field_of_a_type_that_no_payload_carries_is_told() -> None:
    @event("shop.odd")
    @dataclass
    class Odd:
        number: complex = 1j

    with pytest.raises(EventError, match="JSON cannot carry 1j"):
        encode(Odd())
    with pytest.raises(PayloadError, match="<class 'complex'> is no type that a payload can carry"):
        decode(Odd, {"number": 1})


def test_a_model_that_is_no_object_is_refused() -> None:
    @event("shop.list")
    class Root(pydantic.RootModel[list[int]]):
        pass

    with pytest.raises(EventError, match=r"payload: an object expected, not \[1\]"):
        encode(Root([1]))


def test_an_event_that_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(EventError, match="RecursionError"):
        encode(Everything(value=value))


def test_the_class_in_the_place_of_an_event_is_told() -> None:
    with pytest.raises(EventError, match=r"the class of event shop\.placed; give one: Placed\(\.\.\.\)"):
        encode(Placed)


def test_events_do_not_import_pydantic() -> None:
    code = (
        "import sys; from dataclasses import dataclass; from celery_leased_beat.events import event, encode, decode\n"
        "E = event('e')(dataclass(type('E', (), {})))\n"
        "assert decode(E, encode(E())) == E()\n"
        "assert 'pydantic' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
