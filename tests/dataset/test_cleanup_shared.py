"""The clean-up of ECCV Caption, decided by a person on suggestions, gives the figures of the paper."""

import pytest

from benchmarks.eccv_caption import MEANINGLESS, SEMANTICALLY_WRONG
from dataset.cases import queue_of
from dataset.cleanup import suggest_clean_up
from dataset.models import Review
from dataset.release import release_version
from dataset.reviews import Conclusion, conclude
from dataset.version_files import load_positives
from tests.dataset.test_release_shared import coco

__all__ = ["coco"]

pytestmark = [pytest.mark.shared, pytest.mark.slow, pytest.mark.django_db]


def exclude(coco, side: str, keys, grounds: str, person) -> None:
    rows = getattr(coco, side).filter(key__in=map(str, keys)).values_list("pk", flat=True)
    subjects = [(pk, None) if side == "images" else (None, pk) for pk in rows]
    conclude(coco, subjects, Conclusion(Review.Conclusion.EXCLUDED, grounds=grounds, reason="Appendix C.1."), by=person)


def size(coco, name: str) -> tuple[int, int]:
    positives = load_positives(release_version(name, collection=coco, sample=coco.samples.get(), merge="eccv,cxc>=3"))
    return tuple(sum(map(len, positives[direction].values())) for direction in ("t2i", "i2t"))


def test_the_suggestions_hold_every_meaningless_caption_and_the_originals_that_cxc_doubts(coco):
    counts = suggest_clean_up(coco)
    suggested = {int(case.caption.key) for case in queue_of(coco, "meaningless").select_related("caption")}
    assert suggested >= set(MEANINGLESS)
    assert (counts["meaningless"], counts["suspicious"]) == (28, 15)
    doubted = {int(case.caption.key) for case in queue_of(coco, "suspicious").select_related("caption")}
    assert [len(doubted & set(listed)) for listed in (MEANINGLESS, SEMANTICALLY_WRONG)] == [12, 3]


def test_accepting_the_published_clean_up_gives_the_published_counts(coco, person):
    exclude(coco, "captions", MEANINGLESS, "meaningless", person)
    assert size(coco, "meaningless") == (11_279, 22_550)
    exclude(coco, "captions", SEMANTICALLY_WRONG, "wrong", person)
    assert size(coco, "wrong") == (11_279, 22_545)
    exclude(coco, "images", [578492], "duplicate", person)
    assert size(coco, "duplicate") == (11_279, 22_545)  # the published files hold no match of it
