from datetime import timedelta

import pytest

from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.mturk import workers


@pytest.fixture
def create(mturk):
    """Create a qualification type, with whatever is different about it; returns its id."""

    def created(**different):
        usual = {"Name": "Careful judge", "Description": "d", "QualificationTypeStatus": "Active"}
        return mturk.create_qualification_type(**usual | different)["QualificationType"]["QualificationTypeId"]

    return created


def value(mturk, type_id, worker_id):
    return mturk.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker_id)["Qualification"].get(
        "IntegerValue"
    )


def test_a_name_is_taken_once(create, refused):
    create()
    _, turk_code, message = refused(create)
    assert turk_code == "AWS.MechanicalTurk.QualificationTypeAlreadyExists"
    assert message.startswith("You have already created a QualificationType with this name.")


@pytest.mark.parametrize(
    ("different", "code"),
    [
        ({"AutoGrantedValue": 3}, "ParameterValidationError"),
        ({"RetryDelayInSeconds": -1}, "ParameterValidationError"),
        ({"Test": "<QuestionForm/>", "TestDurationInSeconds": 60}, "ServiceFault"),
    ],
)
def test_a_type_that_makes_no_sense_is_refused(mturk, create, refused, different, code):
    assert refused(create, **different)[0] == code
    assert mturk.list_qualification_types(MustBeRequestable=False)["QualificationTypes"] == []


def test_types_are_found_by_words_and_by_whether_they_can_be_asked_for(mturk, create):
    create(Name="First", Keywords="pictures")
    create(Name="Second", QualificationTypeStatus="Inactive")

    def names(**asked):
        listed = mturk.list_qualification_types(**{"MustBeRequestable": False} | asked)["QualificationTypes"]
        return [one["Name"] for one in listed]

    assert names() == ["First", "Second"]
    assert names(MustBeRequestable=True) == ["First"]
    assert names(Query="PICTURE") == ["First"]


def test_no_hit_can_be_created_that_requires_an_inactive_type(mturk, create, post, refused):
    type_id = create(QualificationTypeStatus="Inactive")
    requirement = {"QualificationTypeId": type_id, "Comparator": "Exists"}
    hit_type = mturk.create_hit_type(
        Title="t", Description="d", Reward="1", AssignmentDurationInSeconds=60, QualificationRequirements=[requirement]
    )
    refusal = refused(post, HITTypeId=hit_type["HITTypeId"])
    assert refusal[1] == "AWS.MechanicalTurk.InvalidQualificationTypeState"


def test_a_qualification_can_be_given_changed_and_taken_away(mturk, create, worker, refused):
    type_id = create()
    named = {"QualificationTypeId": type_id, "WorkerId": worker}
    mturk.associate_qualification_with_worker(**named, IntegerValue=70)
    mturk.associate_qualification_with_worker(**named, IntegerValue=90)
    assert value(mturk, type_id, worker) == 90
    mturk.disassociate_qualification_from_worker(**named, Reason="Retake the test")
    assert "status of: Granted" in refused(mturk.get_qualification_score, **named)[2]


def test_a_worker_unknown_in_this_environment_is_an_invalid_value(mturk, create, refused):
    named = {"QualificationTypeId": create(), "WorkerId": "ASANDBOXWORKER"}
    code, turk_code, message = refused(mturk.associate_qualification_with_worker, **named)
    assert (code, turk_code) == ("ParameterValidationError", None)
    assert message.startswith('The value "ASANDBOXWORKER" is not valid for the parameter WorkerId.')


def test_workers_are_notified_of_a_qualification_unless_that_is_turned_off(mturk, world, create, worker):
    quiet, loud = create(Name="Quiet"), create(Name="Loud")
    mturk.associate_qualification_with_worker(QualificationTypeId=quiet, WorkerId=worker, SendNotification=False)
    mturk.associate_qualification_with_worker(QualificationTypeId=loud, WorkerId=worker)
    mturk.disassociate_qualification_from_worker(QualificationTypeId=loud, WorkerId=worker, Reason="Too hasty")
    sent = [(message.subject, message.text) for message in world.look(workers.dashboard, worker)["messages"]]
    assert sent == [
        ("Your qualification Loud was revoked", "Too hasty"),
        ("You were given the qualification Loud", "d"),
    ]


def test_what_grants_itself_is_granted_at_once(mturk, world, create, worker):
    type_id = create(AutoGranted=True, AutoGrantedValue=5)
    assert world.request_qualification(type_id, worker) == {"Status": "Granted", "IntegerValue": 5}
    assert value(mturk, type_id, worker) == 5


def test_a_request_waits_for_the_requester(mturk, world, create, worker):
    type_id = create()
    assert world.request_qualification(type_id, worker) == {"Status": "Pending"}
    (request,) = mturk.list_qualification_requests(QualificationTypeId=type_id)["QualificationRequests"]
    mturk.accept_qualification_request(QualificationRequestId=request["QualificationRequestId"], IntegerValue=80)
    assert value(mturk, type_id, worker) == 80
    assert mturk.list_qualification_requests()["QualificationRequests"] == []


def test_the_worker_of_a_refused_request_reads_why(mturk, world, create, worker, refused):
    world.request_qualification(create(), worker)
    (request,) = mturk.list_qualification_requests()["QualificationRequests"]
    id = {"QualificationRequestId": request["QualificationRequestId"]}
    mturk.reject_qualification_request(**id, Reason="Not this time")
    assert world.look(workers.dashboard, worker)["messages"][0].text == "Not this time"
    assert refused(mturk.accept_qualification_request, **id)[1] == "AWS.MechanicalTurk.QualificationRequestDoesNotExist"


def test_without_a_retry_delay_there_is_one_attempt_ever(world, create, worker):
    type_id = create(AutoGranted=True)
    world.request_qualification(type_id, worker)
    world.move_clock(by=timedelta(days=365))
    with pytest.raises(Refusal, match="only once"):
        world.request_qualification(type_id, worker)


def test_a_retry_waits_for_its_delay(world, create, worker):
    type_id = create(AutoGranted=True, AutoGrantedValue=2, RetryDelayInSeconds=3600)
    world.request_qualification(type_id, worker)
    with pytest.raises(Refusal, match="13:00:00"):
        world.request_qualification(type_id, worker)
    world.move_clock(by=timedelta(hours=1))
    assert world.request_qualification(type_id, worker)["IntegerValue"] == 2
