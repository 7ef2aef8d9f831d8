"""The automatic zone: which pairs a round rejects, and what becomes of them."""

import json

import pandas as pd
import pytest

from core.errors import CounterpartError
from corpus.models import Match
from counterpart_statistics.selection import automatic_zone
from counterpart_statistics.selection.likely_matches import LikelyMatches
from dataset.exports import export_version
from dataset.exports.card import card
from dataset.models import Version
from dataset.versions.changes import Cause, changes_between
from dataset.versions.version_files import load_pairs
from evaluation.asking import round_top_ups
from evaluation.asking.planned_top_ups import add_planned
from evaluation.asking.round_top_ups import RejectUnlikely
from hits.models import Round
from tests.conftest import client_of
from tests.dataset.releasing import problems, release
from tests.evaluation.worlds import AUDIT, judge_all, judge_last_top_up, known_pool, published
from tests.hits.pools import pack


@pytest.fixture(scope="module")
def judged(lasting) -> int:
    return judge_all(published(pack("round-1", known_pool(), **AUDIT))).pk


@pytest.fixture
def audit(db, judged, monkeypatch) -> Round:
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


def answered(round: Round) -> Round:
    """The round with its sample asked and judged."""
    add_planned(rejecting(round), actor="robin")
    judge_last_top_up(round)
    return round


def test_a_sample_of_the_zone_is_asked(audit):
    planned = rejecting(audit)
    assert planned.pairs == 4
    add_planned(planned, actor="robin")
    top_up = audit.top_ups.get()
    assert top_up.rejected["below"] == 0.02
    asked = set(top_up.hits.filter(items__control=None).values_list("items__image__key", "items__caption__key"))
    assert asked < set(map(tuple, top_up.rejected["pairs"]))
    assert top_up.purpose == f"a random sample of {planned.figures['pairs_to_reject']} pairs to reject"


def test_a_round_rejects_once(audit):
    answered(audit)
    with pytest.raises(CounterpartError, match="already rejects"):
        rejecting(audit)


def test_until_the_sample_is_judged_a_version_rejects_nothing(audit):
    add_planned(rejecting(audit), actor="robin")
    version = release(audit, "v1", partial=True)
    assert "rejections" not in version.manifest
    assert "rejections.csv" not in version.manifest["files"]


def test_a_version_lists_rejected_pairs_apart_and_says_what_they_may_hide(audit):
    zone = {(image, caption) for image, caption in answered(audit).top_ups.get().rejected["pairs"]}
    version = release(audit, "v1")
    found = version.manifest["rejections"]["round-1"]
    automatic = {(row.image, row.caption) for row in load_pairs(version) if row.sources == "automatic"}
    assert (found["pairs"], found["asked"]) == (len(zone), 4)
    assert automatic < zone
    assert len(automatic) == version.manifest["automatic_rejections"] > 0
    said = f"so at most {found['at_most']:.1%} are matches, with 95% confidence"
    assert said in card(version, {})
    assert said in client_of(None).get("/rounds/round-1/").text


def test_every_export_marks_rejected_pairs_or_leaves_them_out(audit, tmp_path):
    version = release(answered(audit), "v1")
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


def test_rejected_pairs_teach_nothing_and_are_no_matches_of_the_collection(audit):
    answered(audit)
    version = release(audit, "v1")
    automatic = {(row.image, row.caption) for row in load_pairs(version) if row.sources == "automatic"}
    known = set(Match.objects.filter(source="v1").values_list("image__key", "caption__key"))
    assert not automatic & known


def test_verify_rebuilds_them_and_diff_names_them(audit):
    before = release(audit, "v0")
    version = release(answered(audit), "v1")
    assert problems(version) == []
    causes = {change.cause for change in changes_between(before, version)}
    assert Cause.AUTOMATIC in causes
    Version.objects.filter(pk=version.pk).update(manifest=version.manifest | {"automatic_rejections": 7})
    assert any("automatic rejections" in problem for problem in problems(version))


@pytest.mark.parametrize("below", [0, 0.021])
def test_no_pair_is_rejected_above_two_in_a_hundred(below):
    with pytest.raises(CounterpartError, match="reject"):
        RejectUnlikely(reject_below=below)
