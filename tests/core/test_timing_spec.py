"""What a cron spec may be, what it is refused for, and what its normal form is."""

import pytest

from celery_leased_beat.errors import SpecError
from celery_leased_beat.timing import Cron


@pytest.mark.parametrize(
    ("spec", "normal"),
    [
        ("0 3 * * *", "0 3 * * *"),
        ("  05   03 * * *\t", "5 3 * * *"),
        ("45,0,30,0 3 * * *", "0,30,45 3 * * *"),
        ("*/15 9-17 * * *", "*/15 9-17 * * *"),
        ("0-59 */1 * * *", "* * * * *"),
        ("50/5 0 * * *", "50/5 0 * * *"),
        ("*/60 */24 */31 */12 */7", "*/60 */24 1 1 0"),
        ("0 0 * * 7", "0 0 * * 0"),
        ("0 0 * * SUN", "0 0 * * 0"),
        ("0 0 * * 5-7", "0 0 * * 0,5,6"),
        ("0 0 * * fri-sun", "0 0 * * 0,5,6"),
        ("0 0 * * Sat-Mon", "0 0 * * 0,1,6"),
        ("0 0 * * 7-2", "0 0 * * 0,1,2"),
        ("0 0 * * mon-sun", "0 0 * * *"),
        ("0 0 * * 0-7", "0 0 * * *"),
        ("0 0 * * 7/2", "0 0 * * 0,2,4,6"),
        ("0 0 * * 1-7/2", "0 0 * * 0,1,3,5"),
        ("0 0 * nov-FEB *", "0 0 * 1,2,11,12 *"),
        ("0 0 * oct-mar/2 *", "0 0 * 2,10,12 *"),
        ("0 0 * jan,6 *", "0 0 * 1,6 *"),
        ("0 0 1-1 * *", "0 0 1 * *"),
        ("0 0 * * sun-sun", "0 0 * * 0"),
        ("0 0 1-31 * 1", "0 0 * * *"),
        ("0 0 1 * 0-6", "0 0 * * *"),
        ("0 0 1 * */1", "0 0 * * *"),
        ("0 0 1-31 * *", "0 0 * * *"),
        ("0 0 30,31 2 1", "0 0 * 2 1"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("@monthly", "0 0 1 * *"),
        ("@weekly", "0 0 * * 0"),
        ("@daily", "0 0 * * *"),
        (" @Midnight ", "0 0 * * *"),
        ("@hourly", "0 * * * *"),
    ],
)
def test_a_spec_has_a_normal_form(spec: str, normal: str) -> None:
    assert Cron(spec).key == f"cron {normal}"


def test_how_times_are_written_is_part_of_the_key_since_daylight_saving_asks_for_it() -> None:
    assert Cron("0 */12 * * *").key != Cron("0 0,12 * * *").key


def test_the_zone_is_part_of_the_key() -> None:
    assert Cron("0 3 * * *", "Europe/Budapest").key == "cron 0 3 * * * Europe/Budapest"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("", "0 fields"),
        ("* * * *", "4 fields"),
        ("0 0 3 * * *", "6 fields; a cron spec has exactly five: minute hour day-of-month month day-of-week"),
        ("0 0 3 * * * 2026", "7 fields"),
        ("60 * * * *", "minute '60' is not allowed; it takes a number from 0 to 59"),
        ("0 24 * * *", "hour '24' is not allowed; it takes a number from 0 to 23"),
        ("0 0 0 * *", "day-of-month '0' is not allowed"),
        ("0 0 32 * *", "day-of-month '32' is not allowed"),
        ("0 0 * 0 *", "month '0' is not allowed; it takes a number from 1 to 12 or a name from jan to dec"),
        ("0 0 * 13 *", "month '13' is not allowed"),
        ("0 0 * * 8", "day-of-week '8' is not allowed; it takes a number from 0 to 7 or a name from sun to sat"),
        ("0 0 * * noday", "day-of-week 'noday' is not allowed"),
        ("0 0 * * jan", "day-of-week 'jan' is not allowed"),
        ("jan * * * *", "minute 'jan' is not allowed"),
        ("50-10 * * * *", "minute '50-10' runs backwards; write 50-59,0-10"),
        ("0 22-4 * * *", "hour '22-4' runs backwards; write 22-23,0-4"),
        ("0 0 28-3 * *", "day-of-month '28-3' runs backwards"),
        ("*/0 * * * *", "step of minute '*/0' is out of range; take 1 to 60"),
        ("*/61 * * * *", "step of minute '*/61' is out of range"),
        ("0 */25 * * *", "step of hour"),
        ("0 0 */32 * *", "step of day-of-month"),
        ("0 0 * */13 *", "step of month"),
        ("0 0 * * */8", "step of day-of-week"),
        ("0 0 L * *", "day-of-month 'L' is not allowed"),
        ("0 0 15W * *", "day-of-month '15W' cannot be read"),
        ("0 0 * * 5#2", "day-of-week '5#2' cannot be read"),
        ("0 0 * * L5", "day-of-week 'L5' cannot be read"),
        ("0 0 ? * *", "day-of-month '?' cannot be read"),
        ("R * * * *", "minute 'R' is not allowed"),
        ("H * * * *", "minute 'H' is not allowed"),
        ("H(0-29)/10 * * * *", "cannot be read"),
        ("1, * * * *", "minute '' cannot be read"),
        ("1-2-3 * * * *", "minute '1-2-3' cannot be read"),
        ("*-5 * * * *", "minute '*-5' cannot be read"),
        ("-5 * * * *", "minute '-5' cannot be read"),
        ("5/ * * * *", "minute '5/' cannot be read"),
        ("1.5 * * * *", "minute '1.5' cannot be read"),
        ("٣ * * * *", "minute '٣' cannot be read"),
        ("@reboot", "not a cron descriptor; take one of @yearly"),
        ("@every 5m", "not a cron descriptor"),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(spec: str, words: str) -> None:
    with pytest.raises(SpecError) as raised:
        Cron(spec)
    assert words in str(raised.value)
    assert repr(spec) in str(raised.value)


@pytest.mark.parametrize("spec", [None, 5, ["0 3 * * *"]])
def test_a_spec_is_a_string(spec: object) -> None:
    with pytest.raises(SpecError, match="is a string"):
        Cron(spec)  # type: ignore[arg-type]
