"""Dogs, cats, horses and birds, each in all of its poses, facing right."""

from collections.abc import Callable
from dataclasses import dataclass

from counterpart_drawn.drawing.brush import BEAK, BLUSH, CREAM, INK, Brush, Colour, Points, darker, lighter

SLEEP: Colour = (92, 98, 168)

Head = Callable[[Brush, Colour, bool], None]


@dataclass(frozen=True)
class _Pet:
    """The parts that differ between dogs and cats: the head, and the tail in each pose (its curve, its two widths)."""

    head: Head
    tails: dict[str, Points]
    tail_widths: tuple[float, float]


def draw_dog(brush: Brush, coat: Colour, action: str) -> None:
    _POSES[action](brush, coat, _DOG)


def draw_cat(brush: Brush, coat: Colour, action: str) -> None:
    _POSES[action](brush, coat, _CAT)


def _tail(brush: Brush, coat: Colour, pet: _Pet, action: str) -> None:
    brush.limb(pet.tails[action], pet.tail_widths[0], darker(coat, 0.1), pet.tail_widths[1])


def _draw_standing(brush: Brush, coat: Colour, pet: _Pet) -> None:
    shade = darker(coat)
    _tail(brush, coat, pet, "standing")
    for x in (-24, 24):
        brush.limb([(x, -44), (x + 1, -6)], 13, shade)
        brush.ellipse(x + 4, -4, 9, 5, shade)
    brush.limb([(32, -56), (44, -78)], 27, coat)
    brush.blob([(-45, -60), (-28, -70), (2, -68), (32, -73), (46, -58), (40, -40), (20, -34), (-28, -34)], coat)
    brush.blob([(-26, -38), (2, -42), (34, -40), (18, -33), (-16, -33)], lighter(coat))
    for x in (-36, 35):
        brush.limb([(x, -46), (x, -6)], 14, coat)
        brush.ellipse(x + 4, -5, 10, 5.5, lighter(coat))
    pet.head(brush.at(50, -92), coat, True)


def _draw_running(brush: Brush, coat: Colour, pet: _Pet) -> None:
    shade = darker(coat)
    _tail(brush, coat, pet, "running")
    brush.limb([(-30, -52), (-44, -36), (-66, -30)], 14, shade, 10)
    brush.limb([(32, -52), (50, -40), (72, -46)], 13, shade, 10)
    brush.limb([(36, -62), (52, -80)], 26, coat)
    brush.blob([(-48, -64), (-30, -76), (2, -72), (36, -78), (50, -64), (42, -46), (16, -44), (-30, -40)], coat)
    brush.blob([(-24, -44), (4, -50), (38, -48), (18, -42), (-14, -40)], lighter(coat))
    brush.limb([(-36, -54), (-34, -30), (-54, -14)], 15, coat, 10)
    brush.limb([(36, -56), (54, -34), (70, -24)], 14, coat, 10)
    for x in (-78, -92):
        brush.limb([(x, -40 - x / 4), (x - 16, -40 - x / 4)], 2.5, CREAM)
    pet.head(brush.at(60, -92, turn=6), coat, True)


def _draw_sitting(brush: Brush, coat: Colour, pet: _Pet) -> None:
    shade = darker(coat)
    _tail(brush, coat, pet, "sitting")
    brush.limb([(12, -50), (14, -6)], 13, shade)
    brush.blob(
        [(-36, -4), (-40, -26), (-24, -52), (-4, -76), (18, -84), (30, -62), (28, -24), (14, -2), (-12, 0)], coat
    )
    brush.blob([(14, -72), (27, -60), (25, -40), (14, -48)], lighter(coat))
    brush.ellipse(-18, -20, 21, 19, darker(coat, 0.08))
    brush.ellipse(-2, -5, 17, 6, lighter(coat))
    brush.limb([(22, -48), (25, -6)], 13, coat)
    brush.ellipse(29, -5, 10, 5.5, lighter(coat))
    pet.head(brush.at(20, -98), coat, True)


def _draw_sleeping(brush: Brush, coat: Colour, pet: _Pet) -> None:
    brush.blob([(-56, -4), (-60, -24), (-38, -42), (-4, -44), (24, -34), (34, -10), (20, 0), (-20, 1)], coat)
    brush.ellipse(-34, -19, 22, 18, darker(coat, 0.08))
    brush.ellipse(-20, -4, 17, 6, lighter(coat))
    brush.limb([(10, -6), (34, -5)], 12, darker(coat, 0.12))
    _tail(brush, coat, pet, "sleeping")
    pet.head(brush.at(38, -22, turn=12), coat, False)
    _snore(brush.at(52, -54))


