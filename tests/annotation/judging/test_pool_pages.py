"""What a limited round of the browser pool shows its workers: places, tests, what is left, codes."""

import re

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from annotation.judging.links import Home, read_worker_token
from annotation.models import Admission, Assignment, Draft, Exclusion, Participant, TestAttempt, Worker
from annotation.people.admission import join_round, make_admission, pairs_seen
from annotation.people.qualification_questions import Best, set_best
from annotation.people.qualification_tests import QualificationPlan, make_test
from annotation.people.receipts import completion_code
from annotation.work.leases import lease_seat
from core.errors import CounterpartError
from core.models import Event
from crowd.posting.publication import publish_round
from hits.models import Item, Round
from hits.task_types.levels import LEVELS
from tests.annotation.answering import consent, home_of, join_page, leased, limit, submit
from tests.factories import make_collection, make_round, make_worker


@pytest.fixture
def three_hits(db) -> Round:
    return make_round(hits=3)


@pytest.fixture
def tested(three_hits) -> Round:
    """The round with a test of three pairs, all of which are needed."""
    test = make_test("first", collection=three_hits.pool.collection, plan=QualificationPlan(2, 1, 3), actor="x")
    return limit(three_hits, test=test)


def take(client, made: Round, worker: Worker):
    return client.post(home_of(worker, made) + "take/")


def finish(client, made: Round, worker: Worker) -> str:
    """Take a HIT and submit it; the receipt page."""
    take(client, made, worker)
    held = Assignment.objects.get(worker=worker, state="leased")
    return client.get(submit(client, held).url).text


def page_of_test(made: Round, worker: Worker) -> str:
    return home_of(worker, made) + "test/"


def answers(made: Round, *, rightly: bool = True, number: int = 1) -> dict[str, str]:
    rows = made.admission.test.items.values_list("place", "polarity")
    return {f"level-{place}": "1" if (polarity == "positive") == rightly else "4" for place, polarity in rows} | {
        "number": str(number)
    }


def test_consent_takes_a_place_and_a_full_round_takes_no_other_worker(stranger, three_hits, client):
    limit(three_hits, capacity=1)
    assert consent(stranger, three_hits).status_code == 302
    refused = consent(client, three_hits)
    assert (refused.status_code, "This round is full" in refused.text) == (410, True)
    assert client.get(join_page(three_hits)).status_code == 410
    assert Worker.objects.count() == Participant.objects.count() == 1


def test_who_is_known_from_another_round_needs_a_place_in_this_one(stranger, three_hits):
    consent(stranger, three_hits)
    other = limit(make_round(three_hits.pool.collection, "other"), capacity=1)
    assert stranger.post(join_page(other), {"again": "yes"}).status_code == 302
    assert other.participants.get().worker == Worker.objects.get()
    full = limit(make_round(three_hits.pool.collection, "full"), capacity=1)
    join_round(full, make_worker())
    assert stranger.post(join_page(full), {"again": "yes"}).status_code == 410


def test_after_the_last_hit_there_is_a_code_and_no_button(stranger, three_hits):
    worker = make_worker()
    limit(three_hits, per_worker=2)
    assert completion_code(three_hits, worker) not in finish(stranger, three_hits, worker)
    last = finish(stranger, three_hits, worker)
    home = stranger.get(home_of(worker, three_hits)).text
    for page in (last, home, stranger.get(home_of(worker, three_hits)).text):
        assert completion_code(three_hits, worker) in page
        assert "take/" not in page


def test_taking_one_too_many_leads_home(stranger, three_hits):
    worker = make_worker()
    limit(three_hits, per_worker=1)
    finish(stranger, three_hits, worker)
    page = stranger.post(home_of(worker, three_hits) + "take/", follow=True).text
    assert "You are done with this round" in page
    assert Assignment.objects.count() == 1


@pytest.mark.parametrize("ending", ["closed", "nothing left"])
def test_there_is_a_code_when_the_round_has_no_more_for_them(stranger, three_hits, ending):
    worker = make_worker()
    finish(stranger, three_hits, worker)
    assert completion_code(three_hits, worker) not in stranger.get(home_of(worker, three_hits)).text
    if ending == "closed":
        Round.objects.update(closed_at=timezone.now())
    page = stranger.get(home_of(worker, three_hits) + ("?nothing-left" if ending == "nothing left" else "")).text
    assert completion_code(three_hits, worker) in page


def test_who_submitted_nothing_gets_no_code(stranger, three_hits):
    worker = make_worker()
    Round.objects.update(closed_at=timezone.now())
    assert "completion code" not in stranger.get(home_of(worker, three_hits)).text


