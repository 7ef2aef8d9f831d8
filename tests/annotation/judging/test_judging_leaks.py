"""What a worker's browser receives: nothing about roles, annotators, other people or rows, and no markup
that came with a caption."""

import re
from dataclasses import replace

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from annotation.models import Draft, Payment
from annotation.work.submissions import submit_answers
from corpus.models import Caption, Image
from hits.models import Round, Seat
from mitl.models import Proposal
from tests.annotation.answering import address, home_of, leased, right_answers, submit
from tests.factories import make_assignment, make_collection, make_round, picture

TOKEN = re.compile(r"[\w-]+:[\w-]+:[\w-]{20,}")

SECRET = ["telltale", "secret-folder", "control", "gold", "polarity", "candidate", "score", "rank", "annotator"]

EVIL = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "{{ settings.SECRET_KEY }} {% load static %}",
    "</blockquote></fieldset><h1>gone</h1>",
    "javascript:alert(1)",
    "\u202eright to left\u202c then left",
    "قطة تجلس على الحاسوب",
    "a" * 5000,
    "zero\u200bwidth &amp; &lt;b&gt; entities",
]


@pytest.fixture
def telltale(db) -> Round:
    """A round whose rows have keys and names that are easy to find again."""
    collection = make_collection(images=6)
    for image in Image.objects.all():
        path = default_storage.save(f"secret-folder/telltale-{image.key}.jpg", ContentFile(picture()))
        Image.objects.filter(pk=image.pk).update(file=path, key=f"telltale-{image.key}", file_name="telltale.jpg")
    return make_round(collection, replication=2)


def pages_of(client, assignment):
    """Every answer that the site gives to this worker, headers included."""
    task, home = address("task", assignment), home_of(assignment.worker, assignment.hit.round)
    responses = [client.get(task), client.get(home), client.get(address("picture", assignment, 1))]
    responses.append(client.post(address("draft", assignment), {"place": "1", "level-1": "2"}))
    responses.append(submit(client, assignment, **{"level-1": ""}))
    responses.append(client.get(submit(client, assignment).url))
    responses.append(client.get(home))
    return [(str(r.headers), "" if r.streaming else r.text) for r in responses]


def test_no_role_score_or_name_of_a_file_reaches_the_worker(stranger, telltale):
    for headers, text in pages_of(stranger, leased(telltale)):
        shown = (headers + text).lower()
        for word in SECRET:
            assert word not in shown.replace("cache-control", "").replace("x-content-type-options", ""), word


def test_the_page_is_the_same_whatever_the_roles(stranger, telltale):
    assignment = leased(telltale)
    before = page_of(stranger, assignment)
    telltale.hits.get().items.update(control=None)
    Proposal.objects.all().delete()
    assert page_of(stranger, assignment) == before


def page_of(client, assignment) -> str:
    """The judging page without its tokens and the time."""
    return re.sub(r'data-now="\d*"', "", TOKEN.sub("", client.get(address("task", assignment)).text))


def test_no_key_of_a_row_is_in_the_page(stranger, telltale):
    assignment = leased(telltale)
    collection = telltale.pool.collection
    image = Image.objects.create(pk=7000001, collection=collection, key="far", file_name="far.jpg")
    caption = Caption.objects.create(pk=7000002, collection=collection, key="far", image=image, text="Far away")
    telltale.hits.get().items.filter(place=1).update(id=7000003, image=image, caption=caption)
    page = TOKEN.sub("", stranger.get(address("task", assignment)).text)
    assert "Far away" in page
    assert "700000" not in page


def test_other_peoples_answers_do_not_reach_the_page(stranger, telltale):
    mine, theirs = (make_assignment(seat) for seat in telltale.hits.get().seats.all())
    before = stranger.get(address("task", mine)).text.count(" checked")
    Draft.objects.create(assignment=theirs, item=theirs.hit.items.first(), level=3)
    submit_answers(theirs, answers=right_answers(theirs, level=2), active_seconds=1)
    page = stranger.get(address("task", mine)).text
    assert (before, page.count(" checked")) == (0, 0)
    assert theirs.worker.pseudonym not in page


def test_a_caption_is_text_and_nothing_else(stranger, telltale):
    assignment = leased(telltale)
    for text in EVIL:
        Caption.objects.update(text=text)
        page = stranger.get(address("task", assignment)).text
        shown = re.findall(r'<blockquote[^>]*id="sentence-\d"[^>]*>(.*?)</blockquote>', page, re.S)
        assert len(shown) == 4
        assert not re.search(r"[<>\"']", "".join(shown))
        assert page.count("<script") == 1
        assert page.count("<h1") == 1


def test_no_page_has_inline_script_or_style(stranger, telltale):
    assignment = leased(telltale)
    before = [f"/judge/join/{telltale.join_key}/", home_of(assignment.worker, telltale), address("task", assignment)]
    pages = [stranger.get(one).text for one in before]
    submit(stranger, assignment)
    pages.append(stranger.get(address("receipt", assignment)).text)
    for page in pages:
        assert not re.search(r"\son\w+=|\sstyle=|<style|<script(?![^>]*\ssrc=)", page)


def test_a_picture_is_sent_under_a_neutral_name(stranger, telltale):
    response = stranger.get(address("picture", leased(telltale), 2))
    assert response["Content-Disposition"] == 'inline; filename="picture.jpg"'
    assert not {"Last-Modified", "ETag"} & set(response.headers)


def test_the_outcome_of_the_controls_is_on_no_page_at_once(stranger, telltale, commit):
    shown = {}
    for state in ("accepted", "flagged"):
        assignment = make_assignment(Seat.objects.filter(hit__round=telltale, state="open").first())
        answers = right_answers(assignment)
        if state == "flagged":
            answers = [replace(answer, level=5 - answer.level) for answer in answers]
        with commit(execute=True):
            submit_answers(assignment, answers=answers, active_seconds=60)
        assignment.refresh_from_db()
        assert assignment.state == state
        receipt, home = address("receipt", assignment), home_of(assignment.worker, telltale)
        text = TOKEN.sub("", stranger.get(receipt).text + stranger.get(home).text.partition("Keep this page")[0])
        for own in (assignment.receipt, assignment.worker.pseudonym):
            text = text.replace(own, "")
        shown[state] = re.sub(r'c\d+-\d+-[0-9a-f]{12}|(?:a|\d+)\sseconds? ago|now|"over" content="[0-9a-f]*"', "", text)
    assert shown["accepted"] == shown["flagged"]


def test_the_outcome_is_shown_when_the_work_is_paid(stranger, telltale, commit):
    assignment = leased(telltale)
    with commit(execute=True):
        submit(stranger, assignment)
    assert "being checked" in stranger.get(address("receipt", assignment)).text
    Payment.objects.update(state="paid")
    page = " ".join(stranger.get(address("receipt", assignment)).text.split())
    assert "accepted" in page
    assert "$0.65 <small>paid" in page
