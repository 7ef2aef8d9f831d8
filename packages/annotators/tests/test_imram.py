"""Text-IMRAM: its attention and memory by hand, its scores by loops over single words and regions, and training."""

import numpy as np
import pytest
import torch
from torch.nn import functional
from torch.testing import assert_close

from coloured import QUICK, SMALL, gallery, images_and_captions, opened, trained_arrays
from counterpart_annotators.kinds.imram.network import IMRAM, Memory, attended, build
from counterpart_annotators.plain import PlainCaption
from counterpart_metrics.errors import CounterpartError
from pretrained import module_of, settings_of
from published import make_network, write_checkpoint
from regioned import make_regions

SMALL_IMRAM = SMALL | QUICK | {"picture": 64, "embed": 16, "context": 8}
TWO_REGIONS = torch.tensor([[[1.0, 0.0], [0.0, 1.0]]])
YES = torch.ones(1, 2, dtype=torch.bool)


def make_imram(channels: int = 6, **changed) -> IMRAM:
    torch.manual_seed(0)
    return build(settings_of("imram", embed=8, word=5, context=7, **changed), 30, channels).eval()


def test_the_attention_of_a_case_worked_by_hand():
    # Word 1 is (3, 4) / 5, word 2 (1, 0). Region 1: products 0.6 and 1, of length sqrt(1.36); region 2: 0.8 and 0.
    words = torch.tensor([[[[0.6, 0.8], [1.0, 0.0]]]])
    first = np.array([0.6 / 1.36**0.5, 1.0])  # of word 1 with either region
    second = np.array([1 / 1.36**0.5, 0.0])
    expected = [np.exp(2 * row) / np.exp(2 * row).sum() for row in (first, second)]
    seen = attended(words, TWO_REGIONS, YES, sharpness=2.0)
    assert_close(seen, torch.tensor(np.array([[expected]]), dtype=torch.float32))


def test_a_word_unlike_a_region_counts_a_tenth():
    # Word 1 is (-1, 0): -1 becomes -0.1 for region 1 and stays 0 for region 2; alone in its row it is scaled to -1.
    words = torch.tensor([[[[-1.0, 0.0], [0.0, 0.0]]]])
    seen = attended(words, TWO_REGIONS, torch.tensor([[True, False]]), sharpness=1.0)
    assert_close(seen[0, 0, 0], torch.tensor([np.exp(-1) / (1 + np.exp(-1)), 1 / (1 + np.exp(-1))]).float())


def test_the_memory_of_a_case_worked_by_hand():
    memory = Memory(1)
    for part, weights, bias in ((memory.gate, [1.0, 0.0], 0.0), (memory.new, [0.0, 2.0], -1.0)):
        part.weight.data = torch.tensor([weights])
        part.bias.data = torch.tensor([bias])
    gate, new = 1 / (1 + np.exp(-0.5)), np.tanh(2 * 0.25 - 1)
    assert_close(
        memory(torch.tensor([0.5]), torch.tensor([0.25])), torch.tensor([gate * 0.5 + (1 - gate) * new]).float()
    )


def slow_score(network: IMRAM, regions: torch.Tensor, words: torch.Tensor, steps: int, sharpness: float) -> float:
    """One picture (R, D) and one caption (L, D) without padding, one word and region at a time."""
    asked, total = list(words), 0.0
    for _ in range(steps):
        raw = [[float(word @ region) for region in regions] for word in asked]
        rectified = [[value if value > 0 else 0.1 * value for value in row] for row in raw]
        lengths = [sum(row[r] ** 2 for row in rectified) ** 0.5 for r in range(len(regions))]
        seen = []
        for row in rectified:
            powers = [np.exp(sharpness * value / length) for value, length in zip(row, lengths, strict=True)]
            seen.append(sum(power * region for power, region in zip(powers, regions, strict=True)) / sum(powers))
        total += np.mean([float(functional.cosine_similarity(w, c, dim=0)) for w, c in zip(words, seen, strict=True)])
        asked = [network.memory(question, context) for question, context in zip(asked, seen, strict=True)]
    return total


@pytest.mark.parametrize("steps", [1, 3])
def test_scores_equal_a_slow_reference_whatever_is_padded(steps):
    network = make_imram(steps=steps, sharpness=4.0)
    torch.manual_seed(1)
    ids, lengths = torch.randint(4, 30, (3, 6)), torch.tensor([6, 2, 4])
    with torch.inference_mode():
        regions = network.embed_pictures(torch.randn(2, 5, 6))
        words = network.embed_captions(ids, lengths)
        assert words.shape == (3, 7, 8)
        expected = [
            [slow_score(network, one, text[:length], steps, 4.0) for text, length in zip(words, lengths, strict=True)]
            for one in regions
        ]
        assert_close(network.scores(regions, words), torch.tensor(expected, dtype=torch.float32), atol=1e-5, rtol=0)


def test_words_after_the_context_are_cut():
    network = make_imram()
    ids = torch.arange(4, 14)[None]
    with torch.inference_mode():
        words = network.embed_captions(ids, torch.tensor([10]))
        assert_close(words, network.embed_captions(ids[:, :7], torch.tensor([7])))


def test_blocks_change_no_score(monkeypatch):
    arrays = trained_arrays("imram", loss="max", **SMALL_IMRAM | {"epochs": 0})
    annotator, (images, captions) = opened("imram", arrays, **SMALL_IMRAM), gallery()
    sides = annotator.encode_images(images), annotator.encode_captions(captions)
    whole = annotator.compare(*sides)
    assert whole.shape == (6, 12)
    monkeypatch.setattr("counterpart_annotators.kinds.imram.annotator.MOST_NUMBERS", 4 * 8 * 16)
    np.testing.assert_allclose(annotator.compare(*sides), whole, atol=1e-6)


def test_it_learns_from_regions_and_stores_no_trunk(tmp_path):
    keys = [image.key for image in images_and_captions(*range(5))[0]]
    make_regions(tmp_path / "regions", keys)
    options = SMALL_IMRAM | {"regions": str(tmp_path / "regions"), "frozen": "trunk", "epochs": 1}
    arrays = trained_arrays("imram", loss="sum", **options)
    assert not any("cnn" in name for name in arrays)
    assert not opened("imram", arrays, **options).looks_at_pictures
    described = module_of("imram").architecture(settings_of("imram", **options), arrays)
    assert described["pictures"] == "regions from files, 8 numbers each"


def test_images_without_regions_and_files_of_others_are_refused(tmp_path):
    make_regions(tmp_path / "few", ["red0", "red1"])
    with pytest.raises(CounterpartError, match="22 of 24 images: red2"):
        trained_arrays("imram", loss="max", **SMALL_IMRAM | {"regions": str(tmp_path / "few")})
    weights = write_checkpoint(tmp_path, "training", make_network("vsrn"))
    with pytest.raises(CounterpartError, match=r"training\.pth\.tar is not an exported annotator"):
        module_of("imram").adopt(weights, {})


def test_equal_captions_score_alike_in_any_company():
    arrays = trained_arrays("imram", loss="max", **SMALL_IMRAM | {"epochs": 0})
    annotator, images = opened("imram", arrays, **SMALL_IMRAM), gallery()[0]
    texts = [PlainCaption(str(n), text) for n, text in enumerate(("a red square", "all of it is red", "a red square"))]
    scores = annotator.compare(annotator.encode_images(images), annotator.encode_captions(texts))
    np.testing.assert_allclose(scores[:, 0], scores[:, 2], atol=1e-6)
