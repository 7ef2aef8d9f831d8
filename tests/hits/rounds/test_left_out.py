"""Later rounds leave out controls that were retired, and images and captions that a review excluded; a round that is
packed again stays as it was."""

import pytest
from django.db.models import Q
from django.utils import timezone

from core.errors import CounterpartError
from corpus.models import Image
from hits.models import Control, Item, Round
from hits.rounds.packed_rounds import figures_of
from tests.hits.pools import SMALL, pack, pool_of


def test_a_retired_control_is_not_a_control_of_a_later_round(db):
    pool = pool_of(40)
    first = pack("first", pool, design=SMALL)
    wrong = list(first.controls.filter(polarity="positive")[:3])
    Control.objects.filter(pk__in=[control.pk for control in wrong]).update(state=Control.State.RETIRED)
    later = pack("later", pool, design=SMALL)
    shown = set(later.controls.values_list("image", "caption"))
    assert not shown & {(control.image_id, control.caption_id) for control in wrong}
    assert later.plan_hash != first.plan_hash
    assert len(later.summary["avoided"]) == 3


def exclude(*rows) -> None:
    for row in rows:
        row.excluded_at = timezone.now()
        row.save()


def shown_in(made) -> tuple[set[int], set[int]]:
    pairs = Item.objects.filter(hit__round=made).values_list("image", "caption")
    return {image for image, _ in pairs}, {caption for _, caption in pairs}


def test_an_excluded_image_or_caption_is_in_no_item_of_a_later_round(db):
    pool = pool_of(40)
    image, caption = pool.proposals.first().image, pool.proposals.last().caption
    exclude(image, caption)
    later = pack("later", pool, design=SMALL)
    images, captions = shown_in(later)
    assert image.pk not in images
    assert caption.pk not in captions
    left_out = pool.proposals.filter(Q(image=image) | Q(caption=caption)).count()
    assert left_out > 1
    assert (later.summary["pairs"], later.summary["excluded_pairs"]) == (40 - left_out, left_out)
    assert figures_of(later)["excluded_pairs"] == left_out


def test_a_pool_that_exclusions_leave_too_small_says_so(db):
    pool = pool_of(5)
    exclude(*Image.objects.filter(pk__in=pool.proposals.values("image")[:2]))
    with pytest.raises(CounterpartError, match="3 pairs without the 2"):
        pack("r", pool, design=SMALL)
    assert not Round.objects.exists()


def test_packing_again_after_a_control_was_retired_and_an_image_excluded_returns_the_round(db):
    pool = pool_of(40)
    first = pack("first", pool, design=SMALL)
    Control.objects.update(state=Control.State.RETIRED)
    exclude(pool.proposals.first().image)
    assert pack("first", pool, design=SMALL) == first
    assert "avoided" not in figures_of(first)
