"""What the home page says was found."""

import pytest

from console.home.newest_result import METRIC, newest_result
from evaluation.models import Run


@pytest.fixture
def scored(site):
    """Score models of the site's version: each with its values on the version and on the original matches."""

    def make(**models: tuple[float, float | None]) -> None:
        for name, (value, original) in models.items():
            run = Run.objects.create(collection=site.collection, model=name, sha256=name * 64)
            for direction in ("i2t", "t2i"):
                figures = {"value": value, "original": original, "queries": 8}
                run.scores.create(version=site.version, metric=METRIC, direction=direction, **figures)

    return make


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
    ("models", "told"),
    [
        ({"a": (0.6, 0.5), "b": (0.3, 0.4)}, "<strong>a</strong> still leads"),
        ({"a": (0.3, 0.5), "b": (0.6, 0.4)}, "changes: <strong>b</strong> instead of a"),
        # Scored by an earlier program, all or in part: nothing is known of the original matches.
        ({"a": (0.6, None), "b": (0.3, None)}, "<strong>a</strong> leads"),
        ({"a": (0.3, 0.5), "b": (0.6, None)}, "<strong>b</strong> leads"),
    ],
)
def test_the_leader_is_compared_with_that_on_the_original_captions(member, scored, models, told):
    scored(**models)
    text = member.get("/").text
    assert told in text
    assert f"{METRIC} 60.0%" in text
    assert ("a leads on the original captions alone" in text) == ("instead of" in told)
