"""The backdrop of each setting, and the heights for objects on the ground, in the air and on water."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterpart_drawn.drawing.brush import (
    CREAM,
    HEIGHT,
    LEAF,
    WIDTH,
    WOOD,
    Brush,
    Canvas,
    Colour,
    Light,
    darker,
    lighter,
)
from counterpart_drawn.drawing.scenery import (
    SKIES,
    Rng,
    flowers,
    hill,
    house,
    lamp_post,
    mountain,
    paint_sky,
    palm,
    pine,
    ripples,
    tree,
    tufts,
)
from counterpart_drawn.scenes import pick


@dataclass(frozen=True)
class Backdrop:
    """A setting's painter, and the heights of its back and front row on the ground and, if present, on water."""

    paint: Callable[[Canvas, str, Rng], None]
    ground: tuple[float, float]
    water: tuple[float, float] | None = None


def _park(canvas: Canvas, time: str, rng: Rng) -> None:
    paint_sky(canvas, time, rng, 216)
    brush = Brush(canvas)
    for x in range(-10, WIDTH + 40, 34):
        brush.circle(x, 206 + rng.uniform(-8, 8), rng.uniform(24, 38), (128, 184, 120))
    canvas.gradient((140, 200, 98), (98, 172, 78), 206, HEIGHT)
    bend = rng.uniform(60, WIDTH - 60)
    brush.blob(
        [
            (bend, 206),
            (bend + 14, 206),
            (bend + 60, 250),
            (bend - 40, 300),
            (bend + 90, 380),
            (bend - 110, 380),
            (bend - 130, 300),
            (bend + 6, 246),
        ],
        (226, 208, 166),
    )
    for x in rng.choice(np.arange(20, WIDTH, 74), size=4, replace=False):
        tree(brush.at(x + rng.uniform(-14, 14), rng.uniform(216, 238), rng.uniform(0.95, 1.3)), rng)
    lamp_post(brush.at(rng.uniform(40, WIDTH - 40), 244), shining=time == "night")
    tufts(brush, rng, 16, 240, (82, 150, 70))
    flowers(brush, rng, 12, 250)


def _meadow(canvas: Canvas, time: str, rng: Rng) -> None:
    paint_sky(canvas, time, rng, 226)
    brush = Brush(canvas)
    hill(brush, rng, 205, 66, (160, 204, 142))
    hill(brush, rng, 222, 44, (178, 208, 110))
    _barn(brush.at(rng.uniform(70, WIDTH - 70), 214, rng.uniform(0.85, 1.05)))
    canvas.gradient((186, 210, 96), (132, 180, 74), 212, HEIGHT)
    for x in range(-20, WIDTH + 20, 44):
        brush.box(x, 204, x + 6, 240, (238, 226, 206), 2)
    for y in (212, 226):
        brush.box(-10, y, WIDTH + 10, y + 5, (246, 236, 216))
    tufts(brush, rng, 34, 250, (112, 158, 62))
    flowers(brush, rng, 22, 250)


def _barn(brush: Brush) -> None:
    brush.box(-44, -54, 44, 0, (178, 84, 72))
    brush.polygon([(-52, -52), (-34, -84), (0, -98), (34, -84), (52, -52)], (120, 88, 88))
    brush.polygon([(-42, -52), (-28, -78), (0, -89), (28, -78), (42, -52)], (178, 84, 72))
    brush.box(-16, -34, 16, 0, CREAM)
    brush.box(-13, -31, 13, 0, (148, 68, 60))
    brush.limb([(-13, -31), (13, 0)], 2.4, CREAM)
    brush.limb([(13, -31), (-13, 0)], 2.4, CREAM)
    brush.circle(0, -64, 8, CREAM)
    brush.circle(0, -64, 5.5, (90, 60, 64))


def _street(canvas: Canvas, time: str, rng: Rng) -> None:
    paint_sky(canvas, time, rng, 226)
    brush = Brush(canvas)
    x = rng.uniform(-40, -10)
    while x < WIDTH:
        width = rng.uniform(66, 110)
        house(brush.at(x, 222), rng, width, rng.uniform(96, 176), shining=time == "night")
        x += width + 1
    canvas.gradient((206, 200, 196), (190, 184, 182), 220, 246)
    brush.box(0, 244, WIDTH, 250, (150, 146, 148))
    canvas.gradient((112, 112, 124), (92, 92, 104), 250, HEIGHT)
    start = rng.uniform(-60, 0)
    for dash in range(7):
        left = start + dash * 84
        brush.polygon([(left, 296), (left + 44, 296), (left + 40, 303), (left - 4, 303)], CREAM, 0.8)
    for post in (rng.uniform(20, 200), rng.uniform(260, 460)):
        lamp_post(brush.at(post, 244, 0.95), shining=time == "night")


