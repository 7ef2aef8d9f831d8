"""What the home page says was found."""

import pytest

from console.home.newest_result import METRIC, newest_result
from dataset.release import release_version
from evaluation.models import Run


def score(run: Run, version, value: float) -> None:
    for direction in ("i2t", "t2i"):
        run.scores.create(version=version, metric=METRIC, direction=direction, value=value, queries=8)


@pytest.fixture
def later(site):
    """A second version of the site's round, and two models that are scored on both."""
    runs = [Run.objects.create(collection=site.collection, model=name, sha256=name * 64) for name in "ab"]
    for run, value in zip(runs, (0.5, 0.4), strict=True):
        score(run, site.version, value)
    rounds = list(site.version.rounds.all())
    return runs, release_version("v2", collection=site.collection, sample=site.version.sample, rounds=rounds)


def test_before_the_first_version_nothing_is_said(member, db):
    assert newest_result() is None
    assert "Found so far" not in member.get("/").text


def test_the_matches_are_compared_with_the_original_ones(site):
    site.version.manifest["sources"] = [
        {"source": "original", "images": 10, "captions": 40},
        {"source": "v1", "images": 50, "captions": 100},
    ]
    site.version.save()
    found = newest_result()
    assert found.times == 3  # 150 of 50
    told = [(side.times, [(part.kind, part.count) for part in side.parts]) for side in found.sides]
    assert told == [(5, [("original", 10), ("found", 40)]), (2.5, [("original", 40), ("found", 60)])]


def test_a_version_without_original_matches_or_scores_says_what_it_has(member, site):
    site.version.manifest["sources"] = [{"source": "v1", "images": 50, "captions": 100}]
    site.version.save()
    text = member.get("/").text
    assert "matches in zoo." in text
    assert "No model is scored on v1 yet." in text


@pytest.mark.parametrize(
    ("values", "told"),
    [((0.6, 0.3), "<strong>a</strong> still leads"), ((0.3, 0.6), "changes: <strong>b</strong> instead of a")],
)
def test_the_leader_is_compared_with_that_of_the_version_before(member, later, values, told):
    runs, version = later
    for run, value in zip(runs, values, strict=True):
        score(run, version, value)
    text = member.get("/").text
    assert told in text
    assert f"{METRIC} 60.0%" in text
