"""Parts of the background: skies by time of day, trees, hills, houses; nothing that a caption counts as an object."""

import numpy as np

from counterpart_drawn.drawing.brush import (
    CREAM,
    HEIGHT,
    INK,
    STEEL,
    WIDTH,
    WOOD,
    Brush,
    Canvas,
    Colour,
    Light,
    blend,
    darker,
    lighter,
)
from counterpart_drawn.scenes import pick

Rng = np.random.Generator

# Upper and lower colour of the sky.
SKIES: dict[str, tuple[Colour, Colour]] = {
    "day": ((104, 186, 240), (214, 240, 250)),
    "sunset": ((108, 84, 160), (255, 176, 104)),
    "night": ((16, 20, 58), (50, 60, 116)),
}
GROUND_LIGHTS = {
    "day": Light(),
    "sunset": Light((206, 92, 72), 0.24),
    "night": Light((24, 32, 92), 0.46),
    "indoors": Light(),
}
OBJECT_LIGHTS = {
    "day": Light(),
    "sunset": Light((230, 120, 80), 0.07),
    "night": Light((92, 106, 176), 0.15),
    "indoors": Light(),
}
HOUSES: tuple[Colour, ...] = ((236, 206, 170), (214, 160, 136), (178, 196, 208), (232, 188, 140), (196, 178, 200))
LIT_WINDOW: Colour = (255, 224, 130)
MOON: Colour = (250, 244, 214)
PINE: Colour = (44, 110, 90)
FOLIAGE: tuple[Colour, ...] = ((92, 166, 84), (74, 150, 88), (116, 176, 78))


def paint_sky(canvas: Canvas, time: str, rng: Rng, horizon: float) -> None:
    """Paint the sky down to ``horizon`` and set the canvas's light to that of the ground at this time."""
    canvas.light = Light()
    canvas.gradient(*SKIES[time], 0, horizon)
    brush = Brush(canvas)
    x = rng.uniform(60, WIDTH - 60)
    y = rng.uniform(36, 62)
    if time == "night":
        _stars_and_moon(brush, rng, x, y, horizon)
    elif time == "sunset":
        _sun(brush, x, horizon - 24, 34, (255, 226, 140))
        _clouds(brush, rng, (238, 150, 140))
    else:
        _sun(brush, x, y, 24, (255, 232, 120))
        _clouds(brush, rng, (255, 255, 255))
    canvas.light = GROUND_LIGHTS[time]


def _sun(brush: Brush, x: float, y: float, radius: float, colour: Colour) -> None:
    for halo, alpha in ((1.9, 0.16), (1.45, 0.26)):
        brush.circle(x, y, radius * halo, colour, alpha)
    brush.circle(x, y, radius, colour)


def _stars_and_moon(brush: Brush, rng: Rng, x: float, y: float, horizon: float) -> None:
    for _ in range(46):
        brush.circle(rng.uniform(0, WIDTH), rng.uniform(0, horizon - 20), rng.uniform(0.6, 1.7), MOON, 0.9)
    brush.circle(x, y, 40, MOON, 0.12)
    brush.circle(x, y, 24, MOON)
    for dx, dy, radius in ((-8, -6, 5), (7, 3, 3.5), (-3, 10, 3)):
        brush.circle(x + dx, y + dy, radius, (226, 218, 186))


def _clouds(brush: Brush, rng: Rng, colour: Colour) -> None:
    for _ in range(rng.integers(2, 5)):
        cloud = brush.at(rng.uniform(20, WIDTH - 20), rng.uniform(24, 96), rng.uniform(0.5, 1.0))
        for x, y, radius in ((-30, 0, 16), (-10, -10, 22), (16, -6, 19), (34, 2, 13)):
            cloud.circle(x, y, radius, colour)
        cloud.box(-46, 0, 47, 15, colour, 7)


def hill(brush: Brush, rng: Rng, base: float, height: float, colour: Colour) -> None:
    """Paint a long hill across the picture, with its crest around ``base - height``."""
    crest = [(x, base - height * rng.uniform(0.35, 1.0)) for x in range(-60, WIDTH + 121, 90)]
    brush.blob([*crest, (WIDTH + 140, base + 60), (-140, base + 60)], colour)


def mountain(brush: Brush, x: float, base: float, width: float, height: float, colour: Colour) -> None:
    """Paint a peak with a snow cap and one shaded side."""
    top = (x, base - height)
    left = (x - width / 2, base)
    right = (x + width / 2, base)
    brush.polygon([left, top, right], colour)
    brush.polygon([top, right, (x + width * 0.08, base)], darker(colour, 0.14))
    cap = 0.34
    points = [(x - width / 2 * cap, base - height * (1 - cap)), top, (x + width / 2 * cap, base - height * (1 - cap))]
    teeth = [
        (x + width * 0.07, base - height * 0.74),
        (x, base - height * 0.62),
        (x - width * 0.08, base - height * 0.73),
    ]
    brush.polygon([*points, *teeth], CREAM)


