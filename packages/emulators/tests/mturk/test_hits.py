from datetime import timedelta

import pytest

from tests.mturk.conftest import QUESTION, SCHEMAS


def status(mturk, hit_id):
    return mturk.get_hit(HITId=hit_id)["HIT"]["HITStatus"]


def counters(mturk, hit_id):
    hit = mturk.get_hit(HITId=hit_id)["HIT"]
    return tuple(hit[f"NumberOfAssignments{name}"] for name in ("Pending", "Available", "Completed"))


@pytest.mark.parametrize(
    ("different", "code", "says"),
    [
        ({"LifetimeInSeconds": 29}, "ParameterValidationError", "LifetimeInSeconds"),
        ({"Question": f"<!--{'x' * 65_535}-->{QUESTION}"}, "ParameterValidationError", "65535 bytes"),
        ({"HITTypeId": "3UNKNOWN"}, "RequestError", "HITType 3UNKNOWN does not exist"),
        ({"HITLayoutId": "3LAYOUT"}, "ServiceFault", "HITLayoutId: not emulated"),
    ],
)
def test_a_hit_that_cannot_be_is_refused_and_nothing_is_held(mturk, post, refused, different, code, says):
    refusal = refused(post, **different)
    assert refusal[0] == code
    assert says in refusal[2]
    assert mturk.get_account_balance()["OnHoldBalance"] == "0.00"


@pytest.mark.parametrize(
    "question",
    [
        QUESTION.replace("&amp;", "&"),
        QUESTION.replace("2006-07-14", "1999-01-01"),
        QUESTION.replace("https://tasks.example", "http://tasks.example"),
        QUESTION.replace("https://tasks.example", "javascript:alert"),
        QUESTION.replace(">0<", ">tall<"),
        f"<!DOCTYPE x [<!ENTITY e 'boom'>]>{QUESTION}",
    ],
)
def test_a_question_that_cannot_be_shown_is_an_xml_parse_error(post, refused, question):
    assert refused(post, Question=question)[:2] == ("RequestError", "AWS.MechanicalTurk.XMLParseError")


def test_a_question_of_another_kind_is_not_emulated(post, refused):
    question = f'<HTMLQuestion xmlns="{SCHEMAS}/2011-11-11/HTMLQuestion.xsd"></HTMLQuestion>'
    refusal = refused(post, Question=question)
    assert refusal[:2] == ("ServiceFault", "AWS.MechanicalTurk.NotEmulated")
    assert "HTMLQuestion: not emulated" in refusal[2]


def test_a_token_creates_one_hit_and_names_it_after_that(mturk, post, refused):
    hit = post(UniqueRequestToken="row-1")
    _, turk_code, message = refused(post, UniqueRequestToken="row-1")
    assert turk_code == "AWS.MechanicalTurk.HitAlreadyExists"
    assert hit["HITId"] in message
    assert mturk.list_hits()["NumResults"] == 1


def test_a_token_is_forgotten_after_24_hours(world, mturk, post, refused):
    post(UniqueRequestToken="row-1")
    world.move_clock(by=timedelta(hours=24) - timedelta(seconds=1))
    refused(post, UniqueRequestToken="row-1")
    world.move_clock(by=timedelta(seconds=1))
    assert post(UniqueRequestToken="row-1")["HITId"]


def test_work_moves_a_hit_from_assignable_over_unassignable_to_reviewable(mturk, world, post, worker):
    hit_id = post()["HITId"]
    seen = [status(mturk, hit_id)]
    assignment_id = world.accept(hit_id, worker)["AssignmentId"]
    seen.append(status(mturk, hit_id))
    world.submit(assignment_id, worker, {"a": "1"})
    assert [*seen, status(mturk, hit_id)] == ["Assignable", "Unassignable", "Reviewable"]


def test_a_returned_place_is_open_again(mturk, world, post, worker):
    hit_id = post()["HITId"]
    world.return_assignment(world.accept(hit_id, worker)["AssignmentId"], worker)
    assert (status(mturk, hit_id), counters(mturk, hit_id)) == ("Assignable", (0, 1, 0))


def test_a_hit_that_expires_while_a_worker_has_it_is_unassignable_until_they_are_done(mturk, world, post, worker):
    hit_id = post(LifetimeInSeconds=60)["HITId"]
    assignment_id = world.accept(hit_id, worker)["AssignmentId"]
    world.move_clock(by=timedelta(seconds=61))
    assert status(mturk, hit_id) == "Unassignable"
    world.submit(assignment_id, worker, {"a": "1"})
    assert status(mturk, hit_id) == "Reviewable"


def test_unreviewed_work_is_in_no_counter(mturk, world, post, do, worker):
    hit_id = post(MaxAssignments=4)["HITId"]
    mturk.approve_assignment(AssignmentId=do(hit_id))
    do(hit_id)
    world.accept(hit_id, worker)
    assert counters(mturk, hit_id) == (1, 1, 1)


def test_review_moves_a_hit_to_reviewing_and_back(mturk, post, do):
    hit_id = post()["HITId"]
    do(hit_id)
    mturk.update_hit_review_status(HITId=hit_id)
    assert status(mturk, hit_id) == "Reviewing"
    mturk.update_hit_review_status(HITId=hit_id, Revert=True)
    assert status(mturk, hit_id) == "Reviewable"


def test_a_hit_that_is_offered_can_be_neither_reviewed_nor_deleted(mturk, post, refused):
    hit_id = post()["HITId"]
    _, turk_code, message = refused(mturk.update_hit_review_status, HITId=hit_id)
    assert turk_code == refused(mturk.delete_hit, HITId=hit_id)[1] == "AWS.MechanicalTurk.InvalidHITState"
    assert "'Assignable'" in message


def test_a_reviewed_hit_can_be_deleted_and_leaves_the_lists(mturk, post, do):
    hit_id = post()["HITId"]
    mturk.approve_assignment(AssignmentId=do(hit_id))
    mturk.delete_hit(HITId=hit_id)
    assert (status(mturk, hit_id), mturk.list_hits()["HITs"]) == ("Disposed", [])


def test_a_hit_with_unreviewed_work_cannot_be_deleted_and_the_message_contradicts_itself(mturk, post, do, refused):
    hit_id = post()["HITId"]
    do(hit_id)
    _, turk_code, message = refused(mturk.delete_hit, HITId=hit_id)
    assert turk_code == "AWS.MechanicalTurk.InvalidHITState"
    assert "state 'Reviewable'" in message


def test_a_hit_is_disposed_of_120_days_after_it_became_reviewable(mturk, world, post):
    hit_id = post(LifetimeInSeconds=60)["HITId"]
    world.move_clock(by=timedelta(seconds=59, days=120))
    assert status(mturk, hit_id) == "Reviewable"
    world.move_clock(by=timedelta(seconds=1))
    assert status(mturk, hit_id) == "Disposed"
