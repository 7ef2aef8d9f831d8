"""Verdicts in the pairs table: their votes and their certainty."""

import csv
import re

import pytest
from django.urls import reverse

from corpus.models import Caption
from dataset.judged.verdict_worth import why_no_percentage
from dataset.models import Verdict
from dataset.reviews.random_reviews import random_reviews
from dataset.verdicts import aggregate_round
from tests.annotation.cast import candidates
from tests.console.pairs.tables import review, shown, table
from tests.dataset.judged.figures import SILENT

pytestmark = pytest.mark.django_db


def test_the_least_certain_verdict_comes_first(researcher, made):
    assert shown(researcher, made, sort="level") == "adcb"
    for pair, probability in zip(candidates(made.hits.get()), (0.9, 0.6, 0.4, 0.7), strict=True):
        Verdict.objects.filter(image=pair[0]).update(probability=probability)
    assert shown(researcher, made, sort="unsure") == "cbda"


def test_verdicts_at_most_so_sure_are_those_whose_figure_on_pages_is(researcher, made):
    for pair, probability in zip(candidates(made.hits.get()), (0.999, 0.707, 0.004, None), strict=True):
        Verdict.objects.filter(image=pair[0]).update(probability=probability)
    for sure, pairs in (("99", "abc"), ("98", "bc"), ("70", "bc"), ("69", "c"), ("1", "c")):
        assert shown(researcher, made, sure=sure) == pairs, sure
    assert shown(researcher, made, sure="99", sort="unsure") == "cba"
    assert shown(researcher, made, sure="99", annotator="clip") == "ab"
    assert len(researcher.get(table("pool", made.pool.name, sure="70")).context["lines"]) == 2
    rows = researcher.get(table(page="pairs_csv", sure="70")).getvalue().decode().splitlines()
    assert len(rows) == 1 + 2


def test_a_verdict_shows_its_votes_and_of_how_many_like_it_the_side_is_right(researcher, made):
    pair = candidates(made.hits.get())[1]
    Verdict.objects.filter(image=pair[0]).update(probability=0.876)
    said = "about 87 of 100 such verdicts are right"
    assert f"1 of 2 votes, {said}" in researcher.get(reverse("pair", args=pair)).text
    for page in (table(), table("pool", made.pool.name)):
        assert re.search(rf"1 of 2 votes, <a [^>]*sure=87[^>]*>{said}</a>", researcher.get(page).text)


@pytest.mark.parametrize("figures", [SILENT, None, {"found": 0.98, "refused": 0.98, "expected_wrong": 1.0}])
def test_without_enough_controls_no_page_has_a_percentage_or_filters_by_one(researcher, made, figures):
    made.aggregations.update(certainty=figures)
    Verdict.objects.update(probability=0.9)
    for page in (table(), table("pool", made.pool.name), reverse("pair", args=candidates(made.hits.get())[0])):
        said = researcher.get(page).text
        assert "of 100 such" not in said
        assert not re.search(r"\b90\b", said)
    assert shown(researcher, made, sure="50") == "abcd"  # an address of before sets no condition
    (line,) = {
        row[-1] for row in csv.reader(researcher.get(table(page="pairs_csv")).getvalue().decode().splitlines()[1:])
    }
    assert line == ""
    if figures:
        assert why_no_percentage(figures) in researcher.get(table()).text
    for pair, probability in zip(candidates(made.hits.get()), (0.9, 0.6, 0.4, 0.7), strict=True):
        Verdict.objects.filter(image=pair[0]).update(probability=probability)
    assert shown(researcher, made, sort="unsure") == "cbda"  # the order needs no level


def test_verdicts_drawn_at_random_are_reviewed_without_their_votes(reviewer, made):
    (aggregation,) = made.aggregations.all()
    draw = [one[:2] for one in random_reviews(aggregation).following]
    address = table(sort="drawn")
    page = reviewer.get(address)
    assert [(line.image.pk, line.caption.pk) for line in page.context["lines"]] == draw
    lines = page.text.split("data-pairs")[1]
    assert not re.search(r"<li[^>]*data-level|of 100|\d votes?\b", lines)
    review(reviewer, draw[:2])
    assert [(line.image.pk, line.caption.pk) for line in reviewer.get(address).context["lines"]] == draw[2:]
    assert "2 checked so far" in reviewer.get(address).text
    assert "Count the votes again" in reviewer.get(address).text
    text = table(sort="drawn", text=Caption.objects.get(pk=draw[3][1]).text)
    assert [(line.image.pk, line.caption.pk) for line in reviewer.get(text).context["lines"]] == draw[3:]
    assert reviewer.get(table("pool", made.pool.name, sort="drawn")).status_code == 422


def test_a_probability_names_the_model_that_gives_it(researcher, made):
    aggregate_round(made, method="dawid-skene")
    pair = candidates(made.hits.get())[1]
    by_model = Verdict.objects.get(image=pair[0], aggregation__method="dawid-skene")
    by_model.confidence = 0.934
    by_model.save()
    for page in (table(), reverse("pair", args=pair)):
        assert "0.93 by dawid-skene" in researcher.get(page).text


def test_before_the_votes_are_counted_every_pair_is_unjudged(researcher, made):
    made.aggregations.all().delete()
    assert shown(researcher, made, verdict="none") == "abcd"
