from datetime import timedelta

import pytest

REASON = "The task took longer than we said"


@pytest.fixture
def bonus(mturk, post, do, worker):
    """Return what a bonus needs, for work that was submitted."""
    assignment_id = do(post()["HITId"], worker)
    return {"WorkerId": worker, "AssignmentId": assignment_id, "BonusAmount": "1.05", "Reason": REASON}


def available(mturk):
    return mturk.get_account_balance()["AvailableBalance"]


def test_the_fee_of_a_bonus_is_at_least_a_cent(mturk, bonus):
    mturk.send_bonus(**bonus | {"BonusAmount": "0.01"})
    assert available(mturk) == "9999.20"


def test_a_bonus_costs_its_amount_and_a_fifth_and_can_be_read_back_by_assignment_and_by_hit(mturk, bonus):
    mturk.send_bonus(**bonus)
    assert available(mturk) == "9997.96"
    hit_id = mturk.get_assignment(AssignmentId=bonus["AssignmentId"])["HIT"]["HITId"]
    (by_assignment,) = mturk.list_bonus_payments(AssignmentId=bonus["AssignmentId"])["BonusPayments"]
    (by_hit,) = mturk.list_bonus_payments(HITId=hit_id)["BonusPayments"]
    assert by_assignment == by_hit
    assert (by_hit["BonusAmount"], by_hit["Reason"], by_hit["WorkerId"]) == ("1.05", REASON, bonus["WorkerId"])


@pytest.mark.parametrize("asked", [{}, {"HITId": "3A", "AssignmentId": "3B"}])
def test_bonuses_are_listed_for_a_hit_or_for_an_assignment(mturk, refused, asked):
    assert refused(mturk.list_bonus_payments, **asked)[0] == "ParameterValidationError"


def test_a_token_pays_once(mturk, bonus, refused):
    mturk.send_bonus(**bonus, UniqueRequestToken="row-5")
    paid = available(mturk)
    message = refused(mturk.send_bonus, **bonus, UniqueRequestToken="row-5")[2]
    assert 'token "row-5" has already' in message
    assert available(mturk) == paid


def test_a_bonus_needs_submitted_work(mturk, world, post, bonus, refused):
    assignment_id = world.accept(post()["HITId"], bonus["WorkerId"])["AssignmentId"]
    refusal = refused(mturk.send_bonus, **bonus | {"AssignmentId": assignment_id})
    assert refusal[1] == "AWS.MechanicalTurk.InvalidAssignmentState"


def test_a_bonus_goes_to_the_worker_of_the_assignment(mturk, bonus, refused):
    code, _, message = refused(mturk.send_bonus, **bonus | {"WorkerId": "ASOMEBODYELSE"})
    assert code == "ParameterValidationError"
    assert message.startswith('The value "ASOMEBODYELSE" is not valid for the parameter WorkerId. (')


def test_a_bonus_needs_funds_for_its_fee_too(mturk, world, bonus, refused):
    world.act("set_balance", available="1.25")
    assert refused(mturk.send_bonus, **bonus)[1] == "AWS.MechanicalTurk.InsufficientFunds"
    assert available(mturk) == "1.25"


def test_a_worker_without_work_for_six_months_can_get_no_bonus(mturk, world, bonus, refused):
    world.move_clock(by=timedelta(days=184))
    assert "six months" in refused(mturk.send_bonus, **bonus)[2]
