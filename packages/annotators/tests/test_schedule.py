import pytest

from counterpart_annotators.training.schedule import Schedule


def test_a_schedule_is_read_from_an_annotator_s_settings():
    assert Schedule.of({"rate": 0.5, "embed": 64}) == Schedule(rate=0.5)


def test_step_divides_the_rate_by_ten():
    schedule = Schedule(rate=1.0, step=15, epochs=40)
    assert [schedule.rate_at(epoch) for epoch in (1, 15, 16, 31)] == pytest.approx([1, 1, 0.1, 0.01])


def test_cosine_falls_to_a_hundredth():
    schedule = Schedule(rate=1.0, decay="cosine", epochs=5)
    assert [schedule.rate_at(epoch) for epoch in (1, 3, 5)] == pytest.approx([1, 0.505, 0.01])


def test_a_second_stage_falls_from_its_own_rate_in_the_same_way():
    schedule = Schedule(rate=1.0, decay="cosine", epochs=2, second_stage_epochs=3, second_stage_rate=0.1)
    assert [schedule.rate_at(epoch) for epoch in range(1, 6)] == pytest.approx([1, 0.01, 0.1, 0.0505, 0.001])
