"""Reviews in the pairs table: of many pairs, of one in place, and undoing them."""

import re

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.judging.links import worker_token
from annotation.models import Assignment
from core.models import Event
from corpus.models import Caption, Image
from dataset.models import Review
from dataset.reviews.reviews import Conclusion, conclude
from tests.annotation.cast import candidates
from tests.conftest import client_of
from tests.console.pairs.tables import review, table
from tests.dataset.reviewing import level_of
from tests.factories import make_collection

pytestmark = pytest.mark.django_db


def test_selected_pairs_are_reviewed_alike_and_each_review_is_logged(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    response = review(reviewer, [a, b], reason="seen together")
    assert response.url == table(disagreement="yes")
    assert [(one.subject, one.level, one.reason) for one in Review.objects.all()] == [
        (a, 4, "seen together"),
        (b, 4, "seen together"),
    ]
    assert Event.objects.filter(verb="reviewed").count() == 2


def test_a_review_sent_twice_counts_once(reviewer, made):
    chosen = candidates(made.hits.get())[:2]
    review(reviewer, chosen)
    review(reviewer, chosen)
    assert Review.objects.count() == 2


def in_place(client, pair, level, **more):
    data = {"pair": f"{pair[0]}-{pair[1]}", "conclusion": level, **more}
    return client.post(table(page="pairs_review"), data, headers={"Accept": "application/json"})


def test_a_review_in_place_is_answered_with_the_pair_as_it_then_is(reviewer, made):
    pair = candidates(made.hits.get())[0]
    answer = in_place(reviewer, pair, "3", seen="0")
    found = answer.json()
    assert f'data-seen="{Review.objects.get().pk}"' in found["line"]
    assert 'data-level="3">' in found["line"]
    assert "Undo my last review" in found["undo"]
    assert "reviewed" not in reviewer.get(table()).content.decode().split('role="status"')[-1][:200]
    assert level_of(made.pool.collection, pair) == 3


def test_a_review_in_place_that_is_refused_says_why(reviewer, made):
    pair = candidates(made.hits.get())[0]
    conclude(made.pool.collection, [pair], Conclusion("level", 1), by=User.objects.create_user("other"))
    answer = in_place(reviewer, pair, "3", seen="0")
    assert (answer.status_code, "other reviewed picture" in answer.json()["trouble"]) == (422, True)
    assert in_place(client_of("researcher"), pair, "3").status_code == 403
    assert Review.objects.count() == 1


def test_who_may_not_review_sees_no_keys_for_it(member, reviewer, made):
    for client, may in ((member, False), (reviewer, True)):
        text = client.get(table()).text
        assert [one in text for one in ("review at this level", 'name="pair"', "data-select-all")] == [may] * 3


def undo_button(client, **filters):
    """What the table's button sends to undo the last review, None without the button."""
    last = client.get(table(**filters)).context["last"]
    return last and (reverse("reviews_undo", args=last["pair"]), {"review": last["reviews"]})


def test_the_table_undoes_a_review_of_many_pairs_as_a_whole(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    review(reviewer, [a, b])
    assert "Undo my last review of 2 pairs" in reviewer.get(table()).content.decode()
    response = reviewer.post(*undo_button(reviewer), follow=True)
    assert response.redirect_chain == [(f"{table(disagreement='yes')}#{a[0]}-{a[1]}", 302)]
    assert "Undone for 2 pairs." in response.content.decode()
    assert [level_of(made.pool.collection, pair) for pair in (a, b)] == [None, None]
    assert undo_button(reviewer) is None


def test_what_somebody_replaced_since_keeps_all_of_an_act_from_being_undone(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    review(reviewer, [a, b])
    conclude(made.pool.collection, [b], Conclusion("level", 1), by=User.objects.create_user("other"))
    response = reviewer.post(*undo_button(reviewer), follow=True)
    assert "other has reviewed this since" in response.content.decode()
    assert response.redirect_chain == [(f"{table(disagreement='yes')}#{a[0]}-{a[1]}", 302)]
    assert [level_of(made.pool.collection, pair) for pair in (a, b)] == [4, 1]


def test_undoing_leaves_what_said_the_same_before_the_act(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    conclude(made.pool.collection, [a], Conclusion("level", 4), by=User.objects.create_user("other"))
    review(reviewer, [a, b], seen=str(Review.objects.get().pk))
    reviewer.post(*undo_button(reviewer))
    assert [level_of(made.pool.collection, pair) for pair in (a, b)] == [4, None]


def test_a_review_that_was_sent_twice_can_be_undone(reviewer, made):
    chosen = candidates(made.hits.get())[:2]
    for _ in range(2):
        review(reviewer, chosen, seen="0")
    reviewer.post(*undo_button(reviewer))
    assert [level_of(made.pool.collection, pair) for pair in chosen] == [None, None]


def test_a_table_offers_no_undo_of_what_was_reviewed_elsewhere(reviewer, made):
    review(reviewer, candidates(made.hits.get())[:2])
    assert "Undo my last review" not in reviewer.get(table("pool", made.pool.name)).content.decode()


def test_a_review_that_came_in_between_refuses_them_all(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    other = User.objects.create_user("other")
    conclude(made.pool.collection, [b], Conclusion("level", 1), by=other)
    response = review(reviewer, [a, b], seen="0", reason="Both show kites.")
    assert response.status_code == 422
    picture, caption = Image.objects.get(pk=b[0]).key, Caption.objects.get(pk=b[1]).key
    text = response.content.decode()
    assert f"other reviewed picture {picture} with caption {caption} while you looked at it: level 1" in text
    assert 'value="Both show kites."' in text
    assert any(f'value="{image}-{caption}" checked' in text for image, caption in (a, b))
    assert Review.objects.count() == 1
    review(reviewer, [a, b], seen=re.search(r'name="seen" value="(\d+)"', text)[1])  # as the page then has it
    assert Review.objects.count() == 3


def test_the_address_of_a_bulk_review_leads_to_its_table(reviewer, made):
    address = table(page="pairs_review", text="dog")
    assert reviewer.get(address).url == table(text="dog")


def test_what_cannot_be_reviewed_changes_nothing(reviewer, made):
    pair = candidates(made.hits.get())[0]
    elsewhere = make_collection("farm")
    foreign = (elsewhere.images.first().pk, elsewhere.captions.first().pk)
    url = table(page="pairs_review")
    for pairs, conclusion, said in (
        ([], "4", "0 pairs are selected"),
        ([pair, foreign], "4", "1 of the selected pairs are not in zoo"),
        ([pair], "7", "Choose a level, or keep"),
        ([pair], "excluded", "A pair cannot be excluded"),
        ([pair] * 101, "4", "101 pairs are selected"),
    ):
        response = review(reviewer, pairs, conclusion)
        assert (response.status_code, said in response.content.decode()) == (422, True), said
    assert reviewer.post(url, {"pair": ["1-", "x-y"], "conclusion": "4"}).status_code == 422
    assert not Review.objects.exists()


@pytest.mark.parametrize("role", ["stranger", "worker", "researcher", "reviewer"])
def test_only_staff_see_the_table_and_only_reviewers_review_there(made, role):
    client = Client() if role in ("stranger", "worker") else client_of(role)
    if role == "worker":
        client.cookies[settings.WORKER_COOKIE_NAME] = worker_token(Assignment.objects.first().worker, made)
    read = [client.get(table(page=page)).status_code for page in ("pairs", "pairs_csv")]
    assert read == ([302, 302] if role in ("stranger", "worker") else [200, 200])
    done = review(client, candidates(made.hits.get())[:1]).status_code
    assert done == (403 if role == "researcher" else 302)
    assert Review.objects.exists() == (role == "reviewer")
