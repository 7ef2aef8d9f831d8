"""What arrives in a queue when something happens, and what may go wrong on the way."""

import json
from datetime import timedelta

import pytest

EVENTS = ["AssignmentAccepted", "AssignmentSubmitted", "AssignmentApproved", "HITReviewable"]


@pytest.fixture
def sqs(connect):
    return connect(service="sqs")


@pytest.fixture
def queue(sqs) -> str:
    return sqs.create_queue(QueueName="events", Attributes={"VisibilityTimeout": "300"})["QueueUrl"]


def specification(queue: str, *, events=EVENTS, version: str = "2014-08-15") -> dict:
    return {"Destination": queue, "Transport": "SQS", "Version": version, "EventTypes": events}


@pytest.fixture
def told(mturk, queue, type_id) -> None:
    """Events of the HIT type go to the queue."""
    mturk.update_notification_settings(HITTypeId=type_id, Notification=specification(queue), Active=True)


@pytest.fixture
def arrived(sqs, queue):
    """Take what is in the queue; returns the documents."""

    def taken() -> list[dict]:
        messages = sqs.receive_message(QueueUrl=queue, MaxNumberOfMessages=10).get("Messages", [])
        return [json.loads(message["Body"]) for message in messages]

    return taken


def kinds(documents) -> list[str]:
    return [document["Events"][0]["EventType"] for document in documents]


def test_an_event_says_what_happened_to_whom_and_when(told, post, do, worker, arrived, type_id):
    hit_id = post()["HITId"]
    assignment_id = do(hit_id, worker)
    document = arrived()[1]
    assert document["EventDocVersion"] == "2014-08-15"
    assert document["Events"] == [
        {
            "EventType": "AssignmentSubmitted",
            "EventTimestamp": "2026-03-02T12:00:00Z",
            "HITId": hit_id,
            "HITTypeId": type_id,
            "AssignmentId": assignment_id,
            "WorkerId": worker,
        }
    ]


def test_older_documents_name_no_worker(mturk, queue, type_id, post, do, arrived):
    given = specification(queue, version="2006-05-05")
    mturk.update_notification_settings(HITTypeId=type_id, Notification=given)
    do(post()["HITId"])
    documents = arrived()
    assert {document["EventDocVersion"] for document in documents} == {"2006-05-05"}
    assert all("WorkerId" not in document["Events"][0] for document in documents)


def test_events_come_in_the_order_in_which_things_happened(told, post, do, mturk, arrived):
    mturk.approve_assignment(AssignmentId=do(post()["HITId"]))
    assert kinds(arrived()) == ["AssignmentAccepted", "AssignmentSubmitted", "HITReviewable", "AssignmentApproved"]


def test_events_about_a_hit_name_no_assignment(told, post, do, arrived):
    do(post()["HITId"])
    event = arrived()[2]["Events"][0]
    assert event["EventType"] == "HITReviewable"
    assert not {"AssignmentId", "WorkerId"} & event.keys()


def test_only_the_events_that_were_asked_for_are_sent(mturk, queue, type_id, post, do, arrived):
    given = specification(queue, events=["AssignmentSubmitted"])
    mturk.update_notification_settings(HITTypeId=type_id, Notification=given, Active=True)
    do(post()["HITId"])
    assert kinds(arrived()) == ["AssignmentSubmitted"]


def test_time_alone_causes_events_too(mturk, queue, type_id, post, world, worker, arrived):
    given = specification(queue, events=["AssignmentAbandoned", "HITExpired"])
    mturk.update_notification_settings(HITTypeId=type_id, Notification=given, Active=True)
    world.accept(post()["HITId"], worker)
    world.move_clock(by=timedelta(hours=2), running=False)
    assert kinds(arrived()) == ["AssignmentAbandoned", "HITExpired"]


def test_settings_are_turned_off_and_on_without_a_new_specification(told, mturk, type_id, post, do, arrived):
    mturk.update_notification_settings(HITTypeId=type_id, Active=False)
    do(post()["HITId"])
    assert arrived() == []
    mturk.update_notification_settings(HITTypeId=type_id, Active=True)
    do(post()["HITId"])
    assert len(arrived()) == 3


