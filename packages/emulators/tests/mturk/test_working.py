from datetime import timedelta

import pytest

from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.mturk import workers
from tests.mturk.conftest import TYPE

MASTERS, APPROVED = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "00000000000000000040"
LOCALE, RATE, ADULT = "00000000000000000071", "000000000000000000L0", "00000000000000000060"


def answer_of(mturk, assignment_id):
    return mturk.get_assignment(AssignmentId=assignment_id)["Assignment"]["Answer"]


def test_a_form_becomes_a_question_form_answers_document(mturk, world, post, worker):
    assignment_id = world.accept(post()["HITId"], worker)["AssignmentId"]
    fields = {"assignmentId": assignment_id, "q1": "a < b & c", "q2": "line\r\nline\x00"}
    world.submit(assignment_id, worker, fields)
    answer = answer_of(mturk, assignment_id)
    assert [line.strip() for line in answer.splitlines() if "q1" in line or "a &lt;" in line] == [
        "<QuestionIdentifier>q1</QuestionIdentifier>", "<FreeText>a &lt; b &amp; c</FreeText>",
    ]  # fmt: skip
    assert ">line&#13;\nline<" in answer
    assert "assignmentId" not in answer


def test_a_form_needs_a_field_of_its_own(world, post, worker):
    assignment_id = world.accept(post()["HITId"], worker)["AssignmentId"]
    with pytest.raises(Refusal, match="assignmentId"):
        world.submit(assignment_id, worker, {"assignmentId": assignment_id})


def test_work_past_its_deadline_is_abandoned_and_its_place_is_open(mturk, world, post, worker):
    hit_id = post()["HITId"]
    assignment_id = world.accept(hit_id, worker)["AssignmentId"]
    world.move_clock(by=timedelta(seconds=600))
    with pytest.raises(Refusal, match="12:10:00"):
        world.submit(assignment_id, worker, {"labels": "1"})
    assert mturk.get_hit(HITId=hit_id)["HIT"]["NumberOfAssignmentsAvailable"] == 1


def test_only_its_worker_can_submit_or_return_work(world, post, worker):
    assignment_id = world.accept(post()["HITId"], worker)["AssignmentId"]
    stranger = world.register_worker()
    with pytest.raises(Refusal, match="You have no assignment"):
        world.submit(assignment_id, stranger, {"labels": "1"})
    with pytest.raises(Refusal, match="You have no assignment"):
        world.return_assignment(assignment_id, stranger)


def test_a_hit_is_done_once_by_one_worker_even_after_a_rejection(mturk, world, post, do, worker):
    hit_id = post(MaxAssignments=3)["HITId"]
    mturk.reject_assignment(AssignmentId=do(hit_id, worker), RequesterFeedback="no")
    with pytest.raises(Refusal, match="only once"):
        world.accept(hit_id, worker)


def test_a_hit_in_hand_cannot_be_accepted_again(world, post, worker):
    hit_id = post(MaxAssignments=3)["HITId"]
    world.accept(hit_id, worker)
    with pytest.raises(Refusal, match="already accepted"):
        world.accept(hit_id, worker)


def test_a_full_an_expired_and_a_deleted_hit_cannot_be_accepted(mturk, world, post, do, worker):
    full, expired = post(LifetimeInSeconds=7200)["HITId"], post()["HITId"]
    do(full)
    world.move_clock(by=timedelta(hours=1))
    for hit_id in (full, expired):
        with pytest.raises(Refusal, match="no work left"):
            world.accept(hit_id, worker)
    mturk.delete_hit(HITId=expired)
    with pytest.raises(Refusal, match="may have been deleted"):
        world.accept(expired, worker)


def test_a_worker_holds_at_most_25_hits(world, post, worker):
    for _ in range(25):
        world.accept(post()["HITId"], worker)
    with pytest.raises(Refusal, match="You hold 25 HITs"):
        world.accept(post()["HITId"], worker)


def accepted_again(world, post, by):
    hit_id, first = post()["HITId"], "AWORKER1"
    before = world.accept(hit_id, first)["AssignmentId"]
    world.return_assignment(before, first)
    return before, world.accept(hit_id, by)["AssignmentId"]


@pytest.mark.parametrize(
    ("policy", "by", "is_reissued"),
    [
        ("same", "AWORKER1", True),
        ("same", "AWORKER2", False),
        ("another", "AWORKER2", True),
        ("another", "AWORKER1", False),
        ("never", "AWORKER1", False),
    ],
)
def test_the_id_of_returned_work_is_given_out_again_as_the_policy_says(world, post, worker, policy, by, is_reissued):
    world.register_worker("AWORKER2")
    world.act("set_reissue", policy=policy)
    before, after = accepted_again(world, post, by)
    assert (before == after) is is_reissued