_POSES: dict[str, Callable[[Brush, Colour, _Pet], None]] = {
    "standing": _draw_standing,
    "running": _draw_running,
    "sitting": _draw_sitting,
    "sleeping": _draw_sleeping,
}


def _snore(brush: Brush) -> None:
    """Paint two Zs above a sleeping animal, readable even if the animal is mirrored."""
    if brush.is_mirrored:
        brush = brush.at(20, 0, mirrored=True)
    for x, y, size in ((0, 0, 11), (12, -19, 16)):
        z = [(x, y - size), (x + size, y - size), (x, y), (x + size, y)]
        for width, colour in ((6.5, SLEEP), (3.2, CREAM)):
            for start, end in zip(z, z[1:], strict=False):
                brush.limb([start, end], width, colour)


def _eye(brush: Brush, x: float, y: float, radius: float, awake: bool) -> None:
    if awake:
        brush.circle(x, y, radius * 1.35, CREAM)
        brush.circle(x + 0.6, y, radius, INK)
        brush.circle(x + 1.6, y - 1.4, radius * 0.34, CREAM)
    else:
        brush.limb([(x - radius, y), (x, y + 2.4), (x + radius, y)], 3.6, CREAM)
        brush.limb([(x - radius, y), (x, y + 2.4), (x + radius, y)], 2.2, INK)


def _dog_head(brush: Brush, coat: Colour, awake: bool) -> None:
    brush.blob([(4, -20), (10, -24), (16, -14), (10, -8)], darker(coat, 0.35))
    brush.ellipse(0, 0, 22, 20, coat)
    brush.blob([(6, -5), (24, -5), (35, 1), (33, 12), (18, 17), (4, 14)], lighter(coat, 0.45))
    brush.ellipse(33, -1, 6, 4.8, INK)
    brush.circle(31.5, -2.6, 1.4, CREAM)
    brush.limb([(16, 9), (23, 12), (30, 8)], 2, INK)
    if awake:
        brush.ellipse(21, 16, 4, 5.5, BLUSH)
    _eye(brush, 10, -7, 4, awake)
    brush.blob([(-8, -19), (0, -13), (-3, 4), (-11, 15), (-21, 10), (-20, -8)], darker(coat, 0.35))


def _cat_head(brush: Brush, coat: Colour, awake: bool) -> None:
    for x, lean in ((-13, -3), (12, 3)):
        brush.polygon([(x - 9, -12), (x + lean, -33), (x + 9, -12)], coat)
        brush.polygon([(x - 5, -13), (x + lean, -26), (x + 5, -13)], BLUSH, 0.7)
    brush.ellipse(0, 0, 25, 20, coat)
    brush.ellipse(4, 8, 12, 8.5, lighter(coat, 0.55))
    for x in (-6, 0, 6):
        brush.limb([(x, -19), (x, -12)], 3, darker(coat, 0.3), 1)
    _eye(brush, -7, -2, 4, awake)
    _eye(brush, 13, -2, 4, awake)
    brush.polygon([(1, 4), (8, 4), (4.5, 8.5)], BLUSH)
    for side in (-1, 1):
        for drop in (3, 9):
            brush.limb([(4 + side * 14, 6 + drop / 3), (4 + side * 30, 2 + drop)], 1.4, CREAM)


_DOG = _Pet(
    _dog_head,
    {
        "standing": [(-42, -58), (-56, -68), (-60, -88)],
        "running": [(-44, -64), (-62, -74), (-80, -76)],
        "sitting": [(-32, -8), (-50, -12), (-58, -30)],
        "sleeping": [(-52, -6), (-66, -4), (-76, -12)],
    },
    (11, 6),
)
_CAT = _Pet(
    _cat_head,
    {
        "standing": [(-42, -58), (-58, -66), (-58, -90), (-70, -104)],
        "running": [(-44, -64), (-64, -72), (-76, -88), (-92, -88)],
        "sitting": [(-30, -8), (-52, -6), (-60, -22), (-50, -34), (-56, -46)],
        "sleeping": [(-54, -12), (-58, -1), (-30, 3), (4, 2)],
    },
    (9, 7),
)


