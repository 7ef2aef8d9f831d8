import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.judging.links import worker_token
from annotation.models import Assignment, Report
from dataset.models import Case, Review
from dataset.reviews import cases
from dataset.reviews.cases import refresh_queue
from dataset.reviews.reviews import require_two_reviewers
from dataset.verdicts import aggregate_round
from tests.annotation.cast import answer, associate, candidates, propose
from tests.conftest import client_of
from tests.dataset.reviewing import another_person, exclude_caption, give_level, level_of
from tests.factories import make_annotator, make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def made():
    """A round with two pairs on which two workers disagree, in the queue."""
    made = make_round(make_collection(images=6, pictures=True), candidates=2, replication=2)
    answer(made.hits.get(), 1, 1)
    answer(made.hits.get(), 4, 4, seat=2)
    refresh_queue(made.pool.collection)
    return made


@pytest.fixture
def collection(made):
    return made.pool.collection


def page_of(pair) -> str:
    return reverse("pair", args=pair)


def conclude(client, pair, conclusion, **more):
    return client.post(reverse("pair_conclude", args=pair), {"conclusion": conclusion, **more})


def text_of(response) -> str:
    return " ".join(response.content.decode().split())


def test_the_page_shows_votes_annotators_and_related_pairs(researcher, made, collection):
    pair, other = candidates(made.hits.get())
    propose(made, [pair], make_annotator("clip-b32"))
    associate(collection, "cxc", [pair, (other[0], pair[1]), (pair[0], other[1])], score=3.4)
    text = text_of(researcher.get(page_of(pair)))
    for shown in ("clip-b32", "votes 1, 4", "100% NO", "2 of 2", "cxc", "score 3.4"):
        assert shown in text
    assert page_of((other[0], pair[1])) in text
    assert page_of((pair[0], other[1])) in text


@pytest.mark.parametrize("role", ["stranger", "worker", "researcher", "reviewer"])
def test_staff_read_what_workers_reported_and_nobody_else_does(made, role):
    pair = candidates(made.hits.get())[0]
    work = Assignment.objects.first()
    said = {"assignment": work, "problem": "other", "note": "<b>Turned</b> round."}
    item = made.hits.get().items.get(image=pair[0], caption=pair[1])
    Report.objects.create(worker=work.worker, item=item, image_id=pair[0], caption_id=pair[1], **said)
    client = Client() if role in ("stranger", "worker") else client_of(role)
    if role == "worker":
        client.cookies[settings.WORKER_COOKIE_NAME] = worker_token(work.worker, made)
    response = client.get(page_of(pair))
    is_staff = role in ("researcher", "reviewer")
    assert response.status_code == (200 if is_staff else 302)
    text = text_of(response)
    for shown in ("Something else", "&lt;b&gt;Turned&lt;/b&gt; round.", work.worker.pseudonym):
        assert (shown in text) == is_staff


def test_what_is_excluded_is_told(researcher, made, person, collection):
    pair = candidates(made.hits.get())[0]
    exclude_caption(collection, pair[1], by=person)
    assert "A review excluded the caption on" in text_of(researcher.get(page_of(pair)))


def test_the_page_says_why_a_pair_is_not_finished(researcher, made):
    pair = candidates(made.hits.get())[0]
    propose(made, [pair], make_annotator("clip-b32"))
    assert "2 of 2 votes, no level has more than half" in text_of(researcher.get(page_of(pair)))
    made.hits.get().seats.create(round=made, number=3)
    text = text_of(researcher.get(page_of(pair)))
    assert "2 of 3 votes" in text
    assert "Waiting for a worker: 1 of 3 votes." in text


def test_the_page_names_the_versions_that_hold_the_pair(researcher, site):
    done = candidates(site.version.rounds.get().hits.get())[0]
    assert 'In version</dt><dd><a href="/versions/v1/">v1</a>: a match' in text_of(researcher.get(page_of(done)))


def test_each_review_says_which_level_it_changed(researcher, made, person):
    pair = candidates(made.hits.get())[0]
    aggregate_round(made)
    give_level(made, pair, 1, by=person)
    give_level(made, pair, 2, by=person)
    reviews = researcher.get(page_of(pair)).context["reviews"]
    assert [(one.review.level, one.changed_from) for one in reviews] == [(2, "100% YES"), (1, "100% NO")]
    assert "instead of" in text_of(researcher.get(page_of(pair)))


def test_a_pair_of_two_collections_is_none(researcher, made):
    elsewhere = make_collection("farm")
    assert (
        researcher.get(page_of((made.hits.get().items.first().image_id, elsewhere.captions.first().pk))).status_code
        == 404
    )


def test_the_queue_leads_to_its_pairs(researcher, made):
    text = text_of(researcher.get("/collections/zoo/queue/"))
    for pair in candidates(made.hits.get()):
        assert page_of(pair) in text


def test_a_decision_leads_to_the_next_pair(reviewer, made, collection):
    first, second = candidates(made.hits.get())
    response = conclude(reviewer, first, "4", seen="0")
    assert response.url == page_of(second)
    assert level_of(collection, first) == 4


def test_the_chosen_reason_is_kept_on_the_way(reviewer, made):
    first, second = candidates(made.hits.get())
    url = reverse("pair_conclude", args=first) + "?reason=disagreement"
    assert reviewer.post(url, {"conclusion": "kept"}).url == page_of(second) + "?reason=disagreement"


