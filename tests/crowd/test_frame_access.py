"""Who may open, frame and see what in a platform's frame."""

import logging

import pytest
from django.core import signing
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from annotation.judging.links import assignment_token
from annotation.models import Assignment, Exclusion, Worker
from annotation.people.workers import worker_for
from crowd.models import Posting
from hits.models import Item, Round
from tests.annotation.answering import leased
from tests.crowd.framing import ORIGIN, claims, confirm, enter, form_of, frame_of, post_hit, save, serve_mturk
from tests.factories import make_round

pytestmark = pytest.mark.usefixtures("framed")

KNOWN = {"channel": "mturk", "environment": "emulator", "external_id": "AWORKERONE"}


def pages_of(client: Client, posting: Posting) -> dict:
    """Every kind of answer that the frame gives."""
    preview = claims(posting) | {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}
    first = client.get(frame_of(claims(posting)))
    return {
        "preview": client.get(frame_of(preview)),
        "trouble": client.get(frame_of(claims(posting) | {"hitId": "UNKNOWN"})),
        "arrival": first,
        "sheet": client.get(first.url),
        "draft": client.post(first.url + "draft/", {"place": "1", "level-1": "1"}),
        "report": client.post(first.url + "draft/", {"place": "1", "problem-1": "text"}),
        "incomplete": client.post(first.url, {"level-1": "1"}),
        "saved": client.post(first.url, form_of(posting)),
        "revisit": client.get(first.url),
    }


def test_no_page_in_the_frame_sets_or_needs_a_cookie(posting):
    client = Client(enforce_csrf_checks=True)
    for name, answer in pages_of(client, posting).items():
        assert "Set-Cookie" not in answer.headers, name
        assert not answer.cookies, name
    assert not client.cookies
    assert Assignment.objects.get().receipt


def test_only_the_platforms_origins_may_frame_our_page_and_take_its_form(stranger, posting, monkeypatch):
    serve_mturk(monkeypatch, ORIGIN, "https://other.example")
    for name, answer in pages_of(stranger, posting).items():
        policy = dict(part.strip().split(" ", 1) for part in answer["Content-Security-Policy"].split(";"))
        assert policy["frame-ancestors"] == f"{ORIGIN} https://other.example", name
        assert policy["form-action"] == f"'self' {ORIGIN} https://other.example", name
        assert policy["default-src"] == "'none'", name
        assert "X-Frame-Options" not in answer, name
        assert answer["Referrer-Policy"] == "no-referrer", name
        assert "no-store" in answer["Cache-Control"]


