"""PCME: its published file, samples and what compares them."""

import numpy as np
import pytest
import torch

from coloured import gallery, opened
from counterpart_annotators.base import ComparingAnnotator
from counterpart_annotators.kinds.pcme import annotator as embedder
from counterpart_annotators.nn.vocabularies import forgetful
from counterpart_annotators.plain import PlainCaption
from counterpart_metrics.errors import CounterpartError
from pretrained import module_of
from published import SIZES, WORDS, adopted_from, make_network, write_vocabulary

CRITERION = {"shift": torch.tensor([3.0]), "negative_scale": torch.tensor([2.0])}
CAPTIONS = [PlainCaption("0", text) for text in ("a red square", "all of it is blue", "a", "a red square")]


@pytest.fixture
def network():
    return make_network("pcme", log_sigma=-1.0)


@pytest.fixture
def published(tmp_path, network):
    """Write a network as the authors would have, ``changed`` in some of its parts."""

    def write(**changed):
        state = {name: tensor for name, tensor in network.state_dict().items() if not name.startswith("criterion.")}
        parts = {
            "model": {f"module.{name}": tensor for name, tensor in state.items()},
            "criterion": {f"module.{name}": scalar for name, scalar in CRITERION.items()},
            "optimizer": {},
            "lr_scheduler": {"last_epoch": 3},
            "config": {"model": {"img_probemb": True, "txt_probemb": True}},
            "word2idx": {word: place for place, word in enumerate(WORDS)},
            "metadata": {"cur_epoch": 3},
        } | changed
        path = tmp_path / "pcme.pth"
        torch.save(parts, path, _use_new_zipfile_serialization=False)
        return path

    return write


@pytest.fixture
def open_published(published):
    def opened_from(**options):
        adopted = adopted_from(published(), "pcme", picture=32, **options)
        return opened("pcme", adopted.arrays, **adopted.settings)

    return opened_from


def test_a_published_file_gives_the_network_that_wrote_it_with_its_words(published, network):
    adopted = adopted_from(published(), "pcme", picture=32)
    assert adopted.settings | SIZES["pcme"] == adopted.settings
    mean, log_sigma = network.txt_enc.distribution(torch.tensor([[1, 4, 12, 13, 2]]), torch.tensor([5]))
    samples = opened("pcme", adopted.arrays, **adopted.settings).encode_captions(CAPTIONS[:1])
    assert samples.shape == (1, 7, 16)
    noise = (samples[0] - mean.detach().numpy()) / np.exp(log_sigma.detach().numpy())
    assert np.abs(noise).max() < 5
    assert 0.7 < noise.std() < 1.3


def test_the_criterion_of_the_file_compares(open_published):
    images, captions = np.zeros((1, 7, 16), np.float32), np.zeros((1, 7, 16), np.float32)
    captions[..., 0] = 1.5
    expected = 1 / (1 + np.exp(-2 * (3 - 2 * np.sqrt(1.5**2 + 1e-6))))
    np.testing.assert_allclose(open_published().compare(images, captions), expected, rtol=1e-6)


def test_a_file_without_criterion_or_words_takes_them_from_the_options(network, tmp_path):
    state = {name: tensor for name, tensor in network.state_dict().items() if not name.startswith("criterion.")}
    torch.save(state, tmp_path / "bare.pth")
    given = {"vocabulary": str(write_vocabulary(tmp_path)), "shift": 4.0, "negative_scale": 9.0}
    adopted = adopted_from(tmp_path / "bare.pth", "pcme", **given)
    described = module_of("pcme").architecture(adopted.settings, adopted.arrays)
    assert "4.00 - 9.00 x distance" in described["score"]
    assert described["embeddings"] == "normal distribution in 16 dimensions, 7 samples"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"word2idx": {word: i for i, word in enumerate(WORDS[:-1])}}, "15 words, but .* 16"),
        ({"word2idx": ["a"]}, "has no dict word2idx"),
        ({"config": {"model": {"txt_probemb": False}}}, "without txt_probemb"),
        ({"model": {"module.img_enc.fc.weight": torch.ones(16, 512)}}, "tensor txt_enc.embed.weight"),
        ({"criterion": {"shift": torch.ones(2)}}, "criterion.shift 2 for 1"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(published, changed, message):
    with pytest.raises(CounterpartError, match=message) as raised:
        adopted_from(published(**changed), "pcme", picture=32)
    assert "\n" not in str(raised.value)


def test_samples_depend_on_the_item_and_the_seed_and_not_on_the_company(open_published):
    annotator, images = open_published(), gallery()[0][:5]
    for encode, items in ((annotator.encode_images, images), (annotator.encode_captions, CAPTIONS)):
        together = encode(items)
        np.testing.assert_allclose(together, np.concatenate([encode([item]) for item in items]), atol=1e-5)
        np.testing.assert_allclose(encode(items[::-1]), together[::-1], atol=1e-5)
    np.testing.assert_allclose(together[0], together[3], atol=1e-6)  # equal captions
    assert np.abs(together[0] - together[1]).max() > 0.1
    other = open_published(samples_seed=1)
    assert np.abs(other.encode_captions(CAPTIONS) - annotator.encode_captions(CAPTIONS)).max() > 0.1


@pytest.mark.parametrize("score", ["probability", "matmul"])
def test_comparing_in_blocks_changes_nothing(open_published, monkeypatch, score):
    annotator = open_published(score=score)
    rng = np.random.default_rng(0)
    images, captions = (rng.normal(size=(n, 7, 16)).astype(np.float32) / 4 for n in (9, 13))
    whole = annotator.compare(images, captions)
    monkeypatch.setattr(embedder, "MOST_DISTANCES", 49 * 16)
    np.testing.assert_allclose(annotator.compare(images, captions), whole, atol=1e-6)
    assert whole.shape == (9, 13)


def test_the_other_score_is_the_sum_of_the_samples_inner_products(open_published):
    annotator = open_published(score="matmul")
    rng = np.random.default_rng(0)
    images, captions = (rng.normal(size=(n, 7, 16)).astype(np.float32) for n in (2, 3))
    expected = np.einsum("nkd,mld->nm", images, captions)
    np.testing.assert_allclose(annotator.compare(images, captions), expected, rtol=1e-4)
    assert isinstance(annotator, ComparingAnnotator)


def test_uncertainty_is_the_geometric_mean_of_sigma(open_published, network):
    annotator = open_published()
    _, log_sigma = network.txt_enc.distribution(torch.tensor([[1, 4, 12, 13, 2]]), torch.tensor([5]))
    expected = np.prod(np.exp(log_sigma.detach().numpy()[0].astype(np.float64))) ** (1 / 16)
    np.testing.assert_allclose(annotator.uncertainty_of_captions(CAPTIONS[:1]), expected, rtol=1e-5)
    widths = annotator.uncertainty_of_images(gallery()[0][:3])
    assert widths.shape == (3,)
    assert (widths > 0).all()


def test_words_are_forgotten_and_left_out_but_never_what_starts_and_ends_a_caption():
    torch.manual_seed(0)
    ids = torch.stack([torch.tensor([1, *range(10, 30), 2]), torch.tensor([1, 10, 2, *[0] * 19])])
    shorter, lengths = forgetful(ids, torch.tensor([22, 3]), 0.3)
    assert lengths.tolist() == [22 - 6, 3]
    assert (shorter[:, 0] == 1).all()
    assert [int(row[length - 1]) for row, length in zip(shorter, lengths, strict=True)] == [2, 2]
    inner = shorter[0, 1:15].tolist()
    known = [word for word in inner if word != 3]
    assert 0 < len(known) < 14
    assert known == sorted(known)