def _beach(canvas: Canvas, time: str, rng: Rng) -> None:
    paint_sky(canvas, time, rng, 152)
    brush = Brush(canvas)
    canvas.gradient((34, 128, 192), (92, 200, 210), 148, 250)
    ripples(brush, rng, 26, 154, 232)
    shore = [(x, 240 + rng.uniform(-7, 7)) for x in range(-80, WIDTH + 121, 70)]
    brush.blob([*((x, y - 8) for x, y in shore), (WIDTH + 160, 460), (-160, 460)], (226, 246, 244))
    brush.blob([*shore, (WIDTH + 160, 470), (-160, 470)], (246, 222, 168))
    palm_x = pick(rng, (rng.uniform(8, 40), rng.uniform(WIDTH - 40, WIDTH - 8)))
    palm(brush.at(palm_x, 272, 1.15), 26 if palm_x < WIDTH / 2 else -26)
    for _ in range(26):
        brush.circle(rng.uniform(0, WIDTH), rng.uniform(262, HEIGHT), rng.uniform(0.8, 1.8), (216, 184, 128))
    for _ in range(3):
        _starfish(brush.at(rng.uniform(20, WIDTH - 20), rng.uniform(326, 352), 0.8, turn=rng.uniform(0, 72)))


def _starfish(brush: Brush) -> None:
    for turn in range(0, 360, 72):
        brush.at(0, 0, turn=turn).limb([(0, 0), (0, -9)], 6, (236, 150, 116), 3)
    brush.circle(0, 0, 2, CREAM)


def _lake(canvas: Canvas, time: str, rng: Rng) -> None:
    paint_sky(canvas, time, rng, 190)
    brush = Brush(canvas)
    for middle in (60, 210, 390):
        mountain(
            brush, middle + rng.uniform(-40, 40), 190, rng.uniform(190, 270), rng.uniform(84, 132), (140, 158, 186)
        )
    hill(brush, rng, 196, 24, (96, 140, 126))
    for x in rng.uniform(0, WIDTH, size=15):
        pine(brush.at(x, 194 + rng.uniform(-3, 4), rng.uniform(0.26, 0.48)), snowy=False)
    canvas.gradient((72, 148, 172), (104, 190, 204), 190, 300)
    ripples(brush, rng, 34, 198, 280)
    shore = [(x, 288 + rng.uniform(-6, 6)) for x in range(-80, WIDTH + 121, 80)]
    brush.blob([*shore, (WIDTH + 160, 480), (-160, 480)], (190, 180, 170))
    for _ in range(46):
        x = rng.uniform(0, WIDTH)
        y = rng.uniform(294, HEIGHT)
        half = rng.uniform(3, 8)
        brush.ellipse(x, y, half, half * 0.6, pick(rng, ((168, 160, 154), (208, 200, 190), (150, 146, 146))))


def _snow(canvas: Canvas, time: str, rng: Rng) -> None:
    paint_sky(canvas, time, rng, 216)
    brush = Brush(canvas)
    mountain(brush, rng.uniform(40, WIDTH - 40), 212, 340, rng.uniform(90, 120), (168, 186, 214))
    hill(brush, rng, 214, 44, (222, 234, 246))
    for x in rng.choice(np.arange(10, WIDTH, 46), size=7, replace=False):
        pine(brush.at(x + rng.uniform(-10, 10), rng.uniform(206, 228), rng.uniform(0.5, 0.95)), snowy=True)
    canvas.gradient((228, 238, 248), (206, 222, 240), 222, HEIGHT)
    hill(brush, rng, 262, 34, (238, 244, 251))
    for _ in range(4):
        x = rng.uniform(0, WIDTH)
        y = rng.uniform(256, 350)
        brush.ellipse(x, y, rng.uniform(40, 80), rng.uniform(5, 9), (200, 216, 238), alpha=0.7)
    for _ in range(26):
        brush.circle(rng.uniform(0, WIDTH), rng.uniform(240, HEIGHT), rng.uniform(0.8, 1.6), (255, 255, 255))


