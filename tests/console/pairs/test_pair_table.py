"""The pairs table over a pool, a round and a version, and its download."""

import csv

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation.judging.links import worker_token
from annotation.models import Assignment
from core.models import Event
from corpus.models import Caption, Image
from dataset.models import Review
from dataset.reviews.reviews import Conclusion, conclude
from dataset.verdicts import aggregate_round
from tests.annotation.cast import answer, candidates, propose
from tests.conftest import client_of
from tests.console.pairs.tables import review, table
from tests.dataset.reviewing import level_of
from tests.factories import make_annotator, make_collection, make_round

pytestmark = pytest.mark.django_db


def test_votes_that_do_not_count_are_not_shown(researcher, made):
    Assignment.objects.filter(seat__number=2).update(state="excluded")
    lines = researcher.get(table()).context["lines"]
    assert [one.votes for one in lines] == [[1], [1], [4], [2]]


def test_a_pair_of_a_top_up_is_listed_once(researcher, made):
    added = made.top_ups.create(number=1, plan_hash="0")
    item = made.hits.get().items.first()
    made.hits.create(number=2, top_up=added).items.create(place=1, image=item.image, caption=item.caption)
    assert len(researcher.get(table()).context["lines"]) == 4


def test_a_pool_lists_each_pair_once_with_all_proposals_and_verdicts(researcher, made):
    lines = researcher.get(table("pool", made.pool.name)).context["lines"]
    both = next(one for one in lines if (one.image.pk, one.caption.pk) == candidates(made.hits.get())[1])
    assert (len(lines), both.proposed) == (4, ["clip #1 of captions", "vilt #3 of captions"])
    other = make_round(made.pool.collection, "round-2", candidates=4)
    type(other).objects.filter(pk=other.pk).update(pool=made.pool)
    answer(other.hits.get(), 1, 1, 4, 2)
    aggregate_round(other)
    assert len(researcher.get(table("pool", made.pool.name, verdict="no")).context["lines"]) == 2


def test_a_version_lists_its_matches_by_level(researcher, site):
    def levels(**filters):
        lines = researcher.get(table("version", "v1", **filters)).context.get("lines", [])
        return [match.grade for one in lines for match in one.matches]

    assert levels(verdict="1") == [1, 1]
    assert levels(verdict="no") == []
    assert None in levels(verdict="none")
    assert levels(sort="level") == [1, 1]


def test_other_things_have_no_pairs_table(researcher, db):
    assert [researcher.get(table(kind, "zoo")).status_code for kind in ("worker", "collection")] == [404, 404]


def test_a_page_that_is_not_there_leads_to_one_that_is(researcher, made):
    for number in ("99", "0", "-1", "x", "9" * 30):
        assert len(researcher.get(f"{table()}?page={number}").context["lines"]) == 4, number


def rows_of(response) -> list[dict[str, str]]:
    return list(csv.DictReader(b"".join(response.streaming_content).decode().splitlines()))


def test_the_download_holds_the_filtered_rows(researcher, made):
    (row,) = rows_of(researcher.get(table(page="pairs_csv", disagreement="yes")))
    assert row["annotators"] == "clip #1 of captions; vilt #3 of captions"
    assert (row["votes"], row["confidence"]) == ("1 4", "0.500")


def test_no_cell_of_the_download_is_a_formula(researcher, made):
    for sign in ("=", "+", "-", "@", "\t"):
        Caption.objects.update(text=f"{sign}cmd|'/c calc'!A1")
        assert all(row["text"].startswith(f"'{sign}") for row in rows_of(researcher.get(table(page="pairs_csv"))))


def test_a_download_longer_than_a_page_is_whole(researcher, made, monkeypatch):
    monkeypatch.setattr("console.pairs.explorer.MOST", 2)
    monkeypatch.setattr("console.pairs.pair_lines.BATCH", 3)
    assert len(rows_of(researcher.get(table(page="pairs_csv")))) == 4
    assert len(researcher.get(table()).context["lines"]) == 2


def test_a_table_asks_no_more_for_more_pairs(researcher):
    def queries(name, number):
        made = make_round(make_collection(f"of-{name}", images=30), name, candidates=number, replication=2)
        answer(made.hits.get(), *[1] * number)
        aggregate_round(made)
        propose(made, candidates(made.hits.get()), make_annotator(f"by-{name}"))
        with CaptureQueriesContext(connection) as asked:
            assert len(researcher.get(table(name=name)).context["lines"]) == number
        return len(asked)

    researcher.get("/")
    assert queries("small", 2) == queries("large", 24)


# Reviews in the pairs table: of many pairs, of one in place, and undoing them


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
