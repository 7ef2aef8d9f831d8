import re

import pytest

from console.api.access_tokens import find_token, looks_like_token, make_token, revoke_token
from core.errors import CounterpartError
from core.models import Event


def test_a_token_has_the_form_that_scanners_know(person):
    _, text = make_token(person, "ci", ["data:read"])
    assert re.fullmatch(r"cp_[0-9A-Za-z]{57}", text)
    assert looks_like_token(text)


@pytest.mark.parametrize("change", [lambda text: text[:-1], lambda text: f"{text}0", lambda text: text.swapcase()])
def test_the_checksum_finds_a_mistyped_token(person, change):
    _, text = make_token(person, "ci", ["data:read"])
    assert not looks_like_token(change(text))


def test_the_checksum_of_a_worked_case():
    """CRC-32 of cp_ and 51 zeros is 0x6CE5A5E4 = 1826989540, which is 1*62^5 + 61*62^4 + ... in base 62."""
    import zlib

    body = "cp_" + "0" * 51
    value, digits = zlib.crc32(body.encode()), "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    slow = ""
    for place in range(5, -1, -1):
        slow += digits[value // 62**place % 62]
    assert looks_like_token(body + slow)


def test_the_secret_is_stored_nowhere(person):
    token, text = make_token(person, "ci", ["data:read"])
    stored = repr(vars(token)) + repr([vars(event) for event in Event.objects.all()])
    assert text[11:54] not in stored
    assert token.identifier in text


def test_a_token_is_found_by_its_text_alone(person):
    token, text = make_token(person, "ci", ["data:read"])
    other, other_text = make_token(person, "other", ["data:read"])
    assert find_token(text) == token
    assert find_token(other_text) == other
    assert find_token("") is None
    assert find_token("cp_é" + text[4:]) is None


def test_making_and_revoking_leave_events(person):
    token, _ = make_token(person, "ci", ["jobs:read", "data:read"])
    assert revoke_token(token, by=person)
    assert not revoke_token(token, by=person)
    verbs = [(event.verb, event.data) for event in Event.objects.order_by("pk")]
    assert verbs == [("token made", {"scopes": "data:read, jobs:read"}), ("token revoked", {})]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"scopes": []}, "no scope"),
        ({"scopes": ["all"]}, "role does not allow 1 scope: all"),
        ({"scopes": ["rounds:spend"]}, "role does not allow 1 scope: rounds:spend"),
        ({"days": 366}, "Invalid number of days 366"),
        ({"networks": ["10.0.0.1/8"]}, "Invalid network"),
        ({"name": " "}, "The name is empty"),
    ],
)
def test_invalid_wishes_are_refused(person, change, message):
    with pytest.raises(CounterpartError, match=message):
        make_token(person, **{"name": "ci", "scopes": ["data:read"], **change})
