"""Girls in dresses and boys in shirts: standing, running, jumping."""

from dataclasses import dataclass

from counterpart_drawn.drawing.brush import BLUSH, INK, Brush, Colour, Points, darker, lighter

# Pairs of skin and hair colours.
LOOKS: tuple[tuple[Colour, Colour], ...] = (
    ((252, 214, 184), (122, 74, 44)),
    ((244, 196, 160), (58, 42, 40)),
    ((206, 146, 104), (48, 36, 38)),
    ((146, 98, 70), (40, 30, 34)),
    ((253, 220, 192), (226, 170, 84)),
)
TROUSERS: Colour = (74, 84, 118)
SHOES: Colour = (92, 62, 60)


@dataclass(frozen=True)
class _Pose:
    """The course of the limbs (legs from hip to shoe, arms from shoulder to hand) and how the body leans."""

    legs: tuple[Points, Points]
    arms: tuple[Points, Points]
    lift: float = 0.0
    lean: float = 0.0


_POSES = {
    "standing": _Pose(
        legs=([(-7, -38), (-8, -4)], [(7, -38), (8, -4)]),
        arms=([(-13, -76), (-22, -60), (-22, -44)], [(13, -76), (24, -62), (27, -48)]),
    ),
    "running": _Pose(
        legs=([(-5, -40), (-18, -28), (-40, -28)], [(6, -40), (24, -30), (26, -6)]),
        arms=([(-12, -76), (-30, -66), (-34, -50)], [(12, -76), (30, -66), (42, -78)]),
        lift=2,
        lean=9,
    ),
    "jumping": _Pose(
        legs=([(-7, -40), (-24, -28), (-28, -8)], [(7, -40), (24, -28), (28, -8)]),
        arms=([(-13, -78), (-34, -92), (-40, -112)], [(13, -78), (34, -92), (40, -112)]),
        lift=24,
    ),
}


def draw_girl(brush: Brush, dress: Colour, action: str, look: int) -> None:
    skin, hair = LOOKS[look % len(LOOKS)]
    pose = _POSES[action]
    body = brush.at(0, -pose.lift, turn=pose.lean)
    swing = -7 if action == "running" else 0
    for side in (-1, 1):
        body.limb([(side * 13, -104), (side * 25 + swing, -96), (side * 25 + swing * 2, -78)], 11, hair, 5)
        body.circle(side * 17, -104, 4.5, lighter(dress, 0.2))
    _limbs(body, pose, skin, skin, dress)
    body.blob([(-10, -80), (10, -80), (15, -60), (27, -32), (0, -27), (-27, -32), (-15, -60)], dress)
    body.blob([(-26, -36), (0, -31), (26, -36), (27, -32), (0, -27), (-27, -32)], lighter(dress, 0.4))
    _face(body.at(0, -100), skin, hair)


def draw_boy(brush: Brush, shirt: Colour, action: str, look: int) -> None:
    skin, hair = LOOKS[look % len(LOOKS)]
    pose = _POSES[action]
    body = brush.at(0, -pose.lift, turn=pose.lean)
    _limbs(body, pose, skin, TROUSERS, shirt)
    body.box(-15, -48, 15, -33, TROUSERS, 5)
    body.blob([(-12, -82), (12, -82), (17, -66), (16, -43), (0, -41), (-16, -43), (-17, -66)], shirt)
    body.box(-15.5, -62, 15.5, -56, lighter(shirt, 0.45), 2)
    _face(body.at(0, -100), skin, hair)
    body.blob([(-20, -106), (-14, -122), (2, -126), (16, -120), (20, -108), (8, -114), (-6, -110)], hair)


def _limbs(body: Brush, pose: _Pose, skin: Colour, legs: Colour, sleeves: Colour) -> None:
    for leg in pose.legs:
        body.limb(leg, 11, legs, 9)
        x, y = leg[-1]
        body.ellipse(x + 3, y + 1, 9, 5, SHOES)
    for arm in pose.arms:
        body.limb(arm, 9, skin, 7)
        body.limb(arm[:2], 11, darker(sleeves, 0.1), 10)
        body.circle(*arm[-1], 5, skin)


def _face(head: Brush, skin: Colour, hair: Colour) -> None:
    head.box(-5, 10, 5, 24, darker(skin, 0.08), 3)
    head.ellipse(0, -2, 21, 21, hair)
    head.ellipse(1, 2, 18, 17, skin)
    head.blob([(-19, 0), (-18, -14), (-4, -22), (12, -20), (20, -8), (8, -11), (-8, -8)], hair)
    for x in (-6, 9):
        head.ellipse(x, 2, 2.2, 3, INK)
        head.circle(x + (4 if x > 0 else -4), 9, 3.4, BLUSH, 0.55)
    head.limb([(-3, 9), (1.5, 12.5), (6, 9)], 2, (176, 66, 66))
