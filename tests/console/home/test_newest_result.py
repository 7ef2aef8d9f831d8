"""What the home page says was found."""

import pytest

from console.home.cards import METRIC, newest_result
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


def test_a_site_without_versions_has_no_result(db):
    assert newest_result() is None


def test_the_matches_are_compared_with_the_original_ones(site):
    site.version.manifest["sources"] = [
        {"source": "original", "images": 10, "captions": 40},
        {"source": "v1", "images": 50, "captions": 100},
    ]
    site.version.save()
    result = newest_result()
    assert result.times == 3  # 150 of 50
    sides = [(side.times, [(part.kind, part.count) for part in side.parts]) for side in result.sides]
    assert sides == [(5, [("original", 10), ("found", 40)]), (2.5, [("original", 40), ("found", 60)])]


def test_a_version_without_original_matches_or_scores_has_a_result_without_both(member, site):
    site.version.manifest["sources"] = [{"source": "v1", "images": 50, "captions": 100}]
    site.version.save()
    result = member.get("/").context["result"]
    assert (result.version, result.times, result.sides, result.leader) == (site.version, None, [], "")


@pytest.mark.parametrize(
    ("models", "leader", "before"),
    [
        ({"a": (0.6, 0.5), "b": (0.3, 0.4)}, "a", "a"),
        ({"a": (0.3, 0.5), "b": (0.6, 0.4)}, "b", "a"),
        # Scored by an earlier program, all or in part: nothing is known of the original matches.
        ({"a": (0.6, None), "b": (0.3, None)}, "a", ""),
        ({"a": (0.3, 0.5), "b": (0.6, None)}, "b", ""),
    ],
)
def test_the_leader_is_compared_with_that_on_the_original_captions(member, scored, models, leader, before):
    scored(**models)
    page = member.get("/")
    result = page.context["result"]
    assert (result.leader, result.before, result.score) == (leader, before, pytest.approx(0.6))
    assert f"{METRIC} 60.0%" in page.text
