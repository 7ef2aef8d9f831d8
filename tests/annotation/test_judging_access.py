"""Who may see and do what with which link, and the pictures behind it."""

import pytest
from django.core import signing
from django.test import Client

from annotation.judging import links
from annotation.models import Assignment, Judgment
from hits.models import Round
from tests.annotation.answering import address, home_of, leased, submit
from tests.factories import make_assignment, make_collection, make_round, make_worker


@pytest.fixture
def made(db) -> Round:
    return make_round()


@pytest.fixture
def assignment(made) -> Assignment:
    return leased(made)


@pytest.mark.parametrize("name", ["task", "receipt"])
@pytest.mark.parametrize("token", ["x", "MQ:1x:forged"])
def test_a_forged_link_opens_nothing(stranger, assignment, name, token):
    assert stranger.get(f"/judge/task/{token}/" + ("receipt/" if name == "receipt" else "")).status_code == 404


def test_no_part_of_one_workers_link_opens_anothers_hit(stranger, made, assignment):
    other = leased(make_round(made.pool.collection, "other"), worker=make_worker())
    ours, theirs = (links.assignment_token(a).split(":") for a in (assignment, other))
    mixed = ":".join([theirs[0], *ours[1:]])
    for path in ("", "picture/1/"):
        assert stranger.get(f"/judge/task/{mixed}/{path}").status_code == 404
    assert stranger.post(f"/judge/task/{mixed}/return/").status_code == 404


def test_a_link_of_one_kind_does_not_open_the_other(stranger, made, assignment):
    worker_token, task_token = links.worker_token(assignment.worker, made), links.assignment_token(assignment)
    assert stranger.get(f"/judge/task/{worker_token}/").status_code == 404
    assert stranger.get(f"/judge/me/{task_token}/").status_code == 404


def test_an_old_link_says_how_to_go_on(stranger, made, assignment, monkeypatch):
    links = address("task", assignment), home_of(assignment.worker, made)
    future = signing.time.time() + 400 * 86400
    monkeypatch.setattr(signing.time, "time", lambda: future)
    for link in links:
        response = stranger.get(link)
        assert (response.status_code, "This link has expired" in response.text) == (410, True)


def test_a_changed_key_closes_no_link_that_a_worker_has(stranger, made, assignment, settings):
    links = address("task", assignment), home_of(assignment.worker, made)
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = [settings.SECRET_KEY], "the new key"
    assert [stranger.get(link).status_code for link in links] == [200, 200]


def test_a_link_to_a_row_that_is_gone_says_so(stranger, assignment):
    link = address("task", assignment)
    assignment.delete()
    assert stranger.get(link).status_code == 404


@pytest.mark.parametrize(
    ("method", "name"),
    [("get", "draft"), ("get", "give_back"), ("post", "receipt"), ("put", "task"), ("delete", "task")],
)
def test_a_wrong_method_is_refused(stranger, assignment, method, name):
    assert getattr(stranger, method)(address(name, assignment)).status_code == 405


def test_worker_pages_need_no_csrf_cookie(assignment):
    assert submit(Client(enforce_csrf_checks=True), assignment).status_code == 302


def test_pages_are_private_and_tell_no_other_site_their_address(stranger, assignment):
    response = stranger.get(address("task", assignment))
    assert response["Cache-Control"] == "private, no-store"
    assert response["Referrer-Policy"] == "no-referrer"
    assert response["X-Frame-Options"] == "DENY"
    assert "script-src 'self'" in response["Content-Security-Policy"]


# Pictures


def test_a_picture_comes_through_the_hits_own_link(stranger, assignment):
    response = stranger.get(address("picture", assignment, 1))
    assert (response.status_code, response["Content-Type"]) == (200, "image/jpeg")
    assert response["Cache-Control"].startswith("private")
    assert b"".join(response.streaming_content)[:2] == b"\xff\xd8"


def test_no_picture_outside_the_hit_can_be_reached(stranger, assignment):
    assert stranger.get(address("picture", assignment, 99)).status_code == 404


def test_a_missing_picture_is_a_plain_404(stranger, db):
    bare = leased(make_round(make_collection(pictures=False)))
    assert stranger.get(address("picture", bare, 1)).status_code == 404


def test_pictures_close_with_the_hit(stranger, assignment):
    submit(stranger, assignment)
    assert stranger.get(address("picture", assignment, 1)).status_code == 404


def test_a_second_worker_gets_their_own_seat_of_the_same_hit(stranger, made):
    twice = make_round(made.pool.collection, "twice", replication=2)
    seats = twice.hits.get().seats.all()
    first, second = (make_assignment(seat) for seat in seats)
    for assignment in (first, second):
        assert submit(stranger, assignment).status_code == 302
    assert Judgment.objects.count() == 8