def test_an_id_in_use_is_not_given_to_another_worker(world, post, worker):
    hit_id, others = post(MaxAssignments=2)["HITId"], [world.register_worker() for _ in range(2)]
    world.act("set_reissue", policy="another")
    world.return_assignment(world.accept(hit_id, worker)["AssignmentId"], worker)
    ids = [world.accept(hit_id, other)["AssignmentId"] for other in others]
    assert ids[0] != ids[1]


def test_by_itself_the_world_reissues_some_ids_and_not_others(world, post, worker):
    same = [before == after for before, after in (accepted_again(world, post, worker) for _ in range(20))]
    assert {True, False} == set(same)


def guarded(mturk, post, requirement, action="Accept"):
    """Put up a HIT that only some workers may touch."""
    wanted = TYPE | {"QualificationRequirements": [requirement | {"ActionsGuarded": action}]}
    return post(HITTypeId=mturk.create_hit_type(**wanted)["HITTypeId"])["HITId"]


def locale(country, subdivision=None):
    return {"Country": country} | ({"Subdivision": subdivision} if subdivision else {})


def need(type_id, comparator, *integers, locales=()):
    requirement = {"QualificationTypeId": type_id, "Comparator": comparator}
    if locales:
        requirement["LocaleValues"] = [locale(*each.split("-")) for each in locales]
    return requirement | ({"IntegerValues": list(integers)} if integers else {})


GOOD = {"approved": 500, "approval_rate": 98, "locale": "US-WA", "masters": True, "adult": True}


@pytest.mark.parametrize(
    ("requirement", "may"),
    [
        (need(MASTERS, "Exists"), True),
        (need(MASTERS, "DoesNotExist"), False),
        (need(APPROVED, "GreaterThan", 499), True),
        (need(APPROVED, "GreaterThan", 500), False),
        (need(APPROVED, "LessThanOrEqualTo", 500), True),
        (need(RATE, "GreaterThanOrEqualTo", 98), True),
        (need(RATE, "LessThan", 98), False),
        (need(RATE, "NotIn", 97, 98), False),
        (need(ADULT, "EqualTo", 1), True),
        (need(ADULT, "NotEqualTo", 1), False),
        (need(LOCALE, "EqualTo", locales=["US"]), True),
        (need(LOCALE, "EqualTo", locales=["US-OR"]), False),
        (need(LOCALE, "In", locales=["CA", "US-WA"]), True),
        (need(LOCALE, "NotIn", locales=["CA", "GB"]), True),
    ],
)
def test_only_workers_who_meet_a_requirement_may_accept(mturk, world, post, requirement, may):
    hit_id, worker_id = guarded(mturk, post, requirement), world.register_worker(**GOOD)
    if may:
        assert world.accept(hit_id, worker_id)["AssignmentId"]
    else:
        with pytest.raises(Refusal, match="requirements"):
            world.accept(hit_id, worker_id)


@pytest.mark.parametrize("comparator", ["NotEqualTo", "Exists"])
def test_who_has_no_value_meets_only_does_not_exist(mturk, world, post, worker, comparator):
    type_id = mturk.create_qualification_type(Name="n", Description="d", QualificationTypeStatus="Active")
    type_id = type_id["QualificationType"]["QualificationTypeId"]
    integers = () if comparator == "Exists" else (5,)
    hit_id = guarded(mturk, post, need(type_id, comparator, *integers))
    with pytest.raises(Refusal, match="You do not meet"):
        world.accept(hit_id, worker)
    assert world.accept(guarded(mturk, post, need(type_id, "DoesNotExist")), worker)


@pytest.mark.parametrize(
    ("action", "sees", "previews"),
    [("Accept", True, True), ("PreviewAndAccept", True, False), ("DiscoverPreviewAndAccept", False, False)],
)
def test_a_guard_keeps_the_unqualified_from_accepting_previewing_or_seeing(
    mturk, world, post, worker, action, sees, previews
):
    hit_id = guarded(mturk, post, need(MASTERS, "Exists"), action)
    assert bool(world.look(workers.open_groups, worker)) is sees
    if previews:
        assert "Masters is granted" in world.look(workers.preview, hit_id, worker)["why_not"]
    else:
        with pytest.raises(Refusal, match="preview"):
            world.look(workers.preview, hit_id, worker)
