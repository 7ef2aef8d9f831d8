"""Reviews in the pairs table: of many pairs, of one in place, and undoing them."""

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.judging.links import worker_token
from annotation.models import Assignment
from core.models import Event
from corpus.models import Image
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


def in_place(client, pair, level, **more):
    data = {"pair": f"{pair[0]}-{pair[1]}", "conclusion": level, **more}
    return client.post(table(page="pairs_review"), data, headers={"Accept": "application/json"})


def test_a_review_in_place_is_answered_with_the_pair_as_it_then_is(reviewer, made):
    pair = candidates(made.hits.get())[0]
    found = in_place(reviewer, pair, "3", seen="0").json()
    newest = Review.objects.get().pk
    assert f'data-seen="{newest}"' in found["line"]
    assert 'data-level="3">' in found["line"]
    assert 'data-key="u"' in found["undo"]
    assert level_of(made.pool.collection, pair) == 3


def test_a_review_in_place_that_is_refused_says_why(reviewer, made):
    pair = candidates(made.hits.get())[0]
    conclude(made.pool.collection, [pair], Conclusion("level", 1), by=User.objects.create_user("other"))
    answer = in_place(reviewer, pair, "3", seen="0")
    assert (answer.status_code, "other" in answer.json()["trouble"]) == (422, True)
    assert in_place(client_of("researcher"), pair, "3").status_code == 403
    assert Review.objects.count() == 1


def undo_button(client, **filters):
    """What the table's button sends to undo the last review, None without the button."""
    last = client.get(table(**filters)).context["last"]
    return last and (reverse("reviews_undo", args=last["pair"]), {"review": last["reviews"]})


def test_the_table_undoes_a_review_of_many_pairs_as_a_whole(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    review(reviewer, [a, b])
    response = reviewer.post(*undo_button(reviewer), follow=True)
    assert response.redirect_chain == [(f"{table(disagreement='yes')}#{a[0]}-{a[1]}", 302)]
    assert [level_of(made.pool.collection, pair) for pair in (a, b)] == [None, None]
    assert undo_button(reviewer) is None


def test_a_later_review_of_one_pair_keeps_the_whole_act_from_being_undone(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    review(reviewer, [a, b])
    conclude(made.pool.collection, [b], Conclusion("level", 1), by=User.objects.create_user("other"))
    reviewer.post(*undo_button(reviewer))
    assert [level_of(made.pool.collection, pair) for pair in (a, b)] == [4, 1]


def test_a_table_offers_no_undo_of_a_review_that_was_made_elsewhere(reviewer, made):
    review(reviewer, candidates(made.hits.get())[:2])
    assert reviewer.get(table("pool", made.pool.name)).context["last"] is None


def test_a_review_that_came_in_between_refuses_them_all(reviewer, made):
    a, b, *_ = candidates(made.hits.get())
    conclude(made.pool.collection, [b], Conclusion("level", 1), by=User.objects.create_user("other"))
    response = review(reviewer, [a, b], seen="0", reason="Both show kites.")
    assert (response.status_code, Image.objects.get(pk=b[0]).key in response.context["trouble"]) == (422, True)
    assert response.context["reason"] == "Both show kites."
    assert response.context["selected"] == [f"{image}-{caption}" for image, caption in (a, b)]
    assert Review.objects.count() == 1
    review(reviewer, [a, b], seen=str(response.context["seen"]))  # as the page then has it
    assert Review.objects.count() == 3


def test_the_address_of_a_bulk_review_leads_to_its_table(reviewer, made):
    address = table(page="pairs_review", text="dog")
    assert reviewer.get(address).url == table(text="dog")


def test_an_invalid_selection_or_conclusion_changes_nothing(reviewer, made):
    pair = candidates(made.hits.get())[0]
    elsewhere = make_collection("farm")
    foreign = (elsewhere.images.first().pk, elsewhere.captions.first().pk)
    for pairs, conclusion in (
        ([], "4"),
        ([pair, foreign], "4"),
        ([pair], "7"),
        ([pair], "excluded"),
        ([pair] * 101, "4"),
    ):
        assert review(reviewer, pairs, conclusion).status_code == 422, (pairs, conclusion)
    assert reviewer.post(table(page="pairs_review"), {"pair": ["1-", "x-y"], "conclusion": "4"}).status_code == 422
    assert not Review.objects.exists()


@pytest.mark.parametrize("role", ["stranger", "worker", "researcher", "reviewer"])
def test_only_staff_see_the_table_and_only_reviewers_review_there(made, role):
    client = Client() if role in ("stranger", "worker") else client_of(role)
    if role == "worker":
        client.cookies[settings.WORKER_COOKIE_NAME] = worker_token(Assignment.objects.first().worker, made)
    read = [client.get(table(page=page)).status_code for page in ("pairs", "pairs_csv")]
    assert read == ([302, 302] if role in ("stranger", "worker") else [200, 200])
    assert ("data-select-all" in client.get(table()).text) is (role == "reviewer")
    done = review(client, candidates(made.hits.get())[:1]).status_code
    assert done == (403 if role == "researcher" else 302)
    assert Review.objects.exists() == (role == "reviewer")