def test_taking_a_hit_leads_to_the_test_first(stranger, tested):
    worker = make_worker()
    assert "A short test" in stranger.get(home_of(worker, tested)).text
    assert take(stranger, tested, worker).url == page_of_test(tested, worker)
    assert not Assignment.objects.exists()


def test_the_test_looks_like_a_hit_and_gives_nothing_away(stranger, tested):
    page = stranger.get(page_of_test(tested, make_worker())).text
    assert re.findall(r"<legend[^>]*>(Pair \d of 3)</legend>", page) == [f"Pair {n} of 3" for n in (1, 2, 3)]
    assert "try 1 of 2" in page
    assert "data-draft-url" not in page
    assert not any(word in page.lower() for word in ("positive", "negative", "polarity", "control", "gold"))


def test_its_pictures_have_links_of_their_own(stranger, tested):
    worker = make_worker()
    page = stranger.get(page_of_test(tested, worker)).text
    pictures = re.search(r'src="(/judge/test-picture/[^"]+/)1/\?size=800"', page)[1]
    url = pictures + "1/"
    assert b"".join(stranger.get(url).streaming_content)[:2] == b"\xff\xd8"
    assert stranger.get(pictures + "9/").status_code == 404
    stranger.post(page_of_test(tested, worker), answers(tested))
    assert stranger.get(url).status_code == 404


def test_after_the_last_try_the_pages_say_so_kindly(stranger, tested):
    worker = make_worker()
    for number in (1, 2):
        result = stranger.post(page_of_test(tested, worker), answers(tested, rightly=False, number=number)).text
    assert "do not take it personally" in result
    assert "your last try" in stranger.get(home_of(worker, tested)).text
    token = stranger.get(page_of_test(tested, worker)).url.removeprefix("/judge/me/").rstrip("/")
    assert read_worker_token(token) == Home(worker, tested)
    stranger.post(page_of_test(tested, worker), answers(tested, number=3))
    assert TestAttempt.objects.count() == 2


def test_an_odd_form_is_shown_again_with_what_was_chosen_and_costs_no_try(stranger, tested):
    page = page_of_test(tested, make_worker())
    for change in ({"number": "x"}, {"level-2": ""}):
        response = stranger.post(page, answers(tested) | change)
        assert (response.status_code, TestAttempt.objects.count()) == (422, 0)
    assert response.text.count(" checked") == 2


@pytest.fixture
def excluded(three_hits) -> Worker:
    """A worker with a submitted HIT who is then excluded."""
    held = leased(three_hits)
    submit(Client(), held)
    Exclusion.objects.create(worker=held.worker, reason="private words", by="robin")
    return held.worker


def test_an_excluded_workers_link_gives_no_hit_and_still_shows_what_they_did(stranger, three_hits, excluded):
    home = stranger.get(home_of(excluded, three_hits)).text
    assert "no more HITs for you" in home
    assert Assignment.objects.get().receipt in home
    assert completion_code(three_hits, excluded) in home
    assert "private words" not in home
    assert "take/" not in home
    refused = take(stranger, three_hits, excluded)
    assert (refused.status_code, Assignment.objects.count()) == (403, 1)
    assert "private words" not in refused.text


def test_an_excluded_worker_takes_no_test(stranger, tested, excluded):
    assert stranger.get(page_of_test(tested, excluded)).status_code == 403
    assert stranger.post(page_of_test(tested, excluded), answers(tested)).status_code == 403


def test_the_browser_of_an_excluded_worker_joins_nothing(stranger, three_hits):
    consent(stranger, three_hits)
    Exclusion.objects.create(worker=Worker.objects.get(), reason="x", by="robin")
    assert stranger.get(join_page(three_hits)).status_code == 403
    assert consent(stranger, three_hits).status_code == 403
    assert Worker.objects.count() == 1


# Practice: the pairs of a test, and which answers were right. Nothing of it is stored


@pytest.fixture
def with_practice(db) -> Round:
    """A round that offers a practice of three pairs."""
    with_practice = make_round(hits=3)
    practice = make_test("easy", collection=with_practice.pool.collection, plan=QualificationPlan(2, 1, 3), actor="x")
    Admission.objects.create(round=with_practice, practice=practice)
    return with_practice


@pytest.fixture
def page(with_practice) -> str:
    return home_of(make_worker(), with_practice) + "practice/"


def practised(made: Round, *, positive: int = 1, negative: int = 4) -> dict[str, str]:
    levels = {"positive": positive, "negative": negative}
    rows = made.admission.practice.items.values_list("place", "polarity")
    return {f"level-{place}": str(levels[polarity]) for place, polarity in rows}


