"""Logging in and out, and who is locked out."""

from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

GUESSER, OWNER, ELSEWHERE = "203.0.113.7", "198.51.100.4", "192.0.2.1"


def test_logging_in_leads_to_where_one_was_going(stranger):
    User.objects.create_user("ada", password="a long passphrase")
    answer = stranger.post("/login/", {"username": "ada", "password": "a long passphrase", "next": "/rounds/"})
    assert answer.url == "/rounds/"


def test_a_wrong_password_is_refused(stranger):
    User.objects.create_user("ada", password="a long passphrase")
    answer = stranger.post("/login/", {"username": "ada", "password": "wrong"})
    assert answer.context["form"].errors
    assert stranger.get("/").status_code == 302


def test_logging_out_closes_the_door(member):
    assert member.post("/logout/").url == "/login/"
    assert member.get("/").status_code == 302


def test_login_never_leads_to_another_site(stranger):
    User.objects.create_user("ada", password="a long passphrase")
    data = {"username": "ada", "password": "a long passphrase", "next": "https://evil.example/"}
    assert stranger.post("/login/", data).url == "/"


@pytest.mark.parametrize(
    ("sent_from", "back_to"),
    [
        ("http://testserver/rounds/draft/?show=all", "/rounds/draft/?show=all"),
        ("https://evil.example/rounds/", "/rounds/draft/publish/"),
        ("", "/rounds/draft/publish/"),
    ],
)
def test_a_form_of_an_ended_session_leads_by_the_login_back_to_its_page(stranger, sent_from, back_to):
    answer = stranger.post("/rounds/draft/publish/", {"reward": "1"}, headers={"Referer": sent_from})
    assert (answer.status_code, parse_qs(urlsplit(answer.url).query)["next"]) == (302, [back_to])


# The lock


@pytest.fixture
def ada(db) -> User:
    return User.objects.create_user("ada", password="a long passphrase")


def log_in(address: str, password: str = "a long passphrase", *, forwarded: str = "") -> int:
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    form = {"username": "ada", "password": password}
    return Client(REMOTE_ADDR=address, **headers).post("/login/", form).status_code


def guess(times: int, *addresses: str, **how: str) -> int:
    """Guess from each address this often; the last answer."""
    return [log_in(address, "wrong", **how) for address in addresses for _ in range(times)][-1]


def test_ten_wrong_passwords_lock_the_address_for_that_account_only(ada):
    assert guess(10, GUESSER) == 429
    assert (log_in(GUESSER), log_in(OWNER)) == (429, 302)


def test_a_guesser_does_not_lock_out_others_behind_a_counted_proxy(ada, settings):
    settings.PROXY_COUNT = 1
    assert guess(10, "10.0.0.1", forwarded=GUESSER) == 429
    assert log_in("10.0.0.1", forwarded=OWNER) == 302


def test_an_address_that_a_guesser_makes_up_unlocks_nothing(ada, settings):
    for proxies in (0, 1):
        settings.PROXY_COUNT = proxies
        for number in range(10):
            log_in(GUESSER, "wrong", forwarded=f"192.0.2.{number}, {GUESSER}")
        assert log_in(GUESSER, forwarded=f"192.0.2.99, {GUESSER}") == 429


def test_many_addresses_together_are_stopped_before_they_have_guessed_long(ada):
    guess(9, *[f"203.0.113.{host}" for host in range(6)])
    assert log_in(ELSEWHERE) == 429


def test_the_owner_gets_in_from_where_they_did_before_however_many_guess(ada):
    assert log_in(OWNER) == 302
    guess(9, *[f"203.0.113.{host}" for host in range(8)])
    assert (log_in(ELSEWHERE), log_in(OWNER), log_in(OWNER, "wrong")) == (429, 302, 200)


def test_one_address_cannot_use_up_what_all_may_guess(ada):
    guess(60, GUESSER)
    assert log_in(ELSEWHERE) == 302


def test_a_right_password_forgives_the_wrong_ones_before_it(ada):
    for _ in range(3):
        guess(6, OWNER)
        assert log_in(OWNER) == 302
