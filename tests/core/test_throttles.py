"""How often an address may do something, and which address that is."""

import time

import pytest
from django.core.cache import cache
from django.test import RequestFactory

from core.web.throttles import Throttle, client_address

LIMIT = Throttle("JOINS_PER_HOUR")


@pytest.fixture(autouse=True)
def three_an_hour(settings):
    settings.JOINS_PER_HOUR = 3
    cache.clear()


def asked(address: str = "203.0.113.7", forwarded: str = ""):
    headers = {"HTTP_X_FORWARDED_FOR": forwarded} if forwarded else {}
    return RequestFactory().get("/", REMOTE_ADDR=address, **headers)


def admitted(*addresses: str, subject: object = 1) -> list[bool]:
    return [LIMIT.admits(asked(address), subject) for address in addresses]


@pytest.mark.parametrize(
    ("proxies", "forwarded", "address"),
    [
        (0, "", "10.0.0.1"),
        (0, "6.6.6.6", "10.0.0.1"),  # a visitor's own words
        (1, "198.51.100.4", "198.51.100.4"),
        (1, "6.6.6.6, 198.51.100.4", "198.51.100.4"),
        (2, "6.6.6.6,198.51.100.4,10.0.0.2", "198.51.100.4"),
        (2, "198.51.100.4", "198.51.100.4"),
        (1, "", "10.0.0.1"),
        (1, "198.51.100.4:51234", "198.51.100.4"),
        (1, "[2001:db8::5]:51234", "2001:db8::"),
        (1, "::1", "::1"),
        (1, "unknown", None),
    ],
)
def test_the_address_is_what_the_last_proxies_saw(settings, proxies, forwarded, address):
    settings.PROXY_COUNT = proxies
    assert client_address(asked("10.0.0.1", forwarded)) == address


def test_the_fourth_act_in_the_hour_that_begins_with_the_first_is_refused(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: 7_000.0)  # which the cache in memory reads
    assert admitted("203.0.113.7") == [True]
    monkeypatch.setattr(time, "time", lambda: 7_300.0)  # past a full hour of the clock
    assert admitted(*["203.0.113.7"] * 3) == [True, True, False]
    monkeypatch.setattr(time, "time", lambda: 10_601.0)
    assert admitted("203.0.113.7") == [True]


def test_another_address_and_another_subject_have_limits_of_their_own():
    admitted(*["203.0.113.7"] * 3)
    assert admitted("203.0.113.8", "::ffff:203.0.113.9") == [True, True]
    assert admitted("203.0.113.7", subject=2) == [True]


def test_a_visitor_with_a_whole_ipv6_network_counts_as_one():
    assert admitted(*[f"2001:db8::{host}" for host in range(1, 5)]) == [True, True, True, False]
    assert admitted("2001:db8:0:1::1") == [True]


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "::ffff:127.0.0.1"])
def test_this_computer_is_not_limited(address):
    assert all(admitted(*[address] * 5))


def test_visitors_of_unknown_address_count_as_one(settings):
    assert admitted("", "", "203.0.113.7", "", "") == [True, True, True, True, False]
    settings.PROXY_COUNT = 1
    unclear = [asked("10.0.0.1", words) for words in ("not-an-ip", "unknown")]
    others = [*unclear, *unclear, asked("10.0.0.1", "198.51.100.4")]
    assert [LIMIT.admits(request, 2) for request in others] == [True, True, True, False, True]


def test_without_a_cache_no_visitor_is_refused(monkeypatch):
    def broken(*args, **kwargs):
        raise ConnectionError("no Redis")

    monkeypatch.setattr(cache, "add", broken)
    assert all(admitted(*["203.0.113.7"] * 5))
