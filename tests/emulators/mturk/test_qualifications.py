from datetime import timedelta

import pytest

from emulators.mturk.errors import Refusal
from tests.emulators.mturk.conftest import QUESTION, SCHEMAS

OPTIONS = "".join(
    f"<Selection><SelectionIdentifier>{id}</SelectionIdentifier><Text>{id}</Text></Selection>" for id in ("yes", "no")
)
TEST = (
    f'<QuestionForm xmlns="{SCHEMAS}/2005-10-01/QuestionForm.xsd">'
    "<Question><QuestionIdentifier>q1</QuestionIdentifier><QuestionContent><Text>Fits?</Text></QuestionContent>"
    f"<AnswerSpecification><SelectionAnswer><Selections>{OPTIONS}</Selections></SelectionAnswer></AnswerSpecification>"
    "</Question><Question><QuestionIdentifier>why</QuestionIdentifier><QuestionContent><Text>Why?</Text>"
    "</QuestionContent><AnswerSpecification><FreeTextAnswer/></AnswerSpecification></Question></QuestionForm>"
)
KEY = (
    f'<AnswerKey xmlns="{SCHEMAS}/2005-10-01/AnswerKey.xsd"><Question><QuestionIdentifier>q1</QuestionIdentifier>'
    "<AnswerOption><SelectionIdentifier>yes</SelectionIdentifier><AnswerScore>2</AnswerScore></AnswerOption>"
    "<DefaultScore>1</DefaultScore></Question>{}</AnswerKey>"
)
TESTED = {"Test": TEST, "TestDurationInSeconds": 300}


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


def test_a_type_shows_what_it_was_created_with(mturk, create):
    type_id = create(**TESTED, AnswerKey=KEY.format(""), RetryDelayInSeconds=60, Keywords="a, b")
    shown = mturk.get_qualification_type(QualificationTypeId=type_id)["QualificationType"]
    assert (shown["Test"], shown["TestDurationInSeconds"], shown["RetryDelayInSeconds"]) == (TEST, 300, 60)
    assert (shown["Name"], shown["IsRequestable"], shown["AutoGranted"]) == ("Careful judge", True, False)


def test_a_name_is_taken_once(create, refused):
    create()
    _, turk_code, message = refused(create)
    assert turk_code == "AWS.MechanicalTurk.QualificationTypeAlreadyExists"
    assert message.startswith("You have already created a QualificationType with this name.")


