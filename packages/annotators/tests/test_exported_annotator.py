import json

import numpy as np
import pytest
from PIL import Image as Pillow

from counterpart_annotators.exported_annotator import LABEL, Annotator, as_bytes, digest
from counterpart_annotators.kinds.clip.annotator import FAMILY
from counterpart_annotators.nn.families import fresh_model, stored_parts
from counterpart_annotators.nn.weights import to_arrays
from counterpart_metrics.errors import CounterpartError
from pretrained import settings_of
from tiny_transformers import TINY


@pytest.fixture
def exported(tmp_path):
    """A small CLIP with initial weights, as a site exports it."""
    settings = settings_of("clip", **TINY["clip"])
    model = fresh_model(FAMILY, settings, ["a red square", "a blue square"], "cpu")
    arrays = to_arrays(model.network) | stored_parts(model.configuration, model.tokeniser.tokenizer, model.preparation)
    label = {"kind": "clip", "settings": settings, "sha256": digest(arrays)}
    np.savez(tmp_path / "clip.npz", **arrays, **{LABEL: as_bytes(json.dumps(label))})
    return tmp_path / "clip.npz"


def test_it_embeds_pictures_and_texts_without_a_site(exported, tmp_path):
    Pillow.new("RGB", (40, 30), "red").save(tmp_path / "red.png")
    annotator = Annotator.load(exported)
    images, texts = annotator.encode_images([tmp_path / "red.png"]), annotator.encode_texts(["a red square", "a dog"])
    assert (images.shape, texts.shape) == ((1, 16), (2, 16))
    np.testing.assert_allclose(np.linalg.norm(texts, axis=1), 1, rtol=1e-5)


def test_another_file_is_refused(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.ones(2))
    with pytest.raises(CounterpartError, match="not an exported annotator"):
        Annotator.load(tmp_path / "other.npz")
