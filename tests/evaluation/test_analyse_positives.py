import pytest

from corpus.models import Match
from dataset.models import Version
from tests.console.conftest import answer_rightly
from tests.dataset.releasing import release
from tests.evaluation.analysing import figures_of
from tests.factories import make_collection, make_round


@pytest.fixture
def version(db) -> Version:
    made = make_round(make_collection(images=8, pictures=True))
    answer_rightly(made)
    return release(made)


def test_queries_are_counted_by_their_positives(version):
    collection = version.collection
    rows = figures_of("positives", "v1")["positives"]
    for source in ("original", "v1"):
        known = Match.objects.filter(collection=collection, source=source).exclude(grade__in=(3, 4))
        for direction, column, queries in (
            ("i2t", "image", version.sample.images.values_list("pk", flat=True)),
            ("t2i", "caption", version.sample.captions.values_list("pk", flat=True)),
        ):
            counts = [known.filter(**{column: query}).count() for query in queries]
            found = [row for row in rows if (row["source"], row["direction"]) == (source, direction)]
            assert [row["queries"] for row in found] == [counts.count(row["positives"]) for row in found]
            assert [row["at_least"] for row in found] == [
                sum(count >= row["positives"] for count in counts) for row in found
            ]
            assert sum(row["queries"] for row in found) == len(counts)
