import pytest

from tests.mturk.conftest import TYPE

MASTERS = "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH"
LOCALE, RATE = "00000000000000000071", "000000000000000000L0"


def test_the_same_values_are_the_same_type(mturk):
    first, again = mturk.create_hit_type(**TYPE), mturk.create_hit_type(**TYPE)
    assert first["HITTypeId"] == again["HITTypeId"]


@pytest.mark.parametrize(
    "different",
    [
        {"Title": "Other"},
        {"Reward": "0.66"},
        {"AutoApprovalDelayInSeconds": 0},
        {"QualificationRequirements": [{"QualificationTypeId": MASTERS, "Comparator": "Exists"}]},
    ],
)
def test_other_values_are_another_type(mturk, different):
    assert mturk.create_hit_type(**TYPE)["HITTypeId"] != mturk.create_hit_type(**TYPE | different)["HITTypeId"]


@pytest.mark.parametrize(
    ("different", "says"),
    [
        ({"AssignmentDurationInSeconds": 29}, "The value 29 is invalid for AssignmentDurationInSeconds. Valid values"),
        ({"AutoApprovalDelayInSeconds": 2_592_001}, "range from 0 to 2592000"),
        ({"Title": "x" * 129}, "Title is too long; the maximum is 128"),
        ({"Title": " "}, "Title is empty"),
    ],
)
def test_values_beyond_the_documented_limits_are_refused(mturk, refused, different, says):
    code, turk_code, message = refused(mturk.create_hit_type, **TYPE | different)
    assert (code, turk_code) == ("ParameterValidationError", None)
    assert says in message


@pytest.mark.parametrize(
    "requirement",
    [
        {"QualificationTypeId": RATE, "Comparator": "Exists", "IntegerValues": [1]},
        {"QualificationTypeId": RATE, "Comparator": "EqualTo", "IntegerValues": [1, 2]},
        {"QualificationTypeId": RATE, "Comparator": "GreaterThan"},
        {"QualificationTypeId": RATE, "Comparator": "In", "IntegerValues": list(range(16))},
        {"QualificationTypeId": RATE, "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}]},
        {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "IntegerValues": [1]},
        {"QualificationTypeId": LOCALE, "Comparator": "LessThan", "LocaleValues": [{"Country": "US"}]},
        {"QualificationTypeId": LOCALE, "Comparator": "EqualTo", "LocaleValues": [{"Country": "US"}] * 2},
        {"QualificationTypeId": LOCALE, "Comparator": "NotIn", "LocaleValues": [{"Country": "US"}] * 31},
        {
            "QualificationTypeId": MASTERS,
            "Comparator": "Exists",
            "RequiredToPreview": True,
            "ActionsGuarded": "Accept",
        },
    ],
)
def test_a_requirement_that_makes_no_sense_is_refused(mturk, refused, requirement):
    code, _, _ = refused(mturk.create_hit_type, **TYPE, QualificationRequirements=[requirement])
    assert code == "ParameterValidationError"


def test_sets_may_have_fifteen_integers_and_thirty_locales(mturk):
    requirements = [
        {"QualificationTypeId": RATE, "Comparator": "In", "IntegerValues": list(range(15))},
        {"QualificationTypeId": LOCALE, "Comparator": "NotIn", "LocaleValues": [{"Country": "US"}] * 30},
    ]
    assert mturk.create_hit_type(**TYPE, QualificationRequirements=requirements)["HITTypeId"]


def test_a_type_has_at_most_ten_requirements(mturk, refused):
    one = {"QualificationTypeId": MASTERS, "Comparator": "Exists"}
    assert mturk.create_hit_type(**TYPE, QualificationRequirements=[one] * 10)["HITTypeId"]
    assert "at most 10" in refused(mturk.create_hit_type, **TYPE, QualificationRequirements=[one] * 11)[2]


def test_a_requirement_of_an_unknown_type_is_refused(mturk, refused):
    unknown = [{"QualificationTypeId": "3UNKNOWN", "Comparator": "Exists"}]
    _, turk_code, message = refused(mturk.create_hit_type, **TYPE, QualificationRequirements=unknown)
    assert turk_code == "AWS.MechanicalTurk.QualificationTypeDoesNotExist"
    assert "3UNKNOWN" in message
