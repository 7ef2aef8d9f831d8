"""What the audit of a greedy round says of the scores on its version: kept with it, on pages and in the card."""

import json
from io import StringIO

import pytest
from django.core.management import call_command

from counterpart_statistics.auditing.model_guards import model_guards
from counterpart_statistics.auditing.model_scores import model_estimates
from dataset.exports.card import card
from dataset.models import Version
from dataset.versions.version_files import keep_guards, kept_guards
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import AskLikely
from evaluation.auditing.live_estimates import LiveParameters, measure_live
from evaluation.auditing.score_guards import guard_scores
from evaluation.auditing.whole_queries import whole_queries
from evaluation.scores.leaderboard import caution_of
from evaluation.scores.scoring import evaluate_version, score_all_runs
from hits.models import Round
from tests.dataset.releasing import release
from tests.evaluation.analysing import figures_of
from tests.evaluation.worlds import GREEDY, judge_all, judge_last_top_up, known_pool, published
from tests.hits.pools import pack

pytestmark = pytest.mark.django_db


def batch(round):
    add_planned(AskLikely(likely=2).plan(round), actor="robin")
    judge_last_top_up(round)


@pytest.fixture(scope="module")
def judged(lasting):
    made = judge_all(published(pack("greedy", known_pool(), **GREEDY)))
    batch(made)
    return made.pk


@pytest.fixture
def greedy(judged):
    return Round.objects.get(pk=judged)


@pytest.fixture(scope="module")
def released(judged):
    return release(Round.objects.get(pk=judged)).pk


@pytest.fixture
def version(released):
    return Version.objects.get(pk=released)


def rows_of(round):
    """The guard of mAP@R, as the round has it now."""
    return [
        one.row() for whole in whole_queries(round) for one in model_guards(whole, model_estimates(whole, ["mAP@R"]))
    ]


def test_the_guard_is_kept_with_the_version_once_as_the_round_may_go_on(version, greedy):
    rows = rows_of(greedy)
    guard_scores(version)
    assert kept_guards(version) == [{"round": "greedy", "rows": rows, "trouble": ""}]
    assert {(one["model"], one["direction"]) for one in rows} == {(n, d) for n in "abc" for d in ("i2t", "t2i")}
    batch(greedy)
    assert rows_of(greedy) != rows
    guard_scores(version)
    assert kept_guards(version)[0]["rows"] == rows


@pytest.mark.parametrize("act", [evaluate_version, score_all_runs])
def test_whoever_scores_a_version_guards_its_scores(version, greedy, act):
    assert kept_guards(version) is None
    act(version)
    assert len(kept_guards(version)[0]["rows"]) == 6


def test_evaluate_prints_the_guarded_estimates_with_the_counted_scores(version, greedy):
    rows = rows_of(greedy)
    printed = StringIO()
    warned = StringIO()
    call_command("evaluate", version="v1", stdout=printed, stderr=warned)
    assert caution_of(version) in warned.getvalue()
    table = printed.getvalue().split("counted and guarded")[1].splitlines()[2:]
    printed_rows = [line.replace("as counted", "").split() for line in table if line]
    assert [line[:1] + line[-4:] for line in printed_rows] == [
        [row["model"], *(f"{100 * row[name]:.1f}" for name in ("counted", "guarded", "low", "high"))] for row in rows
    ]
    figures = StringIO()
    call_command("evaluate", version="v1", json=True, stdout=figures, stderr=StringIO())
    assert json.loads(figures.getvalue())["guards"] == kept_guards(version)


def test_a_release_guards_its_scores_although_no_run_waits_for_one(greedy, commit):
    with commit(execute=True):
        version = release(greedy, "v2")
    assert len(kept_guards(version)[0]["rows"]) == 6


def test_a_version_without_likely_matches_has_no_guard(greedy):
    plain = judge_all(published(pack("plain", greedy.pool, **GREEDY | {"judge": "audit"})))
    version = release(plain, "v2")
    guard_scores(version)
    assert kept_guards(version) is None
    assert "guard" not in version.manifest["rounds"][0]
    assert "Guard of the scores" not in card(version, {})


def test_what_cannot_be_estimated_says_why(version, greedy, monkeypatch):
    greedy.pool.retrievals.clear()
    guard_scores(version)
    (kept,) = kept_guards(version)
    assert kept["rows"] == []
    assert "has no lists of annotators" in kept["trouble"]
    assert kept["trouble"] in card(version, {})


def test_manifest_and_card_say_how_few_queries_guard_the_scores_and_by_how_much_these_are_off(version, greedy):
    small = "5 queries, fewer than the 150 advised"
    assert version.manifest["rounds"][0]["guard"] == small
    assert small in card(version, {})
    row = {"model": "a", "metric": "mAP@R", "direction": "i2t", "counted": 0.5, "low": 0.4, "high": 0.7}
    moved, kept = row | {"guarded": 0.6, "weight": 0.5}, row | {"guarded": 0.5, "weight": 0.0}
    keep_guards(version, [{"round": "greedy", "rows": [moved, kept], "trouble": ""}])
    rows = [line.strip("| ").split(" | ") for line in card(version, {}).splitlines() if line.startswith("| a |")]
    assert [row[3:] for row in rows] == [
        ["0.500", "0.600", "0.400 to 0.700"],
        ["0.500", "0.500", "0.400 to 0.700", "as counted"],
    ]


def test_an_audit_to_which_likely_matches_were_added_by_hand_is_guarded_too(greedy):
    made = judge_all(published(pack("audit", greedy.pool, **GREEDY | {"judge": "audit"})))
    batch(made)
    assert release(made, "v2").manifest["rounds"][0]["guard"] == "5 queries, fewer than the 150 advised"


def test_live_estimates_give_recall_where_likely_matches_follow(greedy):
    live = measure_live(greedy, LiveParameters(metric=("mAP@R",), looks=1))
    printed = figures_of("live", "greedy", "--metric", "mAP@R", "--looks", "1")["likely"]
    assert printed == live.likely.row()
    plain = judge_all(published(pack("plain", greedy.pool, **GREEDY | {"judge": "audit"})))
    assert measure_live(plain, LiveParameters(looks=1)).likely is None


def test_no_page_shows_scores_of_a_part_of_the_pairs_without_saying_so(version, greedy, member, capsys):
    (scored, *_) = evaluate_version(version)
    caution = "v1 holds judgments on a part of a pool (round greedy)."
    off = max(abs(one["guarded"] - one["counted"]) for one in rows_of(greedy))
    assert caution_of(version).count(f"by up to {off:.3f} in mAP@R") == 1
    for page in ("/versions/v1/", f"/runs/{scored.run.pk}/", "/collections/zoo/leaderboard/?version=v1"):
        assert caution in member.get(page).text
    assert "v1 holds judgments on a part" in member.get("/collections/zoo/leaderboard/").text
    call_command("analyse", "benchmarks", "--versions", "v1")
    assert caution in capsys.readouterr().out
