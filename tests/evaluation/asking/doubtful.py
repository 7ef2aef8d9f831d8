"""A judged round with two doubtful pairs, for the tests of further votes."""

import pytest
from django.utils import timezone

from dataset.models import Aggregation, Verdict
from dataset.verdicts import aggregate_round
from hits.models import Round
from tests.annotation.cast import answer
from tests.dataset.judged.figures import FIGURES
from tests.evaluation.worlds import SMALL
from tests.factories import make_collection
from tests.hits.pools import pack, pool_of

DOUBTFUL = FIGURES | {
    **{"verdicts": 12, "expected_wrong": 1.2, "wrong_low": 0, "wrong_high": 3},
    **{"mean": 0.85, "easier": [0.4, -0.3], "gap": 0.0, "shared": 0.0},
}


@pytest.fixture
def judged(db) -> Round:
    """A round of three HITs with one vote on each pair, by dawid-skene; every pair but the first two is quite sure."""
    zoo = make_collection(images=16, pictures=True)
    made = pack("round-1", pool_of(12, images=16, collection=zoo), design=SMALL, reward="0.50", ceiling="20")
    made.published_at = timezone.now()
    made.channel = "browser"
    made.save()
    for hit in made.hits.all():
        answer(hit, *([1, 4, 4, 1] * 2)[: hit.items.filter(control=None).count()])
    aggregate_round(made, method="dawid-skene")
    Verdict.objects.update(probability=0.9999)
    for verdict, probability in zip(Verdict.objects.order_by("pk")[:2], (0.5, 0.6), strict=True):
        Verdict.objects.filter(pk=verdict.pk).update(probability=probability)
    Aggregation.objects.update(certainty=DOUBTFUL)
    return Round.objects.get()


def doubtful() -> list[tuple[int, int]]:
    return list(Verdict.objects.filter(probability__lt=0.9).order_by("probability").values_list("image", "caption"))