@pytest.mark.parametrize(
    ("different", "code"),
    [
        ({"Test": TEST}, "ParameterValidationError"),
        ({**TESTED, "AutoGranted": True}, "ParameterValidationError"),
        ({"AnswerKey": KEY.format("")}, "ParameterValidationError"),
        ({"AutoGrantedValue": 3}, "ParameterValidationError"),
        ({**TESTED, "TestDurationInSeconds": 0}, "ParameterValidationError"),
        ({**TESTED, "Test": QUESTION}, "RequestError"),
        ({**TESTED, "AnswerKey": TEST}, "RequestError"),
        ({**TESTED, "AnswerKey": KEY.format("").replace(">1<", ">one<")}, "RequestError"),
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
        return [type["Name"] for type in listed]

    assert names() == ["First", "Second"]
    assert names(MustBeRequestable=True) == ["First"]
    assert names(Query="PICTURE") == ["First"]


def test_an_unknown_type_does_not_exist(mturk, refused):
    _, turk_code, _ = refused(mturk.get_qualification_type, QualificationTypeId="3UNKNOWN")
    assert turk_code == "AWS.MechanicalTurk.QualificationTypeDoesNotExist"


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


def test_a_qualification_nobody_gave_does_not_exist(mturk, create, worker, refused):
    named = {"QualificationTypeId": create(), "WorkerId": worker}
    for call in (mturk.get_qualification_score, mturk.disassociate_qualification_from_worker):
        assert refused(call, **named)[1] == "AWS.MechanicalTurk.QualificationDoesNotExist"


def test_a_worker_unknown_in_this_environment_is_an_invalid_value(mturk, create, refused):
    named = {"QualificationTypeId": create(), "WorkerId": "ASANDBOXWORKER"}
    code, turk_code, message = refused(mturk.associate_qualification_with_worker, **named)
    assert (code, turk_code) == ("ParameterValidationError", None)
    assert message.startswith('The value "ASANDBOXWORKER" is not valid for the parameter WorkerId.')


def test_workers_are_told_of_a_qualification_unless_that_is_turned_off(mturk, world, create, worker):
    quiet, loud = create(Name="Quiet"), create(Name="Loud")
    mturk.associate_qualification_with_worker(QualificationTypeId=quiet, WorkerId=worker, SendNotification=False)
    mturk.associate_qualification_with_worker(QualificationTypeId=loud, WorkerId=worker)
    mturk.disassociate_qualification_from_worker(QualificationTypeId=loud, WorkerId=worker, Reason="Too hasty")
    told = [(message.subject, message.text) for message in world.dashboard(worker)["messages"]]
    assert told == [
        ("Your qualification Loud was revoked", "Too hasty"),
        ("You were given the qualification Loud", "d"),
    ]


def test_what_grants_itself_is_granted_at_once(mturk, world, create, worker):
    type_id = create(AutoGranted=True, AutoGrantedValue=5)
    assert world.request_qualification(type_id, worker) == {"Status": "Granted", "IntegerValue": 5}
    assert value(mturk, type_id, worker) == 5


def test_a_request_without_a_test_waits_for_the_requester(mturk, world, create, worker):
    type_id = create()
    assert world.request_qualification(type_id, worker) == {"Status": "Pending"}
    (request,) = mturk.list_qualification_requests(QualificationTypeId=type_id)["QualificationRequests"]
    mturk.accept_qualification_request(QualificationRequestId=request["QualificationRequestId"], IntegerValue=80)
    assert value(mturk, type_id, worker) == 80
    assert mturk.list_qualification_requests()["QualificationRequests"] == []


def test_a_test_without_a_key_waits_with_its_answers(mturk, world, create, worker):
    world.request_qualification(create(**TESTED), worker, {"q1": ["no"], "why": "the dog & cat"})
    (request,) = mturk.list_qualification_requests()["QualificationRequests"]
    assert "<SelectionIdentifier>no</SelectionIdentifier>" in request["Answer"]
    assert "<FreeText>the dog &amp; cat</FreeText>" in request["Answer"]


def test_a_refused_request_tells_the_worker_why(mturk, world, create, worker, refused):
    world.request_qualification(create(), worker)
    (request,) = mturk.list_qualification_requests()["QualificationRequests"]
    id = {"QualificationRequestId": request["QualificationRequestId"]}
    mturk.reject_qualification_request(**id, Reason="Not this time")
    assert world.dashboard(worker)["messages"][0].text == "Not this time"
    assert refused(mturk.accept_qualification_request, **id)[1] == "AWS.MechanicalTurk.QualificationRequestDoesNotExist"


RANGES = (
    "<QualificationValueMapping><RangeMapping><SummedScoreRange><InclusiveLowerBound>2</InclusiveLowerBound>"
    "<InclusiveUpperBound>2</InclusiveUpperBound><QualificationValue>50</QualificationValue></SummedScoreRange>"
    "<OutOfRangeQualificationValue>7</OutOfRangeQualificationValue></RangeMapping></QualificationValueMapping>"
)


@pytest.mark.parametrize(
    ("mapping", "right", "wrong"),
    [
        ("", 2, 1),
        ("<PercentageMapping><MaximumSummedScore>3</MaximumSummedScore></PercentageMapping>", 67, 33),
        ("<ScaleMapping><SummedScoreMultiplier>2.5</SummedScoreMultiplier></ScaleMapping>", 5, 3),
        (RANGES, 50, 7),
    ],
)
def test_a_key_scores_the_test(world, create, mapping, right, wrong):
    wrapped = (
        mapping if mapping.startswith("<Qual") else f"<QualificationValueMapping>{mapping}</QualificationValueMapping>"
    )
    type_id = create(**TESTED, AnswerKey=KEY.format(wrapped))
    given = [
        world.request_qualification(type_id, world.register_worker(), {"q1": answer})["IntegerValue"]
        for answer in (["yes"], ["no"], ["yes", "no"])
    ]
    assert given == [right, wrong, wrong]


def test_without_a_retry_delay_there_is_one_attempt_ever(world, create, worker):
    type_id = create(**TESTED, AnswerKey=KEY.format(""))
    world.request_qualification(type_id, worker, {"q1": ["no"]})
    world.move_clock(by=timedelta(days=365))
    with pytest.raises(Refusal, match="can be asked for once"):
        world.request_qualification(type_id, worker, {"q1": ["yes"]})


def test_a_retry_waits_for_its_delay(world, create, worker):
    type_id = create(**TESTED, AnswerKey=KEY.format(""), RetryDelayInSeconds=3600)
    world.request_qualification(type_id, worker, {"q1": ["no"]})
    with pytest.raises(Refusal, match="again from 2026-03-02 13:00:00 UTC on"):
        world.request_qualification(type_id, worker, {"q1": ["yes"]})
    world.move_clock(by=timedelta(hours=1))
    assert world.request_qualification(type_id, worker, {"q1": ["yes"]})["IntegerValue"] == 2


def test_a_request_that_waits_is_not_made_again(world, create, worker):
    type_id = create(RetryDelayInSeconds=0)
    world.request_qualification(type_id, worker)
    with pytest.raises(Refusal, match="has not answered yet"):
        world.request_qualification(type_id, worker)


def test_a_test_ends_when_its_time_has_run_out_and_that_was_an_attempt(world, create, worker):
    type_id = create(**TESTED, AnswerKey=KEY.format(""))
    assert world.begin_test(type_id, worker)["Test"] == TEST
    world.move_clock(by=timedelta(seconds=301))
    with pytest.raises(Refusal):
        world.request_qualification(type_id, worker, {"q1": ["yes"]})


def test_a_test_that_is_begun_twice_runs_from_the_first_time(world, create, worker):
    type_id = create(**TESTED)
    first = world.begin_test(type_id, worker)["Deadline"]
    world.move_clock(by=timedelta(seconds=100))
    assert world.begin_test(type_id, worker)["Deadline"] == first


def test_a_test_cannot_be_skipped_and_what_has_none_cannot_be_begun(world, create, worker):
    with pytest.raises(Refusal, match="its answers are missing"):
        world.request_qualification(create(**TESTED), worker)
    with pytest.raises(Refusal, match="has no test"):
        world.begin_test(create(Name="Other"), worker)


def test_an_inactive_type_cannot_be_asked_for(world, create, worker):
    type_id = create(QualificationTypeStatus="Inactive")
    with pytest.raises(Refusal, match="no qualification"):
        world.request_qualification(type_id, worker)
    assert world.requestable(worker) == []


def test_a_worker_sees_what_they_hold_and_may_ask_for(mturk, world, create, worker):
    held, open_type = create(Name="Held"), create(Name="Open")
    mturk.associate_qualification_with_worker(QualificationTypeId=held, WorkerId=worker, IntegerValue=3)
    seen = {each["type_id"]: (each["is_granted"], each["value"], each["why_not"]) for each in world.requestable(worker)}
    assert seen == {held: (True, 3, ""), open_type: (False, None, "")}