def tree(brush: Brush, rng: Rng) -> None:
    """Paint a round leafy tree about 110 high."""
    leaves = pick(rng, FOLIAGE)
    brush.limb([(0, 0), (1, -26), (0, -54)], 12, WOOD, 8)
    for x, y, radius in ((-22, -62, 25), (22, -64, 24), (0, -84, 30)):
        brush.circle(x, y, radius, darker(leaves, 0.12))
    for x, y, radius in ((-18, -66, 20), (16, -70, 18), (-4, -90, 23)):
        brush.circle(x, y, radius, leaves)
    for x, y in ((-20, -72), (-6, -98), (14, -78)):
        brush.circle(x, y, 7, lighter(leaves, 0.2))


def pine(brush: Brush, *, snowy: bool) -> None:
    """Paint a fir about 110 high."""
    brush.box(-6, -20, 6, 0, darker(WOOD))
    for bottom, half, top in ((-14, 34, -62), (-42, 27, -86), (-68, 19, -112)):
        brush.polygon([(-half, bottom), (0, top), (half, bottom)], PINE)
        brush.polygon([(0, top), (half, bottom), (half * 0.2, bottom)], darker(PINE, 0.2))
        if snowy:
            rim = top + (bottom - top) * 0.45
            brush.polygon([(-half * 0.45, rim), (0, top), (half * 0.45, rim), (half * 0.1, rim - 6)], CREAM)


def palm(brush: Brush, leaning: float) -> None:
    """Paint a palm about 150 high whose crown leans ``leaning`` to the side."""
    brush.limb([(0, 0), (leaning * 0.25, -60), (leaning, -124)], 14, (176, 130, 84), 8)
    for x, y, tip_x, tip_y in (
        (-26, -18, -62, 12),
        (26, -20, 62, 8),
        (-18, -32, -46, -22),
        (20, -34, 50, -26),
        (2, -20, 12, 30),
    ):
        frond = [(0, 0), (x, y - 8), (tip_x, tip_y), (x * 0.9, y + 6)]
        brush.at(leaning, -124).blob(frond, (70, 150, 92) if y < -25 else (52, 128, 84))


def lamp_post(brush: Brush, *, shining: bool) -> None:
    brush.box(-2.5, -110, 2.5, 0, INK)
    brush.box(-8, -5, 8, 0, INK, 2)
    glow = brush.glowing(shining)
    if shining:
        glow.circle(0, -116, 34, LIT_WINDOW, 0.16)
        glow.circle(0, -116, 22, LIT_WINDOW, 0.26)
    glow.circle(0, -116, 10, LIT_WINDOW if shining else CREAM)
    brush.polygon([(-12, -122), (0, -134), (12, -122)], INK)


def house(brush: Brush, rng: Rng, width: float, height: float, *, shining: bool) -> None:
    """Paint the front of a town house with its lower left corner at the origin; ``shining`` lights some windows."""
    wall = pick(rng, HOUSES)
    brush.box(0, -height, width, 0, wall)
    brush.box(-3, -height - 7, width + 3, -height, darker(wall, 0.35))
    brush.box(0, -30, width, -26, darker(wall, 0.15))
    columns = int(width // 26)
    for column in range(columns):
        x = (column + 0.5) * width / columns
        for y in np.arange(-height + 14, -50, 32):
            lit = shining and rng.random() < 0.5
            brush.glowing(lit).box(x - 8, y, x + 8, y + 20, LIT_WINDOW if lit else (120, 156, 182), 2)
            brush.box(x - 9, y + 20, x + 9, y + 23, lighter(wall, 0.5))
    door = pick(rng, ((128, 84, 70), (92, 112, 120), (110, 92, 120)))
    brush.box(width / 2 - 9, -24, width / 2 + 9, 0, door, 3)


def flowers(brush: Brush, rng: Rng, count: int, top: float) -> None:
    """Scatter small white and lilac flowers over the ground below ``top``."""
    for _ in range(count):
        flower = brush.at(rng.uniform(0, WIDTH), rng.uniform(top, HEIGHT), rng.uniform(0.6, 1.0))
        petal = pick(rng, (CREAM, (206, 184, 236)))
        flower.blob(_PETALS, petal)
        flower.circle(0, 0, 1.7, (250, 206, 90))


_PETALS = ((0, -5), (1.5, -1.5), (5, 0), (1.5, 1.5), (0, 5), (-1.5, 1.5), (-5, 0), (-1.5, -1.5))


def tufts(brush: Brush, rng: Rng, count: int, top: float, colour: Colour) -> None:
    """Scatter small tufts of grass below ``top``."""
    for _ in range(count):
        tuft = brush.at(rng.uniform(0, WIDTH), rng.uniform(top, HEIGHT), rng.uniform(0.6, 1.1))
        tuft.polygon([(-1.6, 0), (-4.6, -8), (-0.9, -3), (0, -10), (0.9, -3), (4.6, -8), (1.6, 0)], colour)


def ripples(brush: Brush, rng: Rng, count: int, top: float, bottom: float) -> None:
    """Scatter light strokes over water."""
    for _ in range(count):
        x = rng.uniform(0, WIDTH)
        y = rng.uniform(top, bottom)
        half = rng.uniform(7, 20)
        brush.ellipse(x, y, half, 1.1, blend(CREAM, STEEL, 0.2), alpha=0.55)
