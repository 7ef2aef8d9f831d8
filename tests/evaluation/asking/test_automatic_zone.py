"""The automatic zone: which pairs a round rejects, and what becomes of them."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks.estimation.beds import synthetic_bed
from core.errors import CounterpartError
from corpus.models import Match
from dataset.changes import Cause, changes_between
from dataset.exports import export_version
from dataset.exports.card import card
from dataset.models import Version
from dataset.rejections import most_matches
from dataset.verification import verify_version
from dataset.version_files import load_pairs
from evaluation.asking import automatic_zone, round_top_ups
from evaluation.asking.automatic_zone import CAP, zone_of
from evaluation.asking.likely_matches import LikelyMatches
from evaluation.asking.round_top_ups import TopUpParameters, add_planned, plan_top_up
from evaluation.estimation import folds_of, match_probability
from hits.models import Round
from tests.commands import output_of
from tests.conftest import client_of
from tests.dataset.releasing import release_version
from tests.evaluation.worlds import SMALL, judge, judge_all, known_pool, published
from tests.hits.pools import pack

AUDIT = {"design": SMALL, "judge": "audit", "audit_share": 0.5, "seed": 4}


def likely(probability, gains=None) -> LikelyMatches:
    p = np.array(probability)
    known = np.full(len(p), np.nan) if gains is None else np.array(gains)
    return LikelyMatches(np.arange(len(p)), p, known, np.zeros(len(p), bool))


def test_the_zone_is_of_the_unjudged_pairs_up_to_its_probability():
    found = likely([0.01, 0.02, 0.03, 0.005, 0.5, 0.4], [np.nan, np.nan, np.nan, 0, np.nan, np.nan])
    assert zone_of(found, below=0.02, sample=1, seed=0).pairs.tolist() == [0, 1]


def test_at_most_half_of_the_pairs_are_in_it_the_least_likely_ones():
    found = likely([0.004, 0.001, 0.003, 0.002])
    assert CAP == 0.5
    assert zone_of(found, below=0.02, sample=1, seed=0).pairs.tolist() == [1, 3]


def test_every_pair_of_the_zone_is_as_likely_in_the_sample():
    found = likely(np.full(20, 0.01))
    drawn = [zone_of(found, below=0.02, sample=3, seed=seed).asked for seed in range(2_000)]
    counts = np.bincount(np.concatenate(drawn), minlength=20)
    assert np.abs(counts[:10] - 600).max() < 5 * (2_000 * 0.3 * 0.7) ** 0.5
    assert all(len(set(one.tolist())) == 3 for one in drawn)


def test_a_zone_that_its_sample_would_cover_is_refused():
    with pytest.raises(CounterpartError, match="1 pairs without a verdict have a probability of a match of at most"):
        zone_of(likely([0.01, 0.5]), below=0.02, sample=1, seed=0)


@pytest.fixture(scope="module")
def judged(lasting) -> int:
    return judge_all(published(pack("round-1", known_pool(), **AUDIT))).pk


@pytest.fixture
def made(db, judged, monkeypatch) -> Round:
    """A judged audit whose pairs are all unlikely enough, and of which few need be asked."""
    monkeypatch.setattr(automatic_zone, "CAP", 1.0)
    monkeypatch.setattr(round_top_ups, "SAMPLE", 4)
    monkeypatch.setattr("dataset.rejections.ALLOWED", 1.0)
    monkeypatch.setattr(LikelyMatches, "of", _unlikely(LikelyMatches.of))
    return Round.objects.get(pk=judged)


def _unlikely(of):
    def found(*wholes, **how):
        real = of(*wholes, **how)
        return LikelyMatches(real.codes, real.probability / 100, real.gains, real.opened)

    return found


def rejecting(round: Round, below: float = 0.02):
    return plan_top_up(round, TopUpParameters(reject_below=below))


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
    assert top_up.purpose == f"a random sample of {len(planned.zone.pairs)} pairs to reject"


def test_a_round_rejects_once(made):
    answered(made)
    with pytest.raises(CounterpartError, match="rejects pairs already"):
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
        TopUpParameters(reject_below=below)


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