def test_the_feedback_says_of_each_pair_whether_it_was_right(with_practice, page, stranger):
    shown = stranger.post(page, practised(with_practice, positive=2, negative=1)).text
    assert "2 of 3 right" in shown
    assert (shown.count("✓"), shown.count("✗")) == (2, 1)


@pytest.mark.parametrize(("polarity", "mark", "right"), [("positive", "✓", {1, 2}), ("negative", "✗", {3, 4})])
def test_an_answer_is_explained_by_the_right_ones(with_practice, page, stranger, polarity, mark, right):
    place = with_practice.admission.practice.items.filter(polarity=polarity).first().place
    shown = stranger.get(f"{page}{place}/?level=2").text
    assert mark in shown
    assert {int(level) for level in re.findall(r'data-level="(\d)"', shown)} == right
    texts = {level["value"]: level["text"] for level in LEVELS.choices(LEVELS.latest_wording)}
    assert all(texts[level] in shown for level in right | {2})


def test_the_level_that_fits_best_is_shown_with_its_reason_and_the_other_still_counts(with_practice, page, stranger):
    practice = with_practice.admission.practice
    place = practice.items.get(polarity="negative").place
    set_best(practice, {place: Best(4, "There is no dog.")}, actor="x")
    best, other = (strip_tags(stranger.get(f"{page}{place}/?level={level}").text) for level in (4, 3))
    assert ("✓" in best, "There is no dog." in best, "“100% NO” fits best" in best) == (True, True, False)
    assert ("✓" in other, "“100% NO” fits best" in other) == (True, True)
    assert "3 of 3 right" in stranger.post(page, practised(with_practice, negative=3)).text


def test_only_the_round_s_own_practice_explains_and_only_its_answers(with_practice, page, stranger):
    assert stranger.get(f"{page}1/?level=7").status_code == 422
    assert stranger.get(f"{page}1/").status_code == 422
    assert stranger.get(f"{page}99/?level=1").status_code == 404
    assert stranger.post(f"{page}1/?level=1").status_code == 405
    other = home_of(make_worker(), make_round(make_collection("other"), name="other"))
    assert stranger.get(f"{other}practice/1/?level=1").status_code == 404


def test_practice_stores_nothing_and_can_be_repeated(with_practice, page, stranger):
    events = Event.objects.count()
    for _ in range(2):
        assert stranger.post(page, practised(with_practice)).status_code == 200
    assert not TestAttempt.objects.exists()
    assert not Draft.objects.exists()
    assert Event.objects.count() == events


def test_a_pair_without_an_answer_is_named_and_the_others_are_kept(with_practice, page, stranger):
    sent = practised(with_practice)
    del sent["level-2"]
    refused = stranger.post(page, sent)
    assert refused.status_code == 422
    assert "No answer yet for pair 2" in refused.text
    assert refused.text.count(" checked") == 2


def test_the_page_shows_no_right_answer_before_it_is_sent(with_practice, page, stranger):
    assert not re.search("positive|negative|polarity", stranger.get(page).text)


def test_a_pair_of_the_practice_is_not_judged_in_a_hit_by_those_who_joined(with_practice):
    worker = make_worker()
    item = Item.objects.filter(hit__round=with_practice).first()
    with_practice.admission.practice.items.filter(place=1).update(image=item.image, caption=item.caption)
    assert (item.image_id, item.caption_id) not in pairs_seen(worker)
    Participant.objects.create(round=with_practice, worker=worker)
    assert (item.image_id, item.caption_id) in pairs_seen(worker)
    assert lease_seat(with_practice, worker=worker).hit_id != item.hit_id


def test_a_practice_that_shows_answers_of_the_test_is_refused(with_practice):
    same = make_test("same", collection=with_practice.pool.collection, plan=QualificationPlan(2, 1, 3), actor="x")
    with pytest.raises(CounterpartError, match="3 items of the test same"):
        make_admission(test=same, practice=with_practice.admission.practice)


@pytest.mark.parametrize("use", ["test", "practice"])
def test_a_round_that_asks_for_pairs_of_its_test_is_not_published(db, use):
    draft = make_round(published=False)
    shown = make_test("shown", collection=draft.pool.collection, plan=QualificationPlan(2, 1, 3), actor="x")
    item = Item.objects.filter(hit__round=draft).first()
    shown.items.filter(place=1).update(image=item.image, caption=item.caption)
    with pytest.raises(CounterpartError, match="1 pair of the test shown"):
        publish_round(draft, channel="browser", admission=make_admission(**{use: shown}), actor="x")
    draft.refresh_from_db()
    assert draft.state == "draft"
