"""The automatic zone: which pairs a round rejects, and what becomes of them."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.estimation.beds import synthetic_bed
from core.errors import CounterpartError
from corpus.models import Match
from counterpart_statistics.estimation import folds_of, match_probability
from counterpart_statistics.selection import automatic_zone
from counterpart_statistics.selection.automatic_zone import zone_of
from counterpart_statistics.selection.likely_matches import LikelyMatches
from dataset.exports import export_version
from dataset.exports.card import card
from dataset.models import Version
from dataset.releases.verification import verify_version
from dataset.versions.changes import Cause, changes_between
from dataset.versions.rejections import most_matches
from dataset.versions.version_files import load_pairs
from evaluation.asking import round_top_ups
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import RejectUnlikely
from hits.models import Round
from tests.commands import output_of
from tests.conftest import client_of
from tests.dataset.releasing import release_version
from tests.evaluation.worlds import SMALL, judge, judge_all, known_pool, published
from tests.hits.pools import pack

AUDIT = {"design": SMALL, "judge": "audit", "audit_share": 0.5, "seed": 4}


@pytest.fixture(scope="module")
def judged(lasting) -> int:
    return judge_all(published(pack("round-1", known_pool(), **AUDIT))).pk


@pytest.fixture
def made(db, judged, monkeypatch) -> Round:
    """A judged audit whose pairs are all unlikely enough, and of which few need be asked."""
    monkeypatch.setattr(automatic_zone, "CAP", 1.0)
    monkeypatch.setattr(round_top_ups, "SAMPLE", 4)
    monkeypatch.setattr("dataset.versions.rejections.ALLOWED", 1.0)
    monkeypatch.setattr(LikelyMatches, "of", _unlikely(LikelyMatches.of))
    return Round.objects.get(pk=judged)


def _unlikely(of):
    def found(*wholes, **how):
        real = of(*wholes, **how)
        return LikelyMatches(real.codes, real.probability / 100, real.gains, real.opened)

    return found


def rejecting(round: Round, below: float = 0.02):
    return RejectUnlikely(reject_below=below).plan(round)


def released(round: Round, name: str, **options: object) -> Version:
    pool = round.pool
    return release_version(name, collection=pool.collection, sample=pool.sample, rounds=[round], **options)


def answered(round: Round) -> Round:
    """The round with its sample asked and judged."""
    add_planned(rejecting(round), actor="robin")
    for hit in round.top_ups.get().hits.all():
        judge(hit)
    return round


def test_a_sample_of_the_zone_is_asked(made):
    planned = rejecting(made)
    assert planned.pairs == 4
    add_planned(planned, actor="robin")
    top_up = made.top_ups.get()
    assert top_up.rejected["below"] == 0.02
    asked = set(top_up.hits.filter(items__control=None).values_list("items__image__key", "items__caption__key"))
    assert asked < set(map(tuple, top_up.rejected["pairs"]))
    assert top_up.purpose == f"a random sample of {planned.figures['pairs_to_reject']} pairs to reject"


def test_a_round_rejects_once(made):
    answered(made)
    with pytest.raises(CounterpartError, match="already rejects"):
        rejecting(made)


def test_until_the_sample_is_judged_a_version_rejects_nothing(made):
    add_planned(rejecting(made), actor="robin")
    version = released(made, "v1", partial=True)
    assert "rejections" not in version.manifest
    assert "rejections.csv" not in version.manifest["files"]


def test_a_version_lists_rejected_pairs_apart_and_says_what_they_may_hide(made):
    zone = {(image, caption) for image, caption in answered(made).top_ups.get().rejected["pairs"]}
    version = released(made, "v1")
    told = version.manifest["rejections"]["round-1"]
    automatic = {(row.image, row.caption) for row in load_pairs(version) if row.sources == "automatic"}
    assert (told["pairs"], told["asked"]) == (len(zone), 4)
    assert automatic < zone
    assert len(automatic) == version.manifest["automatic_rejections"] > 0
    said = f"so at most {told['at_most']:.1%} are matches, with 95% confidence"
    assert said in card(version, {})
    assert said in client_of(None).get("/rounds/round-1/").text


def test_every_export_marks_rejected_pairs_or_leaves_them_out(made, tmp_path):
    version = released(answered(made), "v1")
    automatic = {(row.image, row.caption) for row in load_pairs(version) if row.sources == "automatic"}
    export_version(version, format="coco", out=tmp_path / "coco")
    (file,) = (tmp_path / "coco").rglob("captions_*.json")
    negatives = json.loads(file.read_text())["negatives"]
    marked = {(str(one["image_id"]), str(one["caption_id"])) for one in negatives if one["sources"] == "automatic"}
    assert marked == automatic
    export_version(version, format="parquet", out=tmp_path / "parquet")
    (pairs,) = [file for file in (tmp_path / "parquet").rglob("*.parquet") if "pairs" in file.name]
    table = pd.read_parquet(pairs)
    named = table[table["sources"] == "automatic"]
    assert set(zip(named["image_id"], named["caption_id"], strict=True)) == automatic
    export_version(version, format="qrels", out=tmp_path / "qrels")
    lines = [line.split() for file in (tmp_path / "qrels").rglob("*image_to_caption*.qrels") for line in file.open()]
    assert lines
    assert not {(query, item) for query, _, item, _ in lines} & automatic
    export_version(version, format="eccv-json", out=tmp_path / "json")
    listed = json.loads((tmp_path / "json" / "v1_image_to_caption.json").read_text())
    assert not {(image, str(item)) for image, items in listed.items() for item in items} & automatic


def test_rejected_pairs_teach_nothing_and_are_no_matches_of_the_collection(made):
    answered(made)
    version = released(made, "v1")
    automatic = {(row.image, row.caption) for row in load_pairs(version) if row.sources == "automatic"}
    known = set(Match.objects.filter(source="v1").values_list("image__key", "caption__key"))
    assert not automatic & known


def test_verify_rebuilds_them_and_diff_names_them(made):
    before = released(made, "v0")
    version = released(answered(made), "v1")
    assert [problem for check in verify_version(version) for problem in check.problems] == []
    causes = {change.cause for change in changes_between(before, version)}
    assert Cause.AUTOMATIC in causes
    Version.objects.filter(pk=version.pk).update(manifest=version.manifest | {"automatic_rejections": 7})
    version.refresh_from_db()
    problems = [problem for check in verify_version(version) for problem in check.problems]
    assert "The automatic rejections in the manifest are not those of the rebuilt contents." in problems


def test_the_command_tells_the_zone_and_its_cost(made):
    told = json.loads(output_of("plan_top_up", "round-1", "--reject-below", "0.02", "--json"))
    assert (told["reject_below"], told["pairs"]) == (0.02, 4)
    assert told["pairs_to_reject"] > 4


@pytest.mark.parametrize("below", [0, 0.021])
def test_no_pair_is_rejected_above_two_in_a_hundred(below):
    with pytest.raises(CounterpartError, match="reject"):
        RejectUnlikely(reject_below=below)


@pytest.mark.slow
def test_the_bound_holds_in_19_of_20_simulated_rounds():
    """20 samples of each of 20 rounds of 120 queries: probabilities are learned from an audit of a fifth of them, and
    only the draw of the sample makes the bound hold, however good they are."""
    world = synthetic_bed()
    features = world.features
    held = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        queries = rng.choice(len(world.groups), 120, replace=False)
        asked, truth = world.asked[queries], world.gains[queries] > 0
        audited = np.broadcast_to((rng.random(120) < 0.2)[:, None], asked.shape)
        folds = folds_of(world.groups[queries], folds=2, seed=seed)
        p = match_probability(features[queries], np.where(asked & audited, truth, np.nan), folds)
        p = p[asked] / (10, 30)[seed % 2]  # probabilities that are too small make worse zones
        gains = np.where(audited, truth, np.nan)[asked]
        found = LikelyMatches(np.arange(len(p)), p, gains, np.zeros(len(p), bool))
        matches = truth[asked]
        for draw in range(20):
            zone = zone_of(found, below=0.02, sample=80, seed=draw)
            bound = most_matches(int(matches[zone.asked].sum()), len(zone.asked))
            held.append(matches[zone.pairs].mean() <= bound)
    assert np.mean(held) >= 0.95
