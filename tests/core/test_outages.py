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


@pytest.mark.parametrize("error", [OperationalError, InterfaceError])
def test_a_lost_database_is_told_with_503_and_when_to_come_back(visitor, db, monkeypatch, error):
    monkeypatch.setattr("annotation.judging.home.joined_round", failing(error("the connection was closed")))
    answer = visitor.get("/judge/join/any/")
    assert (answer.status_code, answer["Retry-After"], answer["Cache-Control"]) == (503, "5", "no-store")
    assert "Try again in a moment" in answer.text


@pytest.mark.parametrize("error", [OperationalError("database or disk is full"), OSError(ENOSPC, "No space left")])
def test_a_full_disk_is_told_with_503_and_by_its_name(visitor, db, monkeypatch, error):
    monkeypatch.setattr("annotation.judging.home.joined_round", failing(error))
    answer = visitor.get("/judge/join/any/")
    assert answer.status_code == 503
    assert "The disk is full" in answer.text
    assert "please write to" in answer.text


@pytest.mark.parametrize(
    "error", [OperationalError("attempt to write a readonly database"), OSError(EROFS, "Read-only file system")]
)
def test_storage_that_is_read_only_is_named_with_503(visitor, db, monkeypatch, error):
    monkeypatch.setattr("annotation.judging.home.joined_round", failing(error))
    answer = visitor.get("/judge/join/any/")
    assert answer.status_code == 503
    assert "The site is read-only" in answer.text


def test_a_database_that_is_lost_outside_a_view_is_told_too(visitor, db, monkeypatch):
    monkeypatch.setattr(BodyLimit, "process_view", failing(OperationalError("the connection was closed")))
    assert visitor.get("/judge/join/any/").status_code == 503


def test_any_other_failure_is_told_with_500(visitor, db, monkeypatch):
    monkeypatch.setattr("annotation.judging.home.joined_round", failing(ValueError("a mistake of ours")))
    answer = visitor.get("/judge/join/any/")
    assert (answer.status_code, "Something went wrong" in answer.text) == (500, True)


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
