"""Pages while the database cannot be reached."""

from collections.abc import Callable
from errno import ENOSPC, EROFS

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client

from annotation.models import Judgment
from core.web.middleware import BodyLimit
from tests.annotation.answering import address, leased
from tests.factories import make_round


@pytest.fixture
def visitor() -> Client:
    """A browser that is shown what a server answers, where other tests see the exception."""
    return Client(raise_request_exception=False)


def cut(*_: object, **__: object) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def failing(error: Exception) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


LOST = "Try again in a moment"
FULL = "The disk is full"
READ_ONLY = "The site is read-only"


@pytest.mark.parametrize(
    ("error", "status", "words"),
    [
        (OperationalError("the connection was closed"), 503, LOST),
        (InterfaceError("the connection was closed"), 503, LOST),
        (OperationalError("database or disk is full"), 503, FULL),
        (OSError(ENOSPC, "No space left"), 503, FULL),
        (OperationalError("attempt to write a readonly database"), 503, READ_ONLY),
        (OSError(EROFS, "Read-only file system"), 503, READ_ONLY),
        (ValueError("a mistake of ours"), 500, "Something went wrong"),
    ],
)
def test_each_failure_has_a_status_and_a_page_of_its_own(visitor, db, monkeypatch, error, status, words):
    monkeypatch.setattr("annotation.judging.home.joined_round", failing(error))
    answer = visitor.get("/judge/join/any/")
    assert (answer.status_code, words in answer.text) == (status, True)
    if words == FULL:
        assert "run the study" in answer.text  # whom a worker writes to
    if words == LOST:
        assert (answer["Retry-After"], answer["Cache-Control"]) == ("5", "no-store")


def test_a_database_that_is_lost_outside_a_view_is_answered_with_503(visitor, db, monkeypatch):
    monkeypatch.setattr(BodyLimit, "process_view", failing(OperationalError("the connection was closed")))
    assert visitor.get("/judge/join/any/").status_code == 503


@pytest.mark.service
def test_a_submission_whose_connection_is_cut_is_answered_503_and_stored_once_when_it_is_repeated(
    transactional_db, visitor, monkeypatch
):
    if connection.vendor == "sqlite":
        pytest.skip("SQLite has no connection that could be cut")
    assignment = leased(make_round())
    form = {f"level-{place}": "1" for place in range(1, 5)}
    with monkeypatch.context() as patch:
        patch.setattr("annotation.work.leases.record", cut)
        answer = visitor.post(address("task", assignment), form)
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert not Judgment.objects.exists()
    assert [visitor.post(address("task", assignment), form).status_code for _ in range(2)] == [302, 302]
    assert Judgment.objects.count() == 4
