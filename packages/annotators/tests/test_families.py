"""Families without fixtures of their own give what transformers' whole forward pass gives."""

import numpy as np
import pytest
import torch

from counterpart_annotators.kinds.blip import annotator as blip
from counterpart_annotators.kinds.blip.annotator import BlipPairing
from counterpart_annotators.kinds.clip import annotator as clip
from counterpart_annotators.kinds.siglip import annotator as siglip
from counterpart_annotators.kinds.vilt import annotator as vilt
from counterpart_annotators.nn.families import fill_buffers
from counterpart_annotators.nn.joint import pad
from counterpart_annotators.nn.towers import embed_pictures, embed_texts
from tiny_transformers import TINY

IDS = torch.tensor([[1, 7, 8, 2], [1, 9, 2, 0]])
MASK = (IDS > 0).long()
VALUES = torch.randn(2, 3, 16, 16, generator=torch.Generator().manual_seed(3))


def fresh(family, kind: str):
    torch.manual_seed(0)
    return family.fresh(family.configure(TINY[kind], 20)).eval()


def test_siglips_embeddings_are_those_of_the_whole_pass():
    network = fresh(siglip.FAMILY, "siglip")
    with torch.inference_mode():
        whole = network(input_ids=IDS, pixel_values=VALUES)
        np.testing.assert_allclose(embed_pictures(network, VALUES), whole.image_embeds, atol=1e-6)
        np.testing.assert_allclose(embed_texts(network, IDS), whole.text_embeds, atol=1e-6)


def test_blips_score_is_the_log_odds_of_the_whole_pass():
    network = fresh(blip.FAMILY, "blip")
    pairing = BlipPairing(network)
    with torch.inference_mode():
        seen = pairing.see(VALUES)
        scores = pairing.score(seen, torch.ones(seen.shape[:2]).long(), IDS, MASK)
        match = network(input_ids=IDS, attention_mask=MASK, pixel_values=VALUES).itm_score.softmax(1)[:, 1]
    np.testing.assert_allclose(scores.sigmoid(), match, atol=1e-6)


def test_filling_up_marks_the_real_places():
    filled, mask = pad([torch.ones(1, 2), torch.ones(3, 2)])
    assert filled.sum(2).tolist() == [[2, 0, 0], [2, 2, 2]]
    assert mask.tolist() == [[1, 0, 0], [1, 1, 1]]


@pytest.mark.parametrize(
    ("family", "kind"),
    [(clip.FAMILY, "clip"), (siglip.FAMILY, "siglip"), (vilt.FAMILY, "vilt"), (blip.FAMILY, "blip")],
)
def test_an_outline_is_filled_as_transformers_fills_a_network(family, kind):
    configuration = family.configure(TINY[kind], 20)
    outline, network = family.outline(configuration), fresh(family, kind)
    fill_buffers(outline)
    expected = dict(network.named_buffers())
    assert {name: rows.tolist() for name, rows in outline.named_buffers()} == {
        name: rows.tolist() for name, rows in expected.items()
    }
