from datetime import UTC, datetime, timedelta

import pytest

from counterpart_emulators.faults import FaultPlan, read_fault
from counterpart_emulators.inputs import InputError
from counterpart_emulators.mturk.faults.fault_kinds import KINDS


class Clock:
    """A stopped clock that a test moves."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def move(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def plan(clock) -> FaultPlan:
    return FaultPlan(KINDS, clock)


def happened(plan, calls, operation="GetHIT", *, kind="reset") -> list[int]:
    """Which of this number of calls, counted from 1, met with the fault."""
    return [call for call in range(1, calls + 1) if plan.happening(operation, kind)]


def test_a_fault_without_a_trigger_happens_to_every_call(plan):
    plan.add({"kind": "reset"})
    assert happened(plan, 3) == [1, 2, 3]


def test_a_fault_happens_to_the_nth_call_only(plan):
    plan.add({"kind": "reset", "nth": 2})
    assert happened(plan, 5) == [2]


def test_only_calls_of_its_operation_are_counted(plan):
    plan.add({"kind": "reset", "operation": "GetHIT", "nth": 2})
    assert happened(plan, 3, "ListHITs") == []
    assert happened(plan, 3) == [2]


def test_a_fault_of_any_operation_counts_only_those_it_can_happen_to(plan):
    plan.add({"kind": "flicker", "nth": 1})
    assert happened(plan, 1, "CreateHIT", kind="flicker") == []
    assert happened(plan, 1, "GetHIT", kind="flicker") == [1]


def test_a_fault_happens_the_given_times_and_is_spent(plan):
    plan.add({"kind": "reset", "times": 2})
    assert happened(plan, 5) == [1, 2]
    assert plan.as_json()[0] == {
        **{"kind": "reset", "operation": "*", "seed": 0, "times": 2},
        **{"id": "F1", "met": 5, "happened": 2, "spent": True},
    }


def test_the_same_seed_chooses_the_same_calls(clock):
    chosen = []
    for seed in (7, 7, 8):
        plan = FaultPlan(KINDS, clock)
        plan.add({"kind": "reset", "probability": 0.5, "seed": seed})
        chosen.append(happened(plan, 40))
    assert chosen[0] == chosen[1] != chosen[2]
    assert 5 < len(chosen[0]) < 35


def test_a_token_bucket_refuses_what_comes_faster_than_it_fills(plan, clock):
    plan.add({"kind": "throttle", "rate": 2, "burst": 3})
    assert happened(plan, 5, kind="throttle") == [4, 5]
    clock.move(1)
    assert happened(plan, 5, kind="throttle") == [3, 4, 5]
    clock.move(60)
    assert happened(plan, 5, kind="throttle") == [4, 5]


def test_a_cleared_fault_does_not_happen(plan):
    first = plan.add({"kind": "reset"})
    assert (plan.clear(first), plan.clear(first)) == (True, False)
    assert happened(plan, 1) == []


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"kind": "gremlin"}, "'gremlin'; choose one of: throttle,"),
        ({"kind": []}, "[]"),
        ({"kind": "reset", "seconds": 3}, "A reset fault has no setting 'seconds'; it has: nth, probability"),
        ({"kind": "latency"}, "A latency fault needs seconds: a number of seconds, 0 or more"),
        ({"kind": "lag", "seconds": -1}, "seconds is -1; it must be a number of seconds, 0 or more"),
        ({"kind": "status", "status": 418, "body": "json"}, "status is 418; it must be one of 500, 502"),
        ({"kind": "reset", "nth": True}, "nth is True; it must be 1 or more"),
        ({"kind": "reset", "nth": 1, "probability": 1}, "not both"),
        ({"kind": "reset", "probability": 1.5}, "probability is 1.5; it must be a number from 0 to 1"),
        ({"kind": "throttle", "rate": 2}, "needs both rate and burst"),
        ({"kind": "balance", "amount": 4.2}, 'amount is 4.2; it must be an amount such as "4.20".'),
        ({"kind": "balance", "amount": "1.234"}, "amount is '1.234'"),
        ({"kind": "reset", "operation": ""}, "cannot happen to ''"),
        ({"kind": "reset", "operation": "CreateHit"}, "cannot happen to 'CreateHit'; name \"*\" or one of: Accept"),
        ({"kind": "reissue", "operation": "submit", "to": "same"}, "one of: accept."),
        ({"kind": "reset", "operation": ["GetHIT"]}, "cannot happen to ['GetHIT']"),
    ],
)
def test_a_bad_declaration_is_refused_in_one_line(given, error):
    with pytest.raises(InputError) as refused:
        read_fault(given, KINDS)
    assert error in str(refused.value)
    assert "\n" not in str(refused.value)
