"""Verdicts by the API: those of pages, from rows and from files, in parts that are the whole list together."""

import pytest
from django.utils import timezone

from dataset.models import Aggregation
from dataset.verdicts import aggregate_round
from tests.annotation.cast import answer
from tests.console.api.calls import all_parts, check_refused
from tests.dataset.judged.figures import REPEATED, SILENT
from tests.factories import make_collection, make_round

pytestmark = pytest.mark.django_db


@pytest.fixture
def judged():
    """Five candidates with votes 1 1, 1 4 (a tie: 4), 4 4, 2 2, 1 2 (a tie: 2)."""
    made = make_round(make_collection(images=8), candidates=5, replication=2)
    answer(made.hits.get(), 1, 1, 4, 2, 1)
    answer(made.hits.get(), 1, 4, 4, 2, 2, seat=2)
    return made


@pytest.fixture(params=["rows", "a file"])
def counted(judged, request, monkeypatch) -> Aggregation:
    if request.param == "a file":
        monkeypatch.setattr("dataset.verdicts.LARGE", 3)
        monkeypatch.setattr("dataset.judged.verdict_files._PAIRS", 2)
    aggregate_round(judged)
    return Aggregation.objects.get()


@pytest.mark.parametrize(("limit", "sizes"), [(2, [2, 2, 1]), (5, [5]), (1, [1] * 5), (1000, [5])])
def test_the_parts_of_the_verdicts_are_all_of_them(caller, counted, limit, sizes):
    parts = all_parts(caller, f"/verdicts?round={counted.round}&", limit)
    assert [len(part) for part in parts] == sizes
    pairs = [(one["image"], one["caption"]) for part in parts for one in part]
    assert len(set(pairs)) == 5
    assert sorted(one["level"] for part in parts for one in part) == [1, 2, 2, 4, 4]


def test_a_verdict_has_the_result_of_the_votes(caller, judged):
    aggregate_round(judged)
    judged.aggregations.update(certainty=REPEATED)
    rows = {(one.image.key, one.caption.key): one for one in Aggregation.objects.get().verdicts.all()}
    for message in caller.get(f"/verdicts?round={judged}").json()["results"]:
        row = rows.pop((message.pop("image"), message.pop("caption")))
        assert message == {
            name: getattr(row, name) for name in ("level", "distribution", "confidence", "probability", "votes")
        }
    assert not rows


def test_without_enough_controls_no_answer_has_a_percentage(caller, counted):
    Aggregation.objects.update(certainty=SILENT)
    assert {one["probability"] for one in caller.get(f"/verdicts?round={counted.round}").json()["results"]} == {None}
    assert '"probability": null' in caller.get(f"/verdicts?round={counted.round}&format=jsonl").getvalue().decode()


def test_verdicts_from_a_file_are_those_from_rows(caller, judged, monkeypatch):
    aggregate_round(judged)
    of_rows = caller.get(f"/verdicts?round={judged}").json()["results"]
    monkeypatch.setattr("dataset.verdicts.LARGE", 3)
    aggregate_round(judged)
    of_file = caller.get(f"/verdicts?round={judged}").json()["results"]
    assert Aggregation.objects.get().file
    by_pair = {(one["image"], one["caption"]): one for one in of_rows}
    assert {(one["image"], one["caption"]): one for one in of_file} == by_pair


def test_the_verdicts_are_those_of_the_last_count_or_of_the_method_that_is_named(caller, judged):
    aggregate_round(judged)
    aggregate_round(judged, method="dawid-skene")
    Aggregation.objects.filter(method="majority").update(at=timezone.now())

    def shares(query: str) -> list[list[float]]:
        return [one["distribution"] for one in caller.get(f"/verdicts?round={judged}{query}").json()["results"]]

    assert shares("") == shares("&method=majority") != shares("&method=dawid-skene")


def test_a_place_in_verdicts_that_were_replaced_is_refused(caller, counted):
    after = caller.get(f"/verdicts?round={counted.round}&limit=1").json()["next"]
    aggregate_round(counted.round)
    response = caller.get(f"/verdicts?round={counted.round}&after={after}")
    assert response.status_code == 422
    assert "counted again" in response.json()["detail"]


def test_a_round_whose_votes_are_not_counted_has_no_verdicts(caller, judged):
    check_refused(caller.get(f"/verdicts?round={judged}"), 404, f"/{judged}/aggregations")
    assert caller.get(f"/verdicts?round={judged}&method=mace").status_code == 404
    assert caller.get("/verdicts?round=none").status_code == 404
