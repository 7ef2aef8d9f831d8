"""What logs keep of addresses: nothing by which a reader could work, be paid, or log in as another person."""

import logging
import sys
from errno import EDQUOT, ENOSPC

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client

from config import logs
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


# What an outage of the database or the disk leaves in the log


@pytest.fixture
def kept(monkeypatch):
    handler = Kept(logs.MaskedFormatter("%(message)s"), logs.OutageFilter())
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    return handler


def fail_with(error, times=3):
    for number in range(times):
        try:
            raise error
        except Exception:
            logging.getLogger("some.part").exception("part %s failed", number)


OUTAGES = [
    OperationalError("database or disk is full"),
    OperationalError("server closed the connection\n\tunexpectedly"),
    InterfaceError("connection already closed"),
    OSError(ENOSPC, "No space left on device"),
    OSError(EDQUOT, "Quota exceeded"),
]


@pytest.mark.parametrize("error", OUTAGES)
def test_an_outage_is_one_line_with_its_cause(kept, error):
    fail_with(error)
    assert len(kept.lines) == 1
    assert kept.lines[0].startswith("part 0 failed: ")
    assert " ".join(str(error).split()) in kept.lines[0]


def test_the_next_line_comes_a_minute_later_and_counts_what_was_left_out(kept, monkeypatch):
    fail_with(OUTAGES[0])
    monkeypatch.setattr(logs, "monotonic", lambda: 1e9)
    fail_with(OUTAGES[0])
    assert kept.lines[1:] == ["part 0 failed: database or disk is full (2 more like it since the last line)"]


def test_two_outages_at_once_have_a_line_each(kept):
    fail_with(OUTAGES[1])
    fail_with(OUTAGES[3])
    assert len(kept.lines) == 2


@pytest.mark.parametrize("error", [ValueError("a fault of ours"), OperationalError("no such table: hits_round")])
def test_a_fault_of_ours_keeps_each_traceback(kept, error):
    fail_with(error)
    assert sum("Traceback" in line for line in kept.lines) == 3


def test_the_pages_that_an_outage_fails_are_one_line(db, kept, monkeypatch):
    def fail(*_: object) -> None:
        raise OUTAGES[0]

    monkeypatch.setattr("annotation.judging.home.joined_round", fail)
    visitor = Client(raise_request_exception=False)
    assert {visitor.get("/judge/join/any/").status_code for _ in range(5)} == {503}
    assert [line for line in kept.lines if "disk is full" in line] == kept.lines
    assert len(kept.lines) == 1