WALLS: tuple[Colour, ...] = ((206, 222, 214), (232, 214, 190), (214, 210, 228), (236, 206, 196))
CURTAINS: tuple[Colour, ...] = ((238, 196, 150), (170, 196, 190), (214, 176, 186))


def _room(canvas: Canvas, time: str, rng: Rng) -> None:
    canvas.light = Light()
    wall = pick(rng, WALLS)
    canvas.gradient(lighter(wall, 0.25), wall, 0, 236)
    brush = Brush(canvas)
    for x in range(12, WIDTH, 40):
        brush.box(x, 0, x + 14, 236, lighter(wall, 0.28))
    canvas.gradient((208, 164, 118), (186, 138, 94), 236, HEIGHT)
    for y in (252, 274, 302, 334):
        brush.box(0, y, WIDTH, y + 1.5, (168, 124, 84))
    brush.box(0, 228, WIDTH, 240, CREAM)
    left = rng.choice([rng.uniform(46, 110), rng.uniform(200, 300)])
    _window(brush.at(left, 34), pick(rng, CURTAINS))
    for place in range(rng.integers(1, 3)):
        aside = left + 196 + place * 64 if left < 155 else left - 76 - place * 64
        _framed(brush.at(aside, rng.uniform(50, 76)), rng)
    _house_plant(brush.at(pick(rng, (24, WIDTH - 24)), 262), pick(rng, CURTAINS))
    brush.ellipse(WIDTH / 2 + rng.uniform(-40, 40), 312, 210, 38, lighter(pick(rng, CURTAINS), 0.2))
    brush.ellipse(WIDTH / 2, 312, 168, 28, CREAM, alpha=0.35)


def _window(brush: Brush, curtain: Colour) -> None:
    brush.box(0, 0, 120, 120, CREAM, 3)
    top, bottom = SKIES["day"]
    brush.box(6, 6, 114, 114, top)
    brush.box(6, 66, 114, 114, bottom)
    brush.blob([(6, 114), (6, 92), (40, 84), (80, 96), (114, 88), (114, 114)], LEAF)
    brush.circle(90, 28, 11, (255, 232, 120))
    brush.box(57, 4, 63, 116, CREAM)
    brush.box(4, 57, 116, 63, CREAM)
    for side in (-1, 1):
        x = 60 + side * 66
        brush.blob([(x - 14, -6), (x + 14, -6), (x + 16, 60), (x + 12, 130), (x - 12, 130), (x - 14, 60)], curtain)
        brush.limb([(x, 0), (x - 2, 126)], 3, darker(curtain, 0.12))
    brush.limb([(-26, -6), (146, -6)], 5, WOOD)


def _framed(brush: Brush, rng: Rng) -> None:
    """Paint a small framed picture of hills on the wall."""
    brush.box(-24, 0, 24, 40, WOOD, 2)
    brush.box(-20, 4, 20, 36, (222, 234, 236))
    ridge = rng.uniform(14, 24)
    brush.polygon(
        [(-20, 36), (-20, ridge + 6), (-4, ridge), (8, ridge + 8), (20, ridge - 2), (20, 36)], (150, 182, 160)
    )


def _house_plant(brush: Brush, pot: Colour) -> None:
    for x, y in ((-26, -70), (24, -76), (-12, -96), (12, -100), (0, -84)):
        brush.blob(
            [(0, -26), (x * 0.9 - 6, y * 0.7), (x, y), (x * 0.7 + 8, y * 0.66)], LEAF if x > 0 else darker(LEAF, 0.16)
        )
    brush.polygon([(-18, -32), (18, -32), (13, 0), (-13, 0)], darker(pot, 0.2))
    brush.box(-21, -36, 21, -27, pot, 3)


BACKDROPS: dict[str, Backdrop] = {
    "park": Backdrop(_park, (276, 326)),
    "meadow": Backdrop(_meadow, (276, 326)),
    "street": Backdrop(_street, (278, 334)),
    "beach": Backdrop(_beach, (284, 330), water=(196, 224)),
    "lake": Backdrop(_lake, (316, 340), water=(232, 268)),
    "snow": Backdrop(_snow, (278, 328)),
    "room": Backdrop(_room, (284, 332)),
}
