"""Pictures show what their scenes say."""

from io import BytesIO

import numpy as np
import pytest
from PIL import Image as Picture

from counterpart_drawn import draw_scene
from counterpart_drawn.scenes import KINDS, SETTINGS, Group, Scene


def drawn(scene):
    return np.asarray(Picture.open(BytesIO(draw_scene(scene, np.random.default_rng(0)))), dtype=float)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_every_kind_shows_its_colours_and_actions(kind):
    looks = [(colour, action) for colour in kind.colours for action in kind.actions or (None,)]
    pictures = [
        drawn(Scene("snow", "day", (Group(kind.name, 1, colour, "large", action, "middle"),)))
        for colour, action in looks
    ]
    for place, picture in enumerate(pictures):
        assert all(np.abs(picture - other).mean() > 0.3 for other in pictures[place + 1 :])


@pytest.mark.parametrize("setting", SETTINGS)
def test_an_object_is_drawn_on_its_side(setting):
    left, right = (
        drawn(Scene(setting, "day", (Group("ball", 1, "red", "large", None, side),))) for side in ("left", "right")
    )
    differing = np.abs(left - right).sum(axis=(0, 2))
    assert differing[200:280].sum() < 0.05 * differing.sum()
