"""Two annotators or two versions side by side."""

import pytest
from django.contrib.auth.models import User

from dataset.reviews.reviews import Conclusion, conclude
from hits.models import Round
from tests.annotation.cast import candidates
from tests.console.pairs.tables import table
from tests.dataset.releasing import release_version

pytestmark = pytest.mark.django_db


def sides(client, kind="round", name="round-1", **filters) -> dict[str, list[tuple[int, int]]]:
    """The pairs of each side, by its title."""
    shown = client.get(table(kind, name, **filters)).context["sides"]
    return {side.title: [(one.image.pk, one.caption.pk) for one in side.lines] for side in shown}


def test_two_annotators_pairs_are_shown_side_by_side(researcher, made):
    a, b, c, d = candidates(made.hits.get())
    assert sides(researcher, annotator="clip", beside="vilt") == {"clip": [a, b], "vilt": [b, c, d]}
    assert sides(researcher, annotator="clip", beside="vilt", differ="on") == {"clip": [a], "vilt": [c, d]}
    assert sides(researcher, annotator="clip", beside="vilt", verdict="no") == {"clip": [b], "vilt": [b, c]}


def test_two_versions_are_shown_side_by_side(researcher, site):
    pair = (site.collection.images.first().pk, site.collection.captions.last().pk)
    conclude(site.collection, [pair], Conclusion("level", 1), by=User.objects.create_user("other"))
    release_version("v2", collection=site.collection, sample=site.pool.sample, rounds=[Round.objects.get(name="done")])
    both = sides(researcher, "version", "v2", beside="v1")
    assert list(both) == ["v2", "v1"]
    assert set(both["v2"]) - set(both["v1"]) == {pair}
    assert sides(researcher, "version", "v2", beside="v1", differ="on") == {"v2": [pair], "v1": []}


def test_the_shorter_side_ends_before_the_longer_one(researcher, made, monkeypatch):
    monkeypatch.setattr("console.pairs.light_table.SIZES", (4,))
    _, _, _, d = candidates(made.hits.get())
    response = researcher.get(f"{table(annotator='clip', beside='vilt')}&page=2")
    assert [[(one.image.pk, one.caption.pk) for one in side.lines] for side in response.context["sides"]] == [[], [d]]
