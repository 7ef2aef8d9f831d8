"""Vehicles, toys, fruit and furniture; vehicles face right."""

from counterpart_drawn.drawing.brush import (
    CREAM,
    GLASS,
    INK,
    LEAF,
    STEEL,
    TYRE,
    WOOD,
    Brush,
    Colour,
    blend,
    darker,
    lighter,
)

LAMP: Colour = (255, 236, 150)
TAIL_LAMP: Colour = (176, 40, 52)


def draw_car(brush: Brush, paint: Colour) -> None:
    brush.blob([(-50, -40), (-38, -66), (-10, -74), (22, -70), (44, -44), (30, -36), (-40, -36)], paint)
    brush.polygon([(-40, -44), (-32, -62), (-5, -67), (-5, -44)], GLASS)
    brush.polygon([(2, -44), (2, -67), (18, -63), (34, -44)], GLASS)
    brush.polygon([(-30, -44), (-20, -64), (-14, -65), (-24, -44)], CREAM, 0.6)
    brush.blob([(-80, -30), (-74, -44), (-30, -48), (40, -48), (74, -38), (80, -22), (60, -12), (-66, -12)], paint)
    brush.box(-76, -22, 78, -12, darker(paint), 4)
    brush.limb([(-2, -42), (-2, -20)], 1.6, darker(paint))
    brush.limb([(6, -36), (14, -36)], 3, darker(paint, 0.35))
    brush.ellipse(72, -31, 5, 6, LAMP)
    brush.ellipse(-76, -32, 3.5, 5.5, TAIL_LAMP)
    for x in (-45, 45):
        _wheel(brush.at(x, -14), 16)


def draw_bus(brush: Brush, paint: Colour) -> None:
    brush.box(-100, -106, 100, -14, paint, 12)
    brush.box(-100, -30, 100, -14, darker(paint), 5)
    brush.box(-98, -44, 98, -38, CREAM)
    for x in (-90, -54, -18, 18):
        brush.box(x, -94, x + 30, -54, GLASS, 4)
        brush.polygon([(x + 6, -54), (x + 16, -94), (x + 22, -94), (x + 12, -54)], CREAM, 0.5)
    brush.box(56, -94, 74, -20, darker(GLASS, 0.12), 3)
    brush.box(80, -94, 99, -54, GLASS, 4)
    brush.ellipse(96, -27, 4, 6, LAMP)
    brush.ellipse(-97, -27, 3, 6, TAIL_LAMP)
    for x in (-62, 40):
        _wheel(brush.at(x, -16), 17)


def _wheel(brush: Brush, radius: float) -> None:
    brush.circle(0, 0, radius, TYRE)
    brush.circle(0, 0, radius * 0.56, STEEL)
    brush.circle(0, 0, radius * 0.2, TYRE)


def draw_bicycle(brush: Brush, paint: Colour) -> None:
    hubs = ((-44, -30), (44, -30))
    for x, y in hubs:
        brush.ring(x, y, 28, 6, TYRE)
        for turn in range(0, 180, 30):
            spoke = brush.at(x, y, turn=turn)
            spoke.limb([(-25, 0), (25, 0)], 1, STEEL)
        brush.circle(x, y, 4, INK)
    seat = (-18, -74)
    crank = (-4, -30)
    head = (30, -76)
    for start, end in ((hubs[0], seat), (hubs[0], crank), (seat, crank), (seat, head), (crank, head), (head, hubs[1])):
        brush.limb([start, end], 7, paint)
    brush.limb([seat, (-20, -84)], 5, STEEL)
    brush.blob([(-36, -88), (-18, -90), (-4, -86), (-18, -81)], INK)
    brush.limb([head, (28, -94), (40, -100), (46, -94)], 5, INK)
    brush.circle(*crank, 8, darker(paint, 0.3))
    brush.limb([(-10, -18), (2, -42)], 4, INK)