def test_the_last_decision_stays_on_its_pair(reviewer, made):
    first, second = candidates(made.hits.get())
    conclude(reviewer, first, "4")
    assert conclude(reviewer, second, "4").url == page_of(second)


def test_the_last_act_is_undone_from_the_next_page(reviewer, made, collection):
    first, second = candidates(made.hits.get())
    conclude(reviewer, first, "4")
    last = reviewer.get(page_of(second)).context["last"]
    response = reviewer.post(reverse("reviews_undo", args=last["pair"]), {"review": last["reviews"]})
    assert response.url == page_of(first)
    assert level_of(collection, first) is None
    assert Case.objects.waiting().count() == 2


def test_a_review_that_was_undone_is_shown_as_undone_without_a_button(reviewer, made):
    pair = candidates(made.hits.get())[0]
    conclude(reviewer, pair, "4")
    review = Review.objects.get()
    text = text_of(reviewer.post(reverse("reviews_undo", args=pair), {"review": review.pk}, follow=True))
    assert 'undone: <span class="level" data-level="4">' in text
    assert "<strong>kept" not in text
    assert ">Undo<" not in text


def test_a_group_is_decided_at_once(reviewer, made, collection):
    first, second = candidates(made.hits.get())
    collection.captions.filter(pk__in=[first[1], second[1]]).update(text="A dog.")
    collection.images.filter(pk__in=[first[0], second[0]]).update(look="00ff00ff00ff00ff")
    assert "Decide all 2 near-duplicates alike" in text_of(reviewer.get(page_of(first)))
    conclude(reviewer, first, "3", group="on")
    assert [level_of(collection, pair) for pair in (first, second)] == [3, 3]
    assert not Case.objects.waiting().exists()


def test_to_exclude_needs_grounds_and_a_reason(reviewer, made):
    pair = candidates(made.hits.get())[0]
    response = conclude(reviewer, pair, "excluded", side="caption", grounds="wrong", reason="")
    assert response.status_code == 422
    assert "The reason is empty" in text_of(response)
    assert not Review.objects.exists()


@pytest.mark.parametrize("side", ["caption", "image"])
def test_a_caption_or_a_picture_is_excluded(reviewer, made, side):
    pair = candidates(made.hits.get())[0]
    conclude(reviewer, pair, "excluded", side=side, grounds="other", reason="Not a photograph.")
    review = Review.objects.get()
    assert review.subject == ((None, pair[1]) if side == "caption" else (pair[0], None))


def test_what_somebody_else_concluded_meanwhile_is_shown(reviewer, made, collection):
    pair = candidates(made.hits.get())[0]
    give_level(made, pair, 1, by=another_person())
    response = conclude(reviewer, pair, "4", seen="0")
    assert "while you looked at it: level" in text_of(response)
    assert level_of(collection, pair) == 1


def test_an_invalid_conclusion_is_refused(reviewer, made):
    pair = candidates(made.hits.get())[0]
    assert [conclude(reviewer, pair, wrong).status_code for wrong in ("", "5", "maybe")] == [422, 422, 422]


def test_a_second_person_agrees_on_the_page(reviewer, made, collection):
    require_two_reviewers(collection, True, actor="robin")
    pair = candidates(made.hits.get())[0]
    assert "It holds when a second person agrees" in text_of(
        reviewer.post(reverse("pair_conclude", args=pair), {"conclusion": "4"}, follow=True)
    )
    review = Review.objects.get()
    url = reverse("review_second", args=[*pair, review.pk])
    assert "You concluded level 4 yourself" in text_of(reviewer.post(url, follow=True))
    other = client_of("admin")
    other.post(url)
    assert level_of(collection, pair) == 4
    assert Review.objects.get().seconded_by == User.objects.get(username="admin")


def test_the_rule_of_two_is_set_on_the_queue(researcher, made, collection):
    researcher.post(reverse("two_reviewers", args=["zoo"]), {"required": "yes"})
    collection.refresh_from_db()
    assert collection.two_reviewers


def test_the_queue_is_brought_up_to_date_by_a_button(reviewer, made):
    Case.objects.all().delete()
    response = reviewer.post(reverse("queue_refresh", args=["zoo"]), follow=True)
    assert "2 pairs wait for a review" in text_of(response)
    assert "every disagreement is here" in text_of(response)


def test_a_queue_that_hides_a_disagreement_raises_an_alarm(reviewer, made, monkeypatch):
    monkeypatch.setattr(cases, "disagreements", lambda collection: {})
    reviewer.post(reverse("queue_refresh", args=["zoo"]))
    assert "Do not rely on this queue" in text_of(reviewer.get(reverse("queue", args=["zoo"])))
    assert "does not show every disagreement" in text_of(reviewer.get("/"))


def test_the_page_asks_no_more_for_more_votes_and_matches(researcher, made, collection):
    pair = candidates(made.hits.get())[0]
    researcher.get(page_of(pair))
    with CaptureQueriesContext(connection) as few:
        researcher.get(page_of(pair))
    captions = collection.captions.values_list("pk", flat=True)
    associate(collection, "cxc", [(pair[0], caption) for caption in captions], score=3)
    again = make_round(collection, "again", candidates=2)
    answer(again.hits.get(), 2, 2)
    with CaptureQueriesContext(connection) as many:
        assert researcher.get(page_of(pair)).status_code == 200
    assert len(many) <= len(few) + 1
    assert len(many) <= 30


def test_the_queue_asks_no_more_for_more_pairs(researcher, made, collection, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        assert researcher.get(reverse("queue", args=["zoo"])).status_code == 200
