"""One fire, three listeners: a trigger that fails half-way goes on where it stopped."""

import pytest

from tests.processes.stage import Stage


@pytest.mark.stage(entries={"tick": "all"}, fan_out_fault="error")
def test_a_trigger_that_fails_after_the_first_listener_serves_each_once(stage: Stage) -> None:
    assert_one_fan_out_stopped_and_went_on(stage)


@pytest.mark.stage(entries={"tick": "all"}, fan_out_fault="kill")
def test_a_trigger_whose_process_dies_after_the_first_listener_serves_each_once(stage: Stage) -> None:
    assert_one_fan_out_stopped_and_went_on(stage)


def assert_one_fan_out_stopped_and_went_on(stage: Stage) -> None:
    stage.beats(1)
    stage.handled_each(3)
    assert int(stage.sink.client.get("count:refused")) > 1
    # The comparison holds each envelope's id with the fire's, which is the trigger's task id.
    stage.assert_clean()
