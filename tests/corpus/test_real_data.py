"""The published files themselves: COCO's test captions, CxC and ECCV Caption."""

import json

import numpy as np
import pytest

from core.errors import CounterpartError
from core.models import Event
from corpus.imports import import_collection
from corpus.matches import import_matches, known_pairs
from corpus.models import Batch, Caption, Collection, Image, Match

pytestmark = [pytest.mark.shared, pytest.mark.slow, pytest.mark.django_db]


@pytest.fixture(scope="module")
def data(shared):
    return shared / "data"


@pytest.fixture(scope="module")
def coco(data, django_db_setup, django_db_blocker):
    """The 25,000 captions, imported once for this module; each test's own writes are rolled back."""
    with django_db_blocker.unblock():
        import_collection("coco", format="jsonl", path=data / "coco_test_captions.jsonl.gz")
        collection = Collection.objects.get(name="coco")
        yield collection
        for model in (Match, Caption, Image, Batch, Collection, Event):
            rows = model.objects.all()
            rows._raw_delete(rows.db)  # .delete() would first read every row that may depend on these


def test_every_caption_comes_in_verbatim_and_in_order_with_its_original_match(data, coco):
    texts = list(Caption.objects.values_list("text", flat=True))
    assert (len(texts), len(set(texts)), Image.objects.count()) == (25_000, 24_845, 5_000)
    assert sum(text != text.strip() for text in texts) == 3_535
    assert sum("\n" in text for text in texts) == 86
    ids = np.load(data / "eccv_caption" / "coco_test_ids.npy")
    assert [int(key) for key in Caption.objects.values_list("key", flat=True)] == ids.tolist()
    published = json.loads((data / "eccv_caption" / "original_caption_to_image.json").read_text())
    ours = Match.objects.filter(source="original").values_list("caption__key", "image__key")
    assert dict(ours) == {caption: str(image) for caption, [image] in published.items()}


def test_cxc_keeps_every_score_and_gives_its_published_positives(data, coco):
    assert import_matches(coco, source="cxc", path=data / "cxc" / "sits_test.csv.gz").added == 44_833
    images, captions = (dict(rows.values_list("pk", "key")) for rows in (coco.images, coco.captions))
    pairs = {(int(captions[c]), int(images[i])) for i, c in known_pairs(coco, "cxc", min_score=3).tolist()}
    published = json.loads((data / "eccv_caption" / "cxc_caption_to_image.json").read_text())
    assert pairs == {(int(caption), image) for caption, found in published.items() for image in found}


def test_eccv_caption_unites_both_directions_and_is_whole_with_the_extra_captions(data, coco):
    of_images, of_captions = (
        data / "eccv_caption" / f"eccv_{way}.json" for way in ("image_to_caption", "caption_to_image")
    )
    assert import_matches(coco, source="eccv", path=of_captions).added == 11_279
    with pytest.raises(CounterpartError, match=r"2 captions: 144675, 467259"):
        import_matches(coco, source="eccv", path=of_images)
    extra = {"format": "jsonl", "path": data / "coco_test_extra_captions.jsonl"}
    with pytest.raises(CounterpartError, match="10 captions .* Pass --append"):
        import_collection("coco", **extra)
    assert import_collection("coco", **extra, append=True).captions_added == 10
    import_matches(coco, source="eccv", path=of_images)
    assert len(known_pairs(coco, "eccv")) == 27_740
