"""Each kind that learns from pictures is added, trained, exported, added again from its file and searched with.

What its network computes, and what it refuses, is tested without a site, in packages/annotators.
"""

import pytest
from django.core.management import call_command

from coloured import QUICK, SMALL
from mitl.annotators import is_cross_encoder, load
from mitl.item_uncertainty import UnsureAnnotator
from mitl.models import Annotator, Direction
from mitl.registration import add_annotator
from mitl.search.gallery import load_lists
from mitl.search.request import Cascade
from tests.mitl.searches import retrieve
from tiny_transformers import TINY

FEW_WORDS = {"colour_words": 16, "texture_words": 8, "sift_words": 4, "picture": 48}
OPTIONS = {
    "imram": SMALL | QUICK,
    "embedding": {"image": "histogram", "dim": 8},
    "kcca": FEW_WORDS | {"dim": 5, "idf": "none"},
    "nn": FEW_WORDS,
    "pcme": SMALL | QUICK,
    "pvse": SMALL | QUICK,
    "vse": SMALL | QUICK,
    "vsrn": SMALL | QUICK | {"captioner": 0},
    **TINY,
}


@pytest.mark.parametrize("kind", OPTIONS)
def test_a_kind_is_added_trained_exported_added_again_and_searched_with(few, kind, tmp_path):
    epochs = {} if kind in ("embedding", "kcca", "nn") else {"epochs": 1}
    options = [f"--option={name}={value}" for name, value in (OPTIONS[kind] | epochs).items()]
    call_command("add_annotator", "eyes", "--kind", kind, *options)
    call_command("train_annotator", "eyes", "--collection", "colours")
    call_command("export_annotator", "eyes", str(tmp_path / "eyes.npz"))
    call_command("add_annotator", "again", "--kind", kind, "--checkpoint", str(tmp_path / "eyes.npz"))
    eyes, again = Annotator.objects.order_by("-name")
    assert (again.options, again.checksum, again.architecture) == (eyes.options, eyes.checksum, eyes.architecture)
    assert isinstance(load(eyes), UnsureAnnotator) is (kind == "pcme")
    cascade = Cascade(add_annotator("words", kind="overlap"), 4) if is_cross_encoder(eyes) else None
    (found,) = retrieve(few, annotators=[again], depth=2, cascade=cascade)
    assert load_lists(found)[Direction.CAPTION_TO_IMAGE].items.shape == (12, 2)
