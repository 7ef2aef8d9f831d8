"""What an outage of the database or the disk leaves in the log."""

import logging
from errno import EDQUOT, ENOSPC

import pytest
from django.db import InterfaceError, OperationalError
from django.test import Client

from config import logs
from tests.project.log_lines import Kept


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
