"""What logs keep of addresses: nothing by which a reader could work, be paid, or log in as another person."""

import logging
import sys

import pytest

from config.logs import MaskedFormatter, RefusalFilter, masked
from tests.project.log_lines import Kept, access_line, logged

# Of no key and always the same: the tests' names contain it, and each process of a run must collect the same names.
TOKEN = "WyIwMTIzNDU2Nzg5YWIiLDcsMF0:1xVAta:EmYWVsZUViUUQyierZP0u0LlWjckUAIYScl4Dlsgd-s"
PASSWORD_TOKEN = "d3k2v7-0a1b2c3d4e5f60718293a4b5c6d7e8f9"


@pytest.mark.parametrize(
    ("address", "kept"),
    [
        ("/judge/at/mturk/emulator/?workerId=AWORKERONE&x=1", "/judge/at/mturk/emulator/***"),
        (f"/judge/me/{TOKEN.replace(':', '%3A')}/", "/judge/me/***/"),
        ("/password/forgotten/", "/password/forgotten/"),
        (f"no view for token {PASSWORD_TOKEN!r}", "no view for token '***'"),
        (f"no view for argument {TOKEN!r}", "no view for argument '***'"),
        ("/rounds/round-1/", "/rounds/round-1/"),
        ("2026-11-22 14:05:15 Error: 12:30:45", "2026-11-22 14:05:15 Error: 12:30:45"),
    ],
)
def test_secret_parts_of_addresses_are_masked(address, kept):
    """In every route: test_secret_addresses.py."""
    assert masked(f"GET {address} 200") == f"GET {kept} 200"


def test_an_unknown_link_is_masked_in_the_log_of_django(stranger, db):
    with logged(Kept(MaskedFormatter()), "django.request") as lines:
        stranger.get(f"/judge/me/{TOKEN}/")
    assert lines == ["Not Found: /judge/me/***/"]


def test_a_refused_request_is_logged_without_a_traceback(member, db):
    with logged(Kept(MaskedFormatter(), RefusalFilter()), "django.request") as lines:
        assert member.get("/release/").status_code == 403
    assert lines == ["Forbidden (Permission denied): /release/"]


def test_django_writes_no_log_but_a_masked_one(settings):
    assert settings.LOGGING["handlers"]["stderr"]["formatter"] == "plain"
    assert settings.LOGGING["formatters"]["plain"]["()"] == "config.logs.MaskedFormatter"
    assert [handler for handler in logging.getLogger("django").handlers if type(handler) is logging.StreamHandler] == []


def test_an_error_with_its_traceback_is_masked():
    try:
        raise ValueError(f"nothing for {TOKEN}")
    except ValueError:
        record = logging.getLogger("x").makeRecord("x", 40, "f", 1, "at /judge/me/%s/", (TOKEN,), sys.exc_info())
    text = MaskedFormatter().format(record)
    assert "ValueError: nothing for ***" in text
    assert TOKEN not in text


def test_gunicorn_masks_its_access_log_however_it_was_started(tmp_path):
    address = f"/judge/me/{TOKEN}/"
    line = access_line(address, tmp_path / "access.log", form="%(m)s %(U)s %(r)s %(s)s")
    assert line == "GET /judge/me/***/ GET /judge/me/***/ HTTP/1.1 200\n"
