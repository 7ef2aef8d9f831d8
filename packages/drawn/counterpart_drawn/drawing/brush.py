"""A canvas, drawn at twice its size and reduced, a brush for smooth shapes in its own frame, and the colours."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image as Picture
from PIL import ImageDraw

WIDTH = 480
HEIGHT = 360
FINENESS = 2  # pixels drawn per pixel kept, in each direction
JPEG_QUALITY = 88
DOT = 3.0  # radius up to which a circle is drawn with fewer corners

Colour = tuple[int, int, int]
Points = Sequence[tuple[float, float]]

# The colours that captions name, then a few that every picture uses.
NAMED: dict[str, Colour] = {
    "red": (222, 56, 52),
    "orange": (240, 138, 48),
    "yellow": (252, 205, 50),
    "green": (56, 158, 84),
    "blue": (48, 112, 214),
    "pink": (246, 132, 176),
    "brown": (148, 94, 56),
    "black": (56, 53, 64),
    "gray": (148, 153, 166),
    "white": (250, 247, 240),
}
INK: Colour = (44, 36, 48)
CREAM: Colour = (255, 250, 236)
BLUSH: Colour = (240, 128, 128)
BEAK: Colour = (246, 158, 44)
GLASS: Colour = (196, 230, 244)
STEEL: Colour = (190, 196, 206)
TYRE: Colour = (58, 56, 66)
LEAF: Colour = (86, 158, 74)
WOOD: Colour = (156, 108, 68)


def blend(one: Colour, other: Colour, share: float) -> Colour:
    """Return ``one`` with ``share`` (0..1) of ``other`` mixed in."""
    keep = 1 - share
    return (
        round(one[0] * keep + other[0] * share),
        round(one[1] * keep + other[1] * share),
        round(one[2] * keep + other[2] * share),
    )


def lighter(colour: Colour, share: float = 0.3) -> Colour:
    return blend(colour, (255, 252, 244), share)


def darker(colour: Colour, share: float = 0.22) -> Colour:
    return blend(colour, (38, 24, 48), share)


@dataclass(frozen=True)
class Light:
    """The light of a time of day: ``share`` (0..1) of ``colour`` is mixed into every colour."""

    colour: Colour = (255, 255, 255)
    share: float = 0.0


class Canvas:
    """A picture of ``WIDTH`` by ``HEIGHT`` units, with the origin at the upper left."""

    def __init__(self) -> None:
        self._picture = Picture.new("RGB", (WIDTH * FINENESS, HEIGHT * FINENESS))
        self._cover = ImageDraw.Draw(self._picture)
        self._mix = ImageDraw.Draw(self._picture, "RGBA")
        self.light = Light()

    def gradient(self, top: Colour, bottom: Colour, start: float, end: float) -> None:
        """Fill the band between two heights with a gradient from ``top`` to ``bottom``, lit by ``light``."""
        top = self._lit(top)
        bottom = self._lit(bottom)
        rows = np.linspace(0.0, 1.0, round((end - start) * FINENESS))[:, None]
        column = (np.array(top) * (1 - rows) + np.array(bottom) * rows).round().astype(np.uint8)[:, None, :]
        band = Picture.fromarray(column).resize((WIDTH * FINENESS, len(rows)), Picture.Resampling.NEAREST)
        self._picture.paste(band, (0, round(start * FINENESS)))

    def polygon(self, points: NDArray[np.float64], colour: Colour, alpha: float, *, glowing: bool) -> None:
        """Fill a polygon (n, 2), in drawn pixels; lit by ``light`` unless it glows."""
        outline = points.ravel().tolist()
        shown = colour if glowing else self._lit(colour)
        if alpha == 1.0:
            self._cover.polygon(outline, fill=shown)
        else:
            self._mix.polygon(outline, fill=(*shown, round(255 * alpha)))

    def _lit(self, colour: Colour) -> Colour:
        return blend(colour, self.light.colour, self.light.share) if self.light.share else colour

    def jpeg(self) -> bytes:
        """Return the finished picture's bytes."""
        buffer = BytesIO()
        self._picture.reduce(FINENESS).save(buffer, "JPEG", quality=JPEG_QUALITY)
        return buffer.getvalue()