def draw_boat(brush: Brush, paint: Colour) -> None:
    brush.box(-3, -142, 3, -26, WOOD)
    brush.blob([(8, -132), (30, -100), (62, -48), (36, -42), (8, -42)], CREAM)
    brush.blob([(-8, -122), (-8, -42), (-30, -42), (-48, -48), (-24, -90)], blend(CREAM, (226, 214, 190), 0.6))
    brush.polygon([(3, -142), (3, -128), (28, -135)], paint)
    brush.polygon([(-76, -34), (84, -34), (60, 2), (-54, 2)], paint)
    brush.polygon([(-76, -34), (84, -34), (80, -27), (-72, -27)], lighter(paint, 0.45))
    brush.polygon([(-60, -8), (67, -8), (60, 2), (-54, 2)], darker(paint, 0.3))
    for x in (-30, 2, 34):
        brush.circle(x, -18, 5, CREAM)
        brush.circle(x, -18, 3, INK)
    for x in (-78, -34, 10, 54):
        brush.limb([(x, 4), (x + 14, 0), (x + 28, 4)], 3, CREAM, 2)


def draw_ball(brush: Brush, paint: Colour) -> None:
    brush.circle(0, -40, 40, paint)
    brush.blob([(-8, -79), (8, -79), (-4, -40), (8, -1), (-8, -1), (-20, -40)], CREAM)
    brush.blob([(22, -73), (36, -58), (40, -40), (36, -22), (22, -7), (26, -40)], darker(paint))
    brush.ellipse(-22, -56, 7, 11, CREAM, alpha=0.5, turn=35)


def draw_balloon(brush: Brush, paint: Colour) -> None:
    brush.limb([(0, -62), (6, -40), (-6, -20), (2, 0)], 1.8, INK)
    brush.polygon([(0, -68), (-7, -57), (7, -57)], darker(paint))
    brush.blob([(-34, -108), (-22, -138), (0, -146), (22, -138), (34, -108), (20, -80), (0, -66), (-20, -80)], paint)
    brush.blob([(34, -108), (20, -80), (0, -66), (-16, -76), (14, -84)], darker(paint, 0.14))
    brush.ellipse(-15, -121, 6, 12, CREAM, alpha=0.65, turn=28)


def draw_apple(brush: Brush, skin: Colour) -> None:
    brush.blob(
        [(0, -68), (24, -76), (42, -54), (34, -16), (12, 0), (0, -4), (-12, 0), (-34, -16), (-42, -54), (-24, -76)],
        skin,
    )
    brush.blob([(42, -54), (34, -16), (12, 0), (2, -4), (24, -24)], darker(skin, 0.16))
    brush.ellipse(-22, -52, 7, 12, CREAM, alpha=0.6, turn=24)
    brush.limb([(0, -64), (2, -78), (8, -88)], 5, WOOD, 4)
    brush.blob([(6, -78), (20, -94), (40, -90), (26, -78)], LEAF)


def draw_banana(brush: Brush, skin: Colour) -> None:
    brush.blob([(-58, -50), (-46, -48), (-22, -24), (14, -18), (46, -36), (56, -32), (38, -8), (4, 2), (-34, -8)], skin)
    brush.blob([(-52, -36), (-30, -14), (8, -6), (48, -28), (38, -8), (4, 2), (-34, -8)], darker(skin, 0.16))
    brush.limb([(-54, -48), (-59, -62)], 8, darker(skin, 0.45), 7)
    brush.circle(54, -35, 4.5, darker(skin, 0.6))


def draw_chair(brush: Brush, paint: Colour) -> None:
    shade = darker(paint)
    for x in (-24, 18):
        brush.box(x, -60, x + 8, -6, darker(paint, 0.4), 2)
    for x in (-36, 28):
        brush.box(x, -124, x + 9, -60, paint, 4)
    for y in (-120, -102, -84):
        brush.box(-34, y, 34, y + 11, lighter(paint, 0.12), 5)
    for x in (-40, 32):
        brush.box(x, -60, x + 9, 0, shade, 3)
    brush.box(-44, -66, 45, -52, paint, 6)
    brush.box(-38, -73, 39, -63, lighter(paint, 0.4), 5)


def draw_sofa(brush: Brush, paint: Colour) -> None:
    for x in (-86, 78):
        brush.box(x, -12, x + 9, 0, WOOD, 2)
    brush.box(-88, -92, 88, -14, darker(paint, 0.14), 16)
    for x in (-72, 2):
        brush.box(x, -86, x + 70, -40, paint, 12)
        brush.box(x, -50, x + 70, -26, lighter(paint, 0.22), 9)
        brush.circle(x + 35, -66, 2.6, darker(paint, 0.3))
    for x in (-104, 74):
        brush.box(x, -62, x + 30, -8, paint, 13)
    brush.box(-76, -28, 76, -10, darker(paint, 0.1), 4)
