import json

import pytest

from counterpart_emulators.mturk.errors import TurkError
from counterpart_emulators.mturk.validation import MisfitError, operation_model, read_request, write_response


def raw(client) -> list[tuple[dict[str, str], bytes]]:
    """Watch the headers and bodies of a client's answers as they travel."""
    seen: list[tuple[dict[str, str], bytes]] = []

    def note(response_dict, **_):
        seen.append((response_dict["headers"], response_dict["body"]))

    client.meta.events.register("before-parse.mturk", note)
    return seen


def test_instants_travel_as_epoch_numbers_and_money_as_text(mturk, post):
    seen = raw(mturk)
    post()
    shown = json.loads(seen[-1][1])["HIT"]
    assert (shown["CreationTime"], shown["Expiration"], shown["Reward"]) == (1772452800.0, 1772456400.0, "0.65")


def test_a_message_ends_in_the_clocks_epoch_milliseconds(mturk, refused):
    code, turk_code, message = refused(mturk.get_hit, HITId="3NOTHING")
    assert (code, turk_code) == ("RequestError", "AWS.MechanicalTurk.HITDoesNotExist")
    assert message == "Hit 3NOTHING does not exist. (1772452800000)"


def test_an_operation_that_is_not_emulated_says_so_at_once(connect, refused):
    client = connect(attempts=3)
    seen = raw(client)
    code, turk_code, message = refused(client.list_hits_for_qualification_type, QualificationTypeId="3ANY")
    assert len(seen) == 1
    assert (code, turk_code) == ("ServiceFault", "AWS.MechanicalTurk.NotEmulated")
    assert "ListHITsForQualificationType" in message


BAD = [
    ("ListHITs", {"MaxResults": 101}, "Value '101' at 'maxResults'", "less than or equal to 100"),
    ("ListHITs", {"MaxResults": 0}, "at 'maxResults'", "greater than or equal to 1"),
    ("ListHITs", {"NextToken": "x" * 256}, "at 'nextToken'", "length less than or equal to 255"),
    ("GetHIT", {}, "Value null at 'hITId'", "must not be null"),
    ("GetHIT", {"HITId": "lower"}, "Value 'lower' at 'hITId'", "pattern: ^[A-Z0-9]+$"),
    ("ListReviewableHITs", {"Status": "Done"}, "at 'status'", "enum value set: [Reviewable, Reviewing]"),
    ("ListAssignmentsForHIT", {"HITId": "A", "AssignmentStatuses": ["Bad"]}, "assignmentStatuses.1.member", "enum"),
]


@pytest.mark.parametrize(("operation", "body", "where", "what"), BAD)
def test_a_request_out_of_the_models_bounds_is_a_validation_exception(operation, body, where, what):
    with pytest.raises(TurkError) as caught:
        read_request(operation_model(operation), body)
    assert caught.value.code == "ValidationException"
    assert where in caught.value.message
    assert what in caught.value.message


def test_a_price_with_a_currency_sign_is_refused_over_the_wire(mturk, refused):
    wanted = {"Title": "t", "Description": "d", "AssignmentDurationInSeconds": 60, "Reward": "$1.40"}
    code, turk_code, message = refused(mturk.create_hit_type, **wanted)
    assert (code, turk_code) == ("ValidationException", None)
    assert "Value '$1.40' at 'reward'" in message


def test_all_that_is_wrong_is_said_at_once():
    with pytest.raises(TurkError, match="2 validation errors detected"):
        read_request(operation_model("RejectAssignment"), {"AssignmentId": "lower"})


@pytest.mark.parametrize("value", ["12", True])
def test_a_value_of_the_wrong_type_cannot_be_read(value):
    with pytest.raises(TurkError) as caught:
        read_request(operation_model("ListHITs"), {"MaxResults": value})
    assert caught.value.code == "SerializationException"


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ({"AvailableBalance": "10,000"}, "availableBalance"),
        ({"AvailableBalance": "1.00", "Currency": "USD"}, "currency"),
        ({"AvailableBalance": 1}, "String"),
    ],
)
def test_a_response_that_does_not_fit_the_model_is_never_sent(result, says):
    with pytest.raises(MisfitError, match=says):
        write_response(operation_model("GetAccountBalance"), result)


def test_a_misfit_shows_as_a_fault_of_the_emulator(emulator, mturk, refused, monkeypatch):
    monkeypatch.setattr(emulator.world, "call", lambda *_: {"AvailableBalance": "much"})
    code, turk_code, _ = refused(mturk.get_account_balance)
    assert (code, turk_code) == ("ServiceFault", "AWS.MechanicalTurk.EmulatorFault")
