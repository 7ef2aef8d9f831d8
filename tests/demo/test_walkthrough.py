"""The whole demo: what ``make demo`` runs, and its figures."""

import re
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.models import Judgment
from annotation.money.wages import timing_of
from annotation.work.standing import standing_of
from dataset.models import Aggregation, Verdict, Version
from dataset.releases.verification import verify_version
from dataset.versions.changes import Cause, changes_between
from demo.management.commands.demo import table
from demo.savings import savings
from demo.walkthrough import (
    DOUBTFUL,
    JUDGED,
    LOGIN,
    OPEN,
    REVIEWED,
    VERSION,
    demonstrate,
    make_login,
    said_and_true,
    wrong_verdicts,
)
from evaluation.asking.judging_again import judge_again
from evaluation.models import Score
from hits.models import Round
from hits.prices import fair_reward
from mitl.models import Direction
from tests.crawling import broken_links

pytestmark = pytest.mark.slow


def test_the_demo_finds_twice_the_original_matches_and_hardly_a_wrong_one(transactional_db):
    figures = demonstrate()
    for direction in Direction:
        assert figures.released[direction].recall >= 2 * figures.original[direction].recall
        assert figures.released[direction].precision >= 0.95
    assert VERSION in table(figures)
    _the_version_is_rebuilt_and_the_review_explained()
    _every_station_shows_rows()
    _an_audit_of_a_part_estimates_the_scores_and_saves_money()
    _further_votes_are_expected_to_correct_verdicts()
    _what_is_said_of_wrong_verdicts_holds()
    _no_link_is_broken()
    _played_again_it_changes_nothing(figures)


def _the_version_is_rebuilt_and_the_review_explained() -> None:
    first, second = Version.objects.get(name=VERSION), Version.objects.get(name=REVIEWED)
    assert [check.problems for check in verify_version(first)] == [[]] * 5
    changes = list(changes_between(first, second))
    assert {change.cause for change in changes} == {Cause.REVIEW}
    assert len(changes) == second.manifest["counts"]["reviewed"] > 0


def _every_station_shows_rows() -> None:
    assert Verdict.objects.filter(aggregation__round__name=JUDGED).count() > 1_000
    judged = Round.objects.get(name=JUDGED)
    assert [judged.state, Round.objects.get(name=OPEN).state] == ["closed", "open"]
    assert judged.participants.count() == standing_of(judged).workers == 40
    timing = timing_of(judged)
    assert timing.simulated
    assert fair_reward(timing.active, judged.wage_floor) <= judged.reward
    assert Score.objects.filter(version__name=VERSION).count() == 5 * 5 * 2


def _an_audit_of_a_part_estimates_the_scores_and_saves_money() -> None:
    judged = Round.objects.get(name=JUDGED)
    text = savings(judged)
    assert re.search(r"\$\d+\.\d\d of \$\d+\.\d\d saved", text)
    rows = re.findall(r"(\d\.\d{3}) +\d\.\d{3} \[(\d\.\d{3}), (\d\.\d{3})\]", text)
    assert len(rows) == 10
    held = [float(low) <= float(counted) <= float(high) for counted, low, high in rows]
    assert sum(held) >= 8


def _further_votes_are_expected_to_correct_verdicts() -> None:
    doubtful = Round.objects.get(name=DOUBTFUL)
    assert doubtful.state == "open"
    assert judge_again(doubtful, Decimal(25)).gain > 1


def _what_is_said_of_wrong_verdicts_holds() -> None:
    lines = list(said_and_true())
    assert all(
        re.fullmatch(r"demo-\w+: Of [\d,]+ verdicts about .* are wrong .* By the truth [\d,]+ are\.", line)
        for line in lines
    )
    doubtful, judged = (Aggregation.objects.get(round__name=name) for name in (DOUBTFUL, JUDGED))
    figures = doubtful.certainty
    assert 0.88 <= figures["right"] <= 0.94
    assert figures["wrong_low"] <= len(wrong_verdicts(doubtful.round)) <= figures["wrong_high"]
    true = 1 - len(wrong_verdicts(judged.round)) / judged.certainty["verdicts"]
    assert judged.certainty["right"] == pytest.approx(true, abs=0.02)


def _no_link_is_broken() -> None:
    make_login()
    client = Client()
    client.force_login(User.objects.get(username=LOGIN))
    assert broken_links(client, "/", at_most=1) == {}


def _played_again_it_changes_nothing(figures) -> None:
    before = Judgment.objects.count(), Version.objects.count(), Round.objects.count()
    assert demonstrate() == figures
    assert (Judgment.objects.count(), Version.objects.count(), Round.objects.count()) == before