def draw_horse(brush: Brush, coat: Colour, action: str) -> None:
    shade = darker(coat)
    mane = darker(coat, 0.5)
    running = action == "running"
    tail = [(-54, -96), (-82, -100), (-100, -84)] if running else [(-54, -96), (-68, -82), (-66, -48)]
    brush.limb(tail, 15, mane, 5)
    for leg in _HORSE_LEGS[running][:2]:
        _hoofed(brush, leg, shade)
    if action == "eating":
        brush.limb([(44, -88), (66, -68), (78, -40)], 34, coat, 24)
        brush.limb([(40, -106), (66, -84), (82, -54)], 11, mane, 8)
        _horse_head(brush.at(82, -30, turn=68), coat)
    else:
        brush.limb([(42, -86), (58, -110), (66, -134)], 36, coat, 26)
        brush.limb([(34, -102), (44, -124), (52, -148)], 13, mane, 10)
        _horse_head(brush.at(74, -142, turn=26), coat)
    brush.blob([(-56, -96), (-34, -108), (4, -100), (40, -108), (60, -90), (50, -66), (10, -60), (-38, -62)], coat)
    brush.blob([(-36, -64), (4, -70), (46, -68), (12, -60)], lighter(coat, 0.18))
    for leg in _HORSE_LEGS[running][2:]:
        _hoofed(brush, leg, coat)


_HORSE_LEGS: dict[bool, tuple[Points, ...]] = {
    False: (
        [(-32, -70), (-30, -40), (-32, -6)],
        [(30, -70), (32, -40), (30, -6)],
        [(-46, -74), (-42, -44), (-46, -6)],
        [(46, -74), (44, -42), (46, -6)],
    ),
    True: (
        [(-36, -70), (-56, -44), (-84, -40)],
        [(34, -70), (62, -62), (70, -34)],
        [(-46, -74), (-48, -44), (-72, -20)],
        [(46, -74), (72, -54), (96, -52)],
    ),
}


def _hoofed(brush: Brush, leg: Points, coat: Colour) -> None:
    brush.limb(leg, 18, coat, 10)
    x, y = leg[-1]
    brush.box(x - 6, y - 3, x + 7, y + 6, INK, 3)


def _horse_head(brush: Brush, coat: Colour) -> None:
    """Paint the head of a horse that looks along x."""
    brush.polygon([(-14, -10), (-16, -32), (-2, -14)], darker(coat, 0.1))
    brush.blob([(-22, -12), (-4, -17), (26, -10), (38, -2), (37, 10), (22, 13), (-4, 14), (-20, 8)], coat)
    brush.blob([(22, -10), (38, -3), (38, 9), (24, 12)], lighter(coat, 0.35))
    brush.circle(33, -1, 2, INK)
    brush.limb([(25, 8), (33, 8)], 1.8, INK)
    brush.blob([(-20, -14), (-6, -20), (8, -12), (-4, -6)], darker(coat, 0.5))
    _eye(brush, 4, -4, 4, True)


def draw_bird(brush: Brush, coat: Colour, action: str) -> None:
    if action == "flying":
        _flying_bird(brush.at(0, -44, turn=-8), coat)
        return
    for x in (-4, 8):
        brush.limb([(x, -22), (x + 1, -2)], 3.4, BEAK)
        brush.limb([(x - 4, -1), (x + 9, -1)], 3, BEAK)
    brush.polygon([(-30, -44), (-66, -50), (-64, -34), (-30, -30)], darker(coat, 0.3))
    brush.blob([(-40, -42), (-16, -62), (10, -82), (34, -72), (36, -44), (16, -20), (-16, -20)], coat)
    brush.blob([(12, -50), (32, -50), (22, -26), (2, -20), (-4, -30)], lighter(coat, 0.5))
    brush.blob([(-48, -38), (-18, -56), (8, -50), (4, -34), (-20, -30)], darker(coat, 0.24))
    _bird_face(brush.at(22, -68), coat)


def _bird_face(brush: Brush, coat: Colour) -> None:
    brush.polygon([(14, -7), (34, 1), (13, 9)], BEAK)
    brush.circle(0, 0, 19, coat)
    brush.polygon([(-6, -16), (-18, -28), (2, -19)], darker(coat, 0.2))
    _eye(brush, 6, -3, 4.2, True)


def _flying_bird(brush: Brush, coat: Colour) -> None:
    brush.blob([(-2, -8), (14, -14), (22, -52), (6, -66), (-6, -40)], darker(coat, 0.35))
    brush.polygon([(-30, 4), (-70, -6), (-66, 12), (-30, 16)], darker(coat, 0.3))
    brush.blob([(-42, 6), (-14, -14), (20, -18), (40, -6), (30, 14), (0, 22)], coat)
    brush.blob([(-16, 12), (10, 6), (34, 6), (18, 19), (-4, 22)], lighter(coat, 0.5))
    _bird_face(brush.at(36, -10), coat)
    brush.blob([(-16, 2), (6, -4), (8, -26), (-16, -64), (-40, -70), (-34, -30)], darker(coat, 0.2))
    brush.blob([(-16, -6), (0, -10), (-2, -26), (-18, -50), (-26, -30)], lighter(coat, 0.12))
