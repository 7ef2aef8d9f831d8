from counterpart_annotators.kinds.vlm.service import Pacer


def waits(per_minute: int, starts: int) -> list[float]:
    slept: list[float] = []
    pacer = Pacer(per_minute, clock=lambda: sum(slept), sleep=slept.append)
    for _ in range(starts):
        pacer.wait()
    return slept


def test_requests_start_evenly_spaced():
    assert waits(30, 3) == [2, 2]


def test_who_comes_late_enough_does_not_wait():
    now = iter([0, 0, 0, 10, 10])
    slept: list[float] = []
    pacer = Pacer(60, clock=lambda: next(now), sleep=slept.append)
    pacer.wait()
    pacer.wait()
    assert slept == []
