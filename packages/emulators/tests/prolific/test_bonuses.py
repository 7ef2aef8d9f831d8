"""Bonuses in two steps, and messages."""

import pytest

from tests.prolific.conftest import balance, refusal


@pytest.fixture
def order(api):
    def made(study_id, *lines):
        return api.post("submissions/bonus-payments/", json={"study_id": study_id, "csv_bonuses": "\n".join(lines)})

    return made


def pay(api, answer):
    return api.post(f"bulk-bonus-payments/{answer.json()['id']}/pay/")


def bonuses(api, submission_id):
    return api.get(f"submissions/{submission_id}/").json()["bonus_payments"]


def test_a_bonus_is_in_major_units_and_its_price_in_minor_ones(order, publish, finish):
    study_id = publish()
    submission_id, participant_id = finish(study_id)
    answer = order(study_id, f"{submission_id},1.15", f"{participant_id}, 4")
    # 1.15: fee 0.38, VAT 0.08 (of 0.076); 4.00: fee 1.33, VAT 0.27
    sums = {name: answer.json()[name] for name in ("amount", "fees", "vat", "total_amount")}
    assert sums == {"amount": 515, "fees": 171, "vat": 35, "total_amount": 721}


def test_a_bonus_shows_a_minute_after_it_was_paid(api, order, publish, finish, pass_time):
    study_id = publish()
    submission_id, _ = finish(study_id)
    before = balance(api)
    assert pay(api, order(study_id, f"{submission_id},1.15")).status_code == 202
    assert (bonuses(api, submission_id), balance(api)) == ([], (before[0], before[1] - 161))
    pass_time(seconds=60)
    assert (bonuses(api, submission_id), balance(api)) == ([115], (before[0] - 161, before[1] - 161))
    spent = api.get(f"studies/{study_id}/cost/").json()["bonuses"]
    assert [spent[name]["amount"] for name in ("rewards", "fees", "tax")] == [115, 38, 8]


def test_paying_twice_really_pays_twice(api, order, publish, finish, pass_time):
    study_id = publish()
    submission_id, _ = finish(study_id)
    made = order(study_id, f"{submission_id},1.00")
    pay(api, made), pay(api, made)
    pass_time(seconds=60)
    assert bonuses(api, submission_id) == [100, 100]


def test_bonuses_that_are_not_paid_cost_nothing(api, order, publish, finish, pass_time):
    study_id = publish()
    submission_id, _ = finish(study_id)
    before = balance(api)
    order(study_id, f"{submission_id},1.00"), order(study_id, f"{submission_id},1.00")
    pass_time(days=1)
    assert (bonuses(api, submission_id), balance(api)) == ([], before)


def test_without_enough_money_nothing_is_paid(api, world, order, publish, finish, pass_time):
    study_id = publish()
    submission_id, _ = finish(study_id)
    world.act("set_balance", available="1.39")
    assert "funds" in refusal(pay(api, order(study_id, f"{submission_id},1.00")))
    pass_time(seconds=60)
    assert bonuses(api, submission_id) == []


@pytest.mark.parametrize("line", ["{},1.005", "{},0", "{},", "{},NaN"])
def test_an_amount_that_is_none_is_refused(order, publish, finish, line):
    study_id = publish()
    assert list(refusal(order(study_id, line.format(finish(study_id)[0])))) == ["csv_bonuses"]


def test_ids_of_others_are_named(order, publish, finish):
    study_id, other = publish(), publish()
    detail = refusal(order(study_id, f"{finish(other)[0]},1.00", "unknown,2.00"))
    assert "unknown" in detail["csv_bonuses"][0]


def test_work_that_timed_out_can_get_a_bonus(api, order, publish, take, pass_time):
    study_id = publish()
    submission_id, _ = take(study_id)
    pass_time(minutes=29)
    pay(api, order(study_id, f"{submission_id},2.00"))
    pass_time(minutes=1)
    assert bonuses(api, submission_id) == [200]


def test_a_message_answers_nothing_and_is_listed(api, publish, finish):
    study_id = publish()
    _, participant_id = finish(study_id)
    answer = api.post("messages/", json={"recipient_id": participant_id, "body": "Thank you", "study_id": study_id})
    assert (answer.status_code, answer.content) == (204, b"")
    [message] = api.get("messages/", params={"user_id": participant_id}).json()["results"]
    assert (message["body"], message["data"]) == ("Thank you", {"study_id": study_id})


def test_messages_are_kept_for_30_days(api, publish, finish, pass_time):
    study_id = publish()
    people = [finish(study_id)[1] for _ in range(2)]
    api.post("messages/bulk/", json={"ids": people, "body": "Thank you", "study_id": study_id})
    since = {"created_after": "2026-01-01T00:00:00Z"}
    assert api.get("messages/", params=since).json()["meta"]["count"] == 2
    pass_time(days=30)
    assert api.get("messages/", params=since).json()["meta"]["count"] == 0


def test_messages_need_people_who_exist_and_a_question_needs_a_person_or_an_instant(api, publish):
    sent = {"recipient_id": "unknown", "body": "Hello", "study_id": publish()}
    assert "unknown" in str(refusal(api.post("messages/", json=sent)))
    assert refusal(api.get("messages/"))
    assert refusal(api.get("messages/", params={"created_after": "yesterday"}))
