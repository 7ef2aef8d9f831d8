from datetime import timedelta
from decimal import Decimal

import pytest

from tests.mturk.conftest import NOON, TYPE

MASTERS = [{"QualificationTypeId": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "Comparator": "Exists"}]
PREMIUM = [{"QualificationTypeId": "3PREMIUM", "Comparator": "Exists"}]


def balances(mturk):
    balance = mturk.get_account_balance()
    return balance["AvailableBalance"], balance["OnHoldBalance"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reward", "requirements", "assignments", "cost"),
    [
        ("1.40", [], 1, "1.68"),
        ("1.40", MASTERS, 1, "1.75"),
        ("0.65", [], 9, "0.78"),
        ("0.65", [], 10, "0.91"),
        ("0.65", MASTERS, 10, "0.94"),
        ("0.10", MASTERS, 1, "0.13"),
        ("0.01", [], 1, "0.02"),
        ("0.00", [], 1, "0.01"),
    ],
)
def test_a_hit_holds_reward_and_fee_of_every_assignment(mturk, post, reward, requirements, assignments, cost):
    wanted = TYPE | {"Reward": reward, "QualificationRequirements": requirements}
    post(HITTypeId=mturk.create_hit_type(**wanted)["HITTypeId"], MaxAssignments=assignments)
    assert balances(mturk)[1] == str(Decimal(cost) * assignments)


def test_a_premium_qualification_costs_extra_for_every_assignment(mturk, world, post):
    world.act("set_premium_fee", qualification_type_id="3PREMIUM", fee="0.05")
    wanted = mturk.create_hit_type(**TYPE, QualificationRequirements=PREMIUM)["HITTypeId"]
    post(HITTypeId=wanted, MaxAssignments=2)
    assert balances(mturk)[1] == "1.66"


def test_rejected_work_costs_nothing(mturk, post, do):
    mturk.reject_assignment(AssignmentId=do(post()["HITId"]), RequesterFeedback="no")
    assert balances(mturk) == ("10000.00", "0.00")


def test_an_overridden_rejection_is_paid_from_what_is_available(mturk, post, do):
    assignment = do(post()["HITId"])
    mturk.reject_assignment(AssignmentId=assignment, RequesterFeedback="no")
    mturk.approve_assignment(AssignmentId=assignment, OverrideRejection=True)
    assert balances(mturk) == ("9999.22", "0.00")


def test_an_override_without_funds_leaves_the_rejection(mturk, world, post, do, refused):
    assignment = do(post()["HITId"])
    mturk.reject_assignment(AssignmentId=assignment, RequesterFeedback="no")
    world.act("set_balance", available="0.77")
    refusal = refused(mturk.approve_assignment, AssignmentId=assignment, OverrideRejection=True)
    assert refusal[1] == "AWS.MechanicalTurk.InsufficientFunds"
    assert mturk.get_assignment(AssignmentId=assignment)["Assignment"]["AssignmentStatus"] == "Rejected"


def test_free_places_are_paid_back_at_expiry_and_work_in_hand_is_not(mturk, world, post, do, worker):
    hit_id = post(MaxAssignments=3, LifetimeInSeconds=60)["HITId"]
    do(hit_id)
    world.accept(hit_id, worker)
    world.move_clock(by=timedelta(seconds=60))
    assert balances(mturk)[1] == "1.56"


def test_work_given_up_after_expiry_is_paid_back(mturk, world, post, worker):
    world.accept(post(LifetimeInSeconds=60)["HITId"], worker)
    world.move_clock(by=timedelta(seconds=600))
    assert balances(mturk) == ("10000.00", "0.00")


def test_a_later_expiry_holds_again_what_was_paid_back(mturk, world, post, refused):
    hit_id = post(MaxAssignments=2)["HITId"]
    world.move_clock(by=timedelta(hours=2))
    world.act("set_balance", available="1.55")
    later = {"HITId": hit_id, "ExpireAt": NOON + timedelta(hours=3)}
    assert refused(mturk.update_expiration_for_hit, **later)[1] == "AWS.MechanicalTurk.InsufficientFunds"
    world.act("set_balance", available="1.56")
    mturk.update_expiration_for_hit(**later)
    assert balances(mturk) == ("0.00", "1.56")


def test_a_hit_is_created_only_with_funds_for_all_of_it(mturk, world, post, refused):
    world.act("set_balance", available="1.55")
    code, turk_code, message = refused(post, MaxAssignments=2)
    assert (code, turk_code) == ("RequestError", "AWS.MechanicalTurk.InsufficientFunds")
    assert message.startswith("This Requester has insufficient funds in their account")
    assert mturk.list_hits()["HITs"] == []


def test_a_hit_is_extended_only_with_funds_for_the_rest(mturk, world, post, refused):
    hit_id = post()["HITId"]
    world.act("set_balance", available="0.77")
    more = {"HITId": hit_id, "NumberOfAdditionalAssignments": 1}
    assert refused(mturk.create_additional_assignments_for_hit, **more)[1] == "AWS.MechanicalTurk.InsufficientFunds"
    assert mturk.get_hit(HITId=hit_id)["HIT"]["MaxAssignments"] == 1


def test_the_sandbox_always_has_ten_thousand_dollars_and_never_runs_out(mturk, world, post):
    with world.looking() as state:
        state.sandbox, state.ledger.available = True, Decimal("0.01")
    post(MaxAssignments=9)
    shown = mturk.get_account_balance()
    assert (shown["AvailableBalance"], "OnHoldBalance" in shown) == ("10000.00", False)


def test_the_ledger_has_every_movement(mturk, world, post, do):
    hit_id = post()["HITId"]
    mturk.approve_assignment(AssignmentId=do(hit_id))
    with world.looking() as state:
        entries = [(entry.what, entry.available, entry.on_hold) for entry in state.ledger.entries]
    assert entries == [
        ("deposit", Decimal("10000.00"), Decimal(0)),
        ("hold", Decimal("-0.78"), Decimal("0.78")),
        ("reward", Decimal(0), Decimal("-0.65")),
        ("fee", Decimal(0), Decimal("-0.13")),
    ]