class Brush:
    """Paints on a canvas in its own frame: moved, scaled, rotated (degrees, clockwise) and optionally mirrored.

    The shapes of objects are written for a frame with its origin where the object touches the ground; x points to the
    right and y down, so heights are negative.
    """

    def __init__(self, canvas: Canvas, frame: NDArray[np.float64] | None = None, *, glowing: bool = False) -> None:
        self.canvas = canvas
        self._frame = np.eye(3) if frame is None else frame
        self._turn = self._frame[:2, :2].T * FINENESS
        self._place = self._frame[:2, 2] * FINENESS
        self._glowing = glowing

    def glowing(self, glows: bool = True) -> "Brush":
        """Return a brush with the same frame whose colours ignore the light."""
        return Brush(self.canvas, self._frame, glowing=glows)

    @property
    def is_mirrored(self) -> bool:
        return bool(np.linalg.det(self._turn) < 0)

    def at(self, x: float, y: float, scale: float = 1.0, *, turn: float = 0.0, mirrored: bool = False) -> "Brush":
        """Return a brush whose frame has its origin at (x, y) of this one."""
        cos = math.cos(math.radians(turn)) * scale
        sin = math.sin(math.radians(turn)) * scale
        mirror = -1 if mirrored else 1
        moved = self._frame @ np.array([(cos * mirror, -sin, x), (sin * mirror, cos, y), (0, 0, 1)])
        return Brush(self.canvas, moved, glowing=self._glowing)

    def polygon(self, points: Points, colour: Colour, alpha: float = 1.0) -> None:
        self._fill(np.asarray(points, dtype=float), colour, alpha)

    def blob(self, points: Points, colour: Colour) -> None:
        """Fill the smooth closed curve through ``points``."""
        self._fill(_closed_curve(tuple(points)), colour, 1.0)

    def ellipse(
        self, x: float, y: float, rx: float, ry: float, colour: Colour, *, alpha: float = 1.0, turn: float = 0.0
    ) -> None:
        angle = np.radians(turn)
        turned = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        self._fill((_CIRCLE * (rx, ry)) @ turned + (x, y), colour, alpha)

    def circle(self, x: float, y: float, radius: float, colour: Colour, alpha: float = 1.0) -> None:
        self._fill((_CIRCLE if radius > DOT else _DOT) * radius + (x, y), colour, alpha)

    def ring(self, x: float, y: float, radius: float, width: float, colour: Colour) -> None:
        """Paint a circular line of ``width`` inside ``radius``."""
        outer = np.vstack([_CIRCLE, _CIRCLE[:1]])
        inner = np.vstack([_CIRCLE, _CIRCLE[:1]])[::-1]
        self._fill(np.vstack([outer * radius, inner * (radius - width)]) + (x, y), colour, 1.0)

    def box(self, left: float, top: float, right: float, bottom: float, colour: Colour, radius: float = 0.0) -> None:
        """Fill a rectangle with rounded corners."""
        self._fill(_rounded_box(left, top, right, bottom, radius), colour, 1.0)

    def limb(self, points: Points, width: float, colour: Colour, end_width: float | None = None) -> None:
        """Stroke the smooth open curve through ``points`` with round ends; its width changes to ``end_width``."""
        self._fill(_stroke(tuple(points), width, width if end_width is None else end_width), colour, 1.0)

    def _fill(self, points: NDArray[np.float64], colour: Colour, alpha: float) -> None:
        placed = points @ self._turn + self._place
        self.canvas.polygon(placed, colour, alpha, glowing=self._glowing)


_TURNS = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
_CIRCLE = np.column_stack([np.cos(_TURNS), np.sin(_TURNS)])
_DOT = _CIRCLE[::4]
_STEPS = np.linspace(0.0, 1.0, 8, endpoint=False)[:, None]


@lru_cache(maxsize=4096)
def _closed_curve(points: tuple[tuple[float, float], ...]) -> NDArray[np.float64]:
    knots = np.array(points, dtype=float)
    return _spline(np.roll(knots, 1, axis=0), knots, np.roll(knots, -1, axis=0), np.roll(knots, -2, axis=0))


@lru_cache(maxsize=4096)
def _stroke(points: tuple[tuple[float, float], ...], width: float, end_width: float) -> NDArray[np.float64]:
    """Return the outline of a curve with changing width and round ends."""
    knots = np.array(points, dtype=float)
    ends = np.vstack([2 * knots[0] - knots[1], knots, 2 * knots[-1] - knots[-2]])
    line = np.vstack([_spline(ends[:-3], ends[1:-2], ends[2:-1], ends[3:]), knots[-1:]])
    ahead = np.gradient(line, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True) + 1e-9
    left = np.column_stack([ahead[:, 1], -ahead[:, 0]])
    aside = left * np.linspace(width, end_width, len(line))[:, None] / 2
    first = _round_end(left[0], -ahead[0], width / 2)
    last = _round_end(-left[-1], ahead[-1], end_width / 2)
    return np.vstack([line[0] + first[::-1], line + aside, line[-1] + last[::-1], (line - aside)[::-1]])


def _round_end(side: NDArray[np.float64], outward: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Return a half circle from ``side`` through ``outward`` to the other side."""
    turn = np.linspace(0.0, np.pi, 9)[1:-1, None]
    return radius * (np.cos(turn) * side + np.sin(turn) * outward)


def _spline(
    before: NDArray[np.float64], start: NDArray[np.float64], end: NDArray[np.float64], after: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Catmull-Rom spline: return the points of all pieces from ``start`` (n, 2) to ``end``, in order."""
    t = _STEPS[None]
    p0, p1, p2, p3 = (knots[:, None, :] for knots in (before, start, end, after))
    pieces = p1 + 0.5 * t * (p2 - p0 + t * (2 * p0 - 5 * p1 + 4 * p2 - p3 + t * (3 * (p1 - p2) + p3 - p0)))
    return pieces.reshape(-1, 2)


@lru_cache(maxsize=4096)
def _rounded_box(left: float, top: float, right: float, bottom: float, radius: float) -> NDArray[np.float64]:
    if radius == 0:
        return np.array([(left, top), (right, top), (right, bottom), (left, bottom)], dtype=float)
    quarter = np.linspace(0.0, np.pi / 2, 7)
    corner = np.column_stack([np.cos(quarter), np.sin(quarter)]) * radius
    centres = ((right - radius, bottom - radius), (left + radius, bottom - radius), (left + radius, top + radius))
    turns = (corner, corner[:, ::-1] * (-1, 1), -corner, corner[:, ::-1] * (1, -1))
    return np.vstack(
        [turn + centre for turn, centre in zip(turns, (*centres, (right - radius, top + radius)), strict=True)]
    )
