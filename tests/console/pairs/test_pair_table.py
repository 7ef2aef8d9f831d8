"""The pairs table over a pool, a round and a version, and its download."""

import csv

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment
from corpus.models import Caption
from dataset.reviews.reviews import Conclusion, conclude
from dataset.verdicts import aggregate_round
from tests.annotation.cast import answer, candidates, propose
from tests.console.pairs.tables import table
from tests.dataset.releasing import release_version
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


def test_the_trail_of_a_pair_has_proposals_votes_reviews_and_versions(researcher, made):
    image, caption = candidates(made.hits.get())[1]
    conclude(made.pool.collection, [(image, caption)], Conclusion("level", 2), by=User.objects.create_user("other"))
    release_version("v1", collection=made.pool.collection, sample=made.pool.sample, rounds=[made])
    text = researcher.get(f"/pairs/{image}/{caption}/trail/").text
    for shown in ("clip", "#1 of captions", "Votes: 1, 4", "1 of 2 votes", "by other", "/versions/v1/"):
        assert shown in text, shown
    assert "data-conclude" not in text
    assert [researcher.get(f"/pairs/{pair}/trail/").status_code for pair in ("0/0", f"{image}/0")] == [404, 404]


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
    monkeypatch.setattr("console.pairs.light_table.MOST", 2)
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


def test_judgments_lead_to_the_round_judged_last(researcher, made):
    assert researcher.get("/judgments/").url == table()
