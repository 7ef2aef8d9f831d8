import numpy as np
import pytest
from PIL import Image as Pillow

from authors import FOLDER
from counterpart_annotators.nn.imagenet import DEVIATION, MEAN, TrainingViews, evaluation_batches, evaluation_view
from counterpart_annotators.plain import PlainImage


def shown(view) -> np.ndarray:
    """The colours of a view (3, H, W) as 0 to 1."""
    return view * DEVIATION[:, None, None] + MEAN[:, None, None]


@pytest.fixture
def images(tmp_path):
    colours = ("red", "green", "blue", "yellow", "black", "white")
    for colour in colours:
        Pillow.new("RGB", (48, 36), colour).save(tmp_path / f"{colour}.png")
    return [PlainImage(colour, str(tmp_path / f"{colour}.png")) for colour in colours]


@pytest.mark.shared
@pytest.mark.parametrize("number", range(4))
def test_the_evaluation_view_has_the_authors_numbers(shared, number):
    with np.load(shared / FOLDER / "preprocess.npz") as arrays:
        picture = Pillow.fromarray(arrays[f"image{number}_rgb"])
        view = evaluation_view(picture, int(arrays["imagenet_crop"]), int(arrays["imagenet_resize"]))
        np.testing.assert_allclose(view, arrays[f"image{number}_imagenet"], atol=1e-5)


def test_pictures_come_in_their_order_and_in_batches(images):
    batches = list(evaluation_batches(images, 32, batch=4))
    assert [tuple(batch.shape) for batch in batches] == [(4, 3, 32, 32), (2, 3, 32, 32)]
    red, green = (shown(view)[:, 16, 16] for view in batches[0].numpy()[:2])
    assert red[0] > 0.9 > 0.1 > red[1]
    assert green[1] > 0.4 > 0.1 > green[0]


def test_what_is_kept_changes_no_view_and_spares_decoding(images, monkeypatch):
    opened = []
    open_picture = PlainImage.open
    monkeypatch.setattr(PlainImage, "open", lambda image: opened.append(image.key) or open_picture(image))
    views = {}
    for limit, decoded in ((2**20, 6), (0, 12), (48 * 36 * 3, 11)):
        opened.clear()
        pictures = TrainingViews(32, limit=limit)
        views[limit] = [pictures.batch(images, np.random.default_rng(seed)) for seed in (0, 1)]
        assert len(opened) == decoded
    for ours in zip(*views.values(), strict=True):
        assert ours[0].equal(ours[1])
        assert ours[0].equal(ours[2])


def gradient() -> Pillow.Image:
    """A picture whose red rises to the right and whose green rises downwards."""
    across, down = np.meshgrid(np.arange(200), np.arange(160))
    return Pillow.fromarray(np.stack([across, down, 0 * across], axis=2).astype(np.uint8))


def views_of(picture, monkeypatch, n=60, seed=0, **settings):
    monkeypatch.setattr(PlainImage, "open", lambda image: picture)
    pictures = TrainingViews(16, **settings)
    return shown(pictures.batch([PlainImage("1")] * n, np.random.default_rng(seed)).numpy())


def test_training_views_follow_the_seed(monkeypatch):
    first, again, other = (views_of(gradient(), monkeypatch, n=6, seed=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not (first == other).all((1, 2, 3)).any()


def test_half_of_the_views_are_mirrored(monkeypatch):
    mirrored = [view[0, 0, 0] > view[0, 0, -1] for view in views_of(gradient(), monkeypatch)]
    assert 15 < sum(mirrored) < 45


def test_a_view_shows_no_smaller_part_than_asked(monkeypatch):
    views = views_of(gradient(), monkeypatch, smallest_crop=0.5)
    red, green = (np.ptp(views[:, channel], axis=(1, 2)) * 255 * 16 / 15 for channel in (0, 1))
    assert (red * green >= 0.45 * 200 * 160).all()
    assert (np.abs(np.log(red / green)) < np.log(1.4)).all()


def test_a_hole_is_torn_as_often_as_asked(monkeypatch):
    white = Pillow.new("RGB", (64, 64), "white")
    torn = [np.unique(view[0]).size > 1 for view in views_of(white, monkeypatch, n=100, erasing=0.2)]
    assert 10 < sum(torn) < 32
    assert not any(np.unique(view[0]).size > 1 for view in views_of(white, monkeypatch))