def test_a_test_event_is_sent_at_once(mturk, queue, arrived):
    mturk.send_test_event_notification(Notification=specification(queue), TestEventType="Ping")
    [document] = arrived()
    assert document["Events"] == [{"EventType": "Ping", "EventTimestamp": "2026-03-02T12:00:00Z"}]


def test_a_queue_that_does_not_exist_is_refused(mturk, queue, type_id, refused):
    given = specification(queue.replace("events", "elsewhere"))
    for call in (
        lambda: mturk.update_notification_settings(HITTypeId=type_id, Notification=given),
        lambda: mturk.send_test_event_notification(Notification=given, TestEventType="Ping"),
    ):
        assert refused(call)[1] == "AWS.MechanicalTurk.InvalidTransportEndpoint"


def test_an_unknown_version_is_refused(mturk, queue, type_id, refused):
    given = specification(queue, version="1999-01-01")
    code, _, message = refused(mturk.update_notification_settings, HITTypeId=type_id, Notification=given)
    assert code == "ParameterValidationError"
    assert "Notification.Version" in message


def test_transports_that_are_not_emulated_say_so(mturk, type_id, refused):
    given = specification("me@example.com") | {"Transport": "Email"}
    code, _, message = refused(mturk.update_notification_settings, HITTypeId=type_id, Notification=given)
    assert (code, "not emulated" in message) == ("ServiceFault", True)


def test_a_type_without_a_specification_cannot_be_turned_on(mturk, type_id, refused):
    code, _, _ = refused(mturk.update_notification_settings, HITTypeId=type_id, Active=True)
    assert code == "ParameterValidationError"


def test_a_repeated_event_arrives_twice_with_one_document_id(told, upset, post, do, arrived):
    upset("repeat", "AssignmentSubmitted")
    do(post()["HITId"])
    documents = arrived()
    assert kinds(documents) == ["AssignmentAccepted", "AssignmentSubmitted", "AssignmentSubmitted", "HITReviewable"]
    assert documents[1] == documents[2]


def test_a_lost_event_never_arrives(told, upset, post, do, arrived):
    upset("lose", "AssignmentSubmitted")
    do(post()["HITId"])
    assert kinds(arrived()) == ["AssignmentAccepted", "HITReviewable"]


def test_a_delayed_event_arrives_after_those_that_came_later(told, upset, post, do, arrived, world):
    upset("delay", "AssignmentAccepted", seconds=60)
    do(post()["HITId"])
    assert kinds(arrived()) == ["AssignmentSubmitted", "HITReviewable"]
    world.move_clock(by=timedelta(seconds=60), running=False)
    assert kinds(arrived()) == ["AssignmentAccepted"]


def test_shuffled_events_arrive_all_in_another_order(told, upset, post, do, arrived):
    upset("shuffle")
    for _ in range(3):
        do(post()["HITId"])
    came = kinds(arrived())
    assert came != ["AssignmentAccepted", "AssignmentSubmitted", "HITReviewable"] * 3
    assert sorted(came) == sorted(["AssignmentAccepted", "AssignmentSubmitted", "HITReviewable"] * 3)


def test_an_early_event_tells_of_work_that_nobody_can_read_or_decide_yet(
    told, upset, post, do, mturk, arrived, world, refused
):
    upset("early", "AssignmentSubmitted", seconds=20)
    hit_id = post()["HITId"]
    assignment_id = do(hit_id)
    assert "AssignmentSubmitted" in kinds(arrived())
    assert mturk.list_assignments_for_hit(HITId=hit_id)["NumResults"] == 0
    code = refused(mturk.approve_assignment, AssignmentId=assignment_id)[1]
    assert code == "AWS.MechanicalTurk.InvalidAssignmentState"
    world.move_clock(by=timedelta(seconds=20), running=False)
    mturk.approve_assignment(AssignmentId=assignment_id)
