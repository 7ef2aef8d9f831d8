"""The judging page in a platform's frame, from the preview to what the platform confirmed."""

import re
from copy import copy

import pytest

from annotation.models import Assignment, Draft, Judgment, Report, Worker, WorkerIdentity
from annotation.work.answers import decode_answers, drafted_answers, places_of
from core.models import Event
from crowd.models import Visit
from tests.crowd.framing import FRAME, ORIGIN, claims, confirm, enter, form_of, frame_of, post_hit, save
from tests.factories import make_round

pytestmark = pytest.mark.usefixtures("framed")

PREVIEW = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"}


def fields_sent(page: str) -> dict[str, str]:
    """The hidden fields of the form that goes to the platform."""
    form = re.search(r'<form method="post" id="sending" action="([^"]*)">(.*?)</form>', page, re.S)
    fields = dict(re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', form[2]))
    return {"to": form[1], **fields}


# Preview


@pytest.mark.parametrize("without", [[], ["workerId", "turkSubmitTo"]])
def test_a_preview_shows_the_terms_no_pair_and_nothing_to_use_and_stores_nothing(stranger, posting, settings, without):
    settings.CONTACT = "judging@example.org"
    fields = {name: value for name, value in (claims(posting) | PREVIEW).items() if name not in without}
    page = stranger.get(frame_of(fields)).text
    for words in ("Preview", "4 pairs", "$0.65", "5–10 minutes", "100% YES", "mailto:judging@example.org", "Examples"):
        assert words in page
    assert "<input" not in page
    assert "<form" not in page
    assert not any(text in page for text in posting.hit.items.values_list("caption__text", flat=True))
    assert not any(model.objects.exists() for model in (Assignment, Worker, Event))


# Arrival


def test_arriving_makes_a_worker_and_their_claim_once(stranger, posting):
    for _ in range(2):
        enter(stranger, posting)
    assert Assignment.objects.count() == Worker.objects.count() == Event.objects.filter(verb="opened").count() == 1
    claim = Assignment.objects.get()
    assert "AWORKERONE" not in enter(stranger, posting)
    assert (claim.outside_key, claim.visit.posting, claim.hit) == ("ASSIGNED", posting, posting.hit)
    assert (claim.state, claim.seat, claim.visit.state, claim.drafts.count()) == ("leased", None, "", 0)
    assert claim.worker.consented_at is None  # until the platform confirms that they accepted the HIT
    identity = claim.worker.identities.get()
    assert (identity.channel, identity.environment, identity.external_id) == ("mturk", "emulator", "AWORKERONE")
    assert posting.hit.seats.get().state == "open"


def test_content_follows_the_posting_and_not_who_comes_first(stranger, db):
    first, second = make_round(hits=2).hits.all()
    posts = {hit: post_hit(hit, f"HIT{hit.number}") for hit in (first, second)}
    for hit in (second, first):
        url = enter(stranger, posts[hit], assignment=f"A{hit.number}", worker=f"AWORKER{hit.number}")
        sentences = re.findall(r'<blockquote[^>]*id="sentence-\d"[^>]*>(.*?)</blockquote>', stranger.get(url).text)
        assert sorted(sentences) == sorted(hit.items.values_list("caption__text", flat=True))


def test_equal_values_sent_twice_are_one_and_unequal_ones_are_refused(stranger, posting):
    fields = claims(posting)
    assert stranger.get(frame_of(fields | {"workerId": ["AWORKERONE"] * 2})).status_code == 302
    refused = stranger.get(frame_of(fields | {"workerId": ["AWORKERONE", "AWORKERTWO"]}))
    assert (refused.status_code, Worker.objects.count()) == (400, 1)
    assert "different values" in refused.text


@pytest.mark.parametrize(
    "change",
    [
        {"turkSubmitTo": "https://evil.example"},
        {"workerId": ""},
        {"workerId": "AB"},
        {"assignmentId": "<b>"},
        {"hitId": ""},
    ],
)
def test_an_address_that_the_platform_does_not_make_stores_nothing(stranger, posting, change):
    answer = stranger.get(frame_of(claims(posting) | change))
    assert (answer.status_code, Worker.objects.count()) == (400, 0)
    assert "Go back to the platform" in answer.text


@pytest.mark.parametrize("path", ["/judge/at/mturk/production/", "/judge/at/mturk/moon/", "/judge/at/browser/any/"])
def test_a_platform_that_is_not_to_be_used_here_leads_nowhere(stranger, posting, path):
    answer = stranger.get(frame_of(claims(posting)).replace(FRAME, path))
    assert (answer.status_code, Worker.objects.count()) == (404, 0)


# Judging


def test_drafts_are_kept_and_shown_again(stranger, posting):
    url = enter(stranger, posting)
    assert stranger.post(url + "draft/", {"place": "2", "level-2": "3"}).json() == {"errors": {}}
    again = stranger.get(enter(stranger, posting)).text
    assert re.findall(r'name="(level-\d)" value="(\d)"[^>]* checked', again) == [("level-2", "3")]
    stranger.post(url + "draft/", {"place": "2"})
    assert not Draft.objects.exists()


def test_pictures_have_links_of_their_own(stranger, posting):
    sheet = stranger.get(enter(stranger, posting)).text
    pictures = re.search(r'src="(/judge/picture/[^"]+/)1/\?seal=[^"]+size=800"', sheet)[1]
    answer = stranger.get(pictures + "1/")
    assert b"".join(answer.streaming_content)[:2] == b"\xff\xd8"
    assert stranger.get(pictures + "99/").status_code == 404
    confirm(Assignment.objects.get())
    assert stranger.get(pictures + "1/").status_code == 404


def test_a_hit_that_another_worker_has_submitted_is_refused_with_a_sentence(stranger, posting):
    first = enter(stranger, posting)
    stranger.post(first + "draft/", {"place": "1", "level-1": "2"})
    second = enter(stranger, posting, worker="AWORKERTWO")
    confirm(Assignment.objects.get(worker__identities__external_id="AWORKERTWO"))
    for answer in (
        stranger.get(first),
        stranger.post(first + "draft/", {"place": "2", "level-2": "2"}),
        stranger.post(first, form_of(posting)),
    ):
        assert answer.status_code == 409
    theirs = Assignment.objects.get(worker__identities__external_id="AWORKERONE")
    assert (theirs.receipt, theirs.drafts.count()) == ("", 1)
    assert stranger.get(second).status_code == 200


@pytest.mark.parametrize("other", [{"channel": "prolific"}, {"environment": "sandbox"}])
def test_an_equal_assignment_id_of_another_marketplace_blocks_no_worker(stranger, posting, other):
    """Ids are only unique on one marketplace."""
    sheet = enter(stranger, posting)
    theirs = copy(Assignment.objects.get())
    theirs.pk, theirs.worker = None, Worker.objects.create()
    theirs.save()
    elsewhere = {**posting.market, **other, "external_id": "ASSIGNED"}
    Visit.objects.create(assignment=theirs, posting=posting, worker=theirs.worker, state="submitted", **elsewhere)
    assert stranger.get(sheet).status_code == 200


# Saving and sending


def test_saving_stores_everything_first_and_the_platforms_id_in_one_table_only(stranger, posting):
    page = save(stranger, posting).text
    claim = Assignment.objects.get()
    assert (claim.state, claim.visit.state, claim.active_seconds) == ("leased", "", 0)
    assert claim.drafts.count() == 4
    assert fields_sent(page) == {
        "to": f"{ORIGIN}/mturk/externalSubmit",
        "assignmentId": "ASSIGNED",
        "answers": "1.1.1.1",
        "receipt": claim.receipt,
    }
    assert not Judgment.objects.exists()
    assert WorkerIdentity.objects.get().external_id == "AWORKERONE"
    assert not any("AWORKERONE" in str(event.__dict__) for event in Event.objects.all())


def test_either_copy_of_the_labels_says_the_same(stranger, db):
    posting = post_hit(make_round(reasons=True).hits.get())
    reasons = {"level-2": "3", "shortcoming-2": "wrong_way", "wrong_way-2": "color", "level-3": "2"}
    url = enter(stranger, posting)
    page = stranger.post(url, form_of(posting, **reasons, **{"shortcoming-3": "grammar"})).text
    ours = drafted_answers(Assignment.objects.get())
    sent = fields_sent(page)["answers"]
    assert sent == "1.3cf.2d.1"
    assert {answer.item_id: answer for answer in decode_answers(sent, places_of(Assignment.objects.get()))} == ours


def test_only_the_save_itself_sends_the_form_without_being_asked(stranger, posting):
    assert "sending.js" in save(stranger, posting).text
    revisit = stranger.get(enter(stranger, posting)).text
    assert "sending.js" not in revisit
    assert "Send again" in revisit
    assert "has not confirmed them yet" in revisit


def test_what_comes_after_the_save_changes_neither_answers_nor_receipt(stranger, posting):
    url = enter(stranger, posting)
    pages = [stranger.post(url, form_of(posting, level=level)).text for level in (1, 4)]
    draft = stranger.post(url + "draft/", {"place": "1", "level-1": "4"})
    assert (draft.status_code, "send them to the platform" in draft.json()["error"]) == (409, True)
    assert fields_sent(pages[0]) == fields_sent(pages[1])
    assert set(Draft.objects.values_list("level", flat=True)) == {1}
    assert Event.objects.filter(verb="saved").count() == 1


def test_an_incomplete_answer_set_is_not_saved_and_what_is_there_is_kept(stranger, posting):
    answer = stranger.post(enter(stranger, posting), form_of(posting, **{"level-3": ""}))
    assert answer.status_code == 422
    assert "1 pair has no answer yet: 3" in answer.text
    assert answer.text.count(" checked") == 3
    claim = Assignment.objects.get()
    assert (claim.receipt, claim.drafts.count()) == ("", 3)


@pytest.mark.parametrize("status", ["submitted", "rejected"])
def test_what_the_platform_confirmed_is_said_and_cannot_be_sent_again(stranger, posting, status):
    save(stranger, posting)
    confirm(Assignment.objects.get(), status)
    url = enter(stranger, posting)
    for page in (stranger.get(url).text, stranger.post(url, form_of(posting, level=4)).text):
        assert status in page
        assert "<form" not in page


def test_what_the_platform_confirmed_without_our_save_takes_no_answers_any_more(stranger, posting):
    url = enter(stranger, posting)
    confirm(Assignment.objects.get())
    stranger.post(url, form_of(posting))
    assert stranger.post(url + "draft/", {"place": "1", "level-1": "4"}).status_code == 409
    assert not Draft.objects.exists()


def test_a_visitors_report_is_stored_at_once_and_refused_once_the_answers_are_saved(stranger, posting):
    sheet = enter(stranger, posting)
    assert stranger.post(sheet + "draft/", {"place": "2", "problem-2": "picture"}).json() == {"errors": {}}
    assert "You reported this:" in stranger.get(sheet).text
    stranger.post(sheet, form_of(posting))
    assert stranger.post(sheet + "draft/", {"place": "3", "problem-3": "picture"}).status_code == 409
    assert Report.objects.get().worker == Assignment.objects.get().worker