@pytest.mark.parametrize("path", ["/login/", "/judge/join/none/", "/judge/me/none/", "/judge/at/nowhere/any/"])
def test_no_other_page_may_be_framed(stranger, db, path):
    answer = stranger.get(path)
    assert answer["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_no_worker_id_is_logged(stranger, posting, caplog):
    caplog.set_level(logging.DEBUG)
    pages_of(stranger, posting)
    stranger.get(frame_of(claims(posting) | {"turkSubmitTo": "https://evil.example"}))
    assert "AWORKERONE" not in caplog.text


# Tokens


@pytest.mark.parametrize("token", ["x", "W10:1x:forged"])
def test_a_forged_token_opens_nothing(stranger, posting, token):
    for path in ("", "draft/"):
        method = stranger.post if path == "draft/" else stranger.get
        assert method(f"/judge/at/mturk/emulator/{token}/{path}").status_code == 404


def test_a_token_opens_its_hit_at_its_own_site_and_destination_only(stranger, posting, monkeypatch):
    url = enter(stranger, posting)
    variables = {"ENVIRONMENTS": "emulator,sandbox", "ACCESS_KEY_ID": "k", "SECRET_ACCESS_KEY": "s"}
    for name, value in variables.items():
        monkeypatch.setenv(f"MTURK_{name}", value)
    monkeypatch.setenv("MTURK_SANDBOX_ORIGINS", ORIGIN)
    assert stranger.get(url).status_code == 200
    assert stranger.get(url.replace("emulator", "sandbox")).status_code == 404
    serve_mturk(monkeypatch, "https://other.example")
    assert stranger.get(url).status_code == 404


def test_a_token_of_the_pool_opens_nothing_in_a_frame_and_a_frames_nothing_in_the_pool(stranger, posting):
    pooled = assignment_token(leased(posting.hit.round))
    assert stranger.get(f"/judge/at/mturk/emulator/{pooled}/").status_code == 404
    framed = enter(stranger, posting).split("/")[-2]
    assert stranger.get(f"/judge/task/{framed}/").status_code == 404


def test_an_old_token_leads_back_to_the_platform(stranger, posting, monkeypatch):
    url = enter(stranger, posting)
    future = signing.time.time() + 8 * 86400
    monkeypatch.setattr(signing.time, "time", lambda: future)
    answer = stranger.get(url)
    assert answer.status_code == 410


# Who is turned away


def turned_away(client: Client, posting: Posting, **claimed: str) -> str:
    """Enter, be refused without leaving a claim behind, and read why."""
    before = Assignment.objects.count()
    answer = client.get(frame_of(claims(posting, **claimed)))
    assert answer.status_code in (403, 404, 409, 410)
    assert Assignment.objects.count() == before
    return answer.text


@pytest.mark.parametrize("other", [{"external_id": "OTHER"}, {"environment": "sandbox"}])
def test_an_unknown_posting_says_to_wait_or_return(stranger, posting, other):
    Posting.objects.update(**other)
    turned_away(stranger, posting)
    assert not Worker.objects.exists()


def test_a_closed_round_is_shown_only_to_workers_who_have_accepted(stranger, posting):
    Round.objects.update(closed_at=timezone.now())
    preview = stranger.get(frame_of(claims(posting) | {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}))
    assert (preview.status_code, "This round is closed" in preview.text) == (410, True)
    assert stranger.get(enter(stranger, posting)).status_code == 200


@pytest.mark.parametrize("over", [{"settled_at": timezone.now()}, {"state": "disposed"}])
def test_a_closed_and_settled_round_admits_no_worker(stranger, posting, over):
    Round.objects.update(closed_at=timezone.now())
    Posting.objects.update(**over)
    turned_away(stranger, posting)


def test_an_excluded_worker_is_turned_away_without_the_private_reason_but_may_end_what_they_began(stranger, posting):
    Exclusion.objects.create(worker=worker_for(**KNOWN), reason="private", by="robin")
    assert "private" not in turned_away(stranger, posting)
    Exclusion.objects.update(lifted_at=timezone.now())
    assert enter(stranger, posting)
    Exclusion.objects.create(worker=worker_for(**KNOWN), reason="later", by="robin")
    assert "Send to the platform" in save(stranger, posting).text


def test_a_pair_that_the_worker_judged_elsewhere_is_not_asked_again(stranger, posting):
    leased(posting.hit.round, worker=worker_for(**KNOWN))
    assert "4 of the 4 pairs" in turned_away(stranger, posting)


@pytest.fixture
def sharing(db) -> list[Posting]:
    """Two postings of HITs that share a pair."""
    first, second = make_round(hits=2).hits.all()
    shared = first.items.get(place=1)
    Item.objects.filter(hit=second, place=1).update(image=shared.image, caption=shared.caption)
    return [post_hit(first, "HIT1"), post_hit(second, "HIT2")]


def test_unconfirmed_work_turns_no_worker_away(stranger, client, sharing):
    """Another visitor may have saved it in their name."""
    save(stranger, sharing[0], assignment="MADEUP")
    assert enter(client, sharing[1], assignment="A2")
    confirm(Assignment.objects.get(outside_key="MADEUP"))
    assert "1 of the 4 pairs" in turned_away(client, sharing[1], assignment="A3")


# Assignment ids that the platform hands out again


def test_a_reissued_assignment_shows_another_worker_nothing_of_the_first(stranger, posting):
    first, second = enter(stranger, posting), enter(stranger, posting, worker="AWORKERTWO")
    stranger.post(first + "draft/", {"place": "1", "level-1": "4"})
    assert " checked" not in stranger.get(second).text
    stranger.post(second, form_of(posting, level=1))
    levels = [{draft.level for draft in claim.drafts.all()} for claim in Assignment.objects.all()]
    assert sorted(map(sorted, levels)) == [[1], [4]]
    assert Assignment.objects.exclude(receipt="").get().worker.identities.get().external_id == "AWORKERTWO"


def test_a_submitted_assignment_is_closed_to_other_workers(stranger, posting):
    save(stranger, posting)
    confirm(Assignment.objects.get())
    turned_away(stranger, posting, worker="AWORKERTWO")
    assert not Worker.objects.filter(identities__external_id="AWORKERTWO").exists()


def test_a_turn_stays_with_the_posting_it_began_at(stranger, db):
    first, second = (post_hit(hit, f"HIT{hit.number}") for hit in make_round(hits=2).hits.all())
    enter(stranger, first)
    turned_away(stranger, second)


@pytest.mark.parametrize(("failure", "status"), [(RuntimeError("broken"), 500), (OperationalError("lost"), 503)])
def test_the_page_of_an_error_is_shown_in_the_frame_too(posting, monkeypatch, failure, status):
    def fail(*args, **kwargs):
        raise failure

    monkeypatch.setattr("crowd.views.render", fail)
    client = Client(raise_request_exception=False)
    answer = client.get(frame_of(claims(posting) | {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}))
    assert answer.status_code == status
    assert f"frame-ancestors {ORIGIN}" in answer["Content-Security-Policy"]
    assert "X-Frame-Options" not in answer
    assert "Back to the home page" not in answer.text
