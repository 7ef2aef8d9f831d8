"""Verdicts in the pairs table: their votes and their certainty."""

import re

import pytest
from django.urls import reverse

from dataset.models import Verdict
from dataset.verdicts import aggregate_round
from tests.annotation.cast import candidates
from tests.console.pairs.tables import shown, table

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


def test_a_verdict_shows_its_votes_and_its_certainty(researcher, made):
    pair = candidates(made.hits.get())[1]
    Verdict.objects.filter(image=pair[0]).update(probability=0.576)
    assert "1 of 2 votes, 57% sure" in researcher.get(reverse("pair", args=pair)).text
    for page in (table(), table("pool", made.pool.name)):
        assert re.search(r"1 of 2 votes, <a [^>]*sure=57[^>]*>57% sure</a>", researcher.get(page).text)


def test_no_verdict_is_shown_as_100_percent_sure_and_those_of_an_earlier_program_have_no_figure(researcher, made):
    Verdict.objects.update(probability=0.9999)
    assert researcher.get(table()).text.count("99% sure") == 4
    assert shown(researcher, made, sure="99") == "abcd"
    Verdict.objects.update(probability=None)
    assert not re.search(r"\d% sure", researcher.get(table()).text)


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
