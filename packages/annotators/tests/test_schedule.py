import pytest

from counterpart_annotators.training.schedule import Schedule, training_options


def test_a_schedule_is_read_from_an_annotator_s_settings():
    assert Schedule.of({"rate": 0.5, "embed": 64}) == Schedule(rate=0.5)


def test_an_annotator_may_have_its_own_defaults():
    options = training_options(epochs=13)
    assert (options["epochs"].default, options["batch"].default) == (13, 128)


def test_an_unknown_default_is_refused():
    with pytest.raises(TypeError, match="speed"):
        training_options(speed=3)


def test_step_divides_the_rate_by_ten():
    schedule = Schedule(rate=1.0, step=15)
    assert [schedule.rate_at(epoch) for epoch in (1, 15, 16, 31)] == pytest.approx([1, 1, 0.1, 0.01])


def test_cosine_falls_to_a_hundredth():
    schedule = Schedule(rate=1.0, decay="cosine", epochs=5)
    assert [schedule.rate_at(epoch) for epoch in (1, 3, 5)] == pytest.approx([1, 0.505, 0.01])


def test_none_stays():
    assert Schedule(rate=0.5, decay="none").rate_at(99) == 0.5
