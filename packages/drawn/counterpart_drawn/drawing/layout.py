"""Draw a scene: the backdrop, then every group on its side, back rows first."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterpart_drawn.drawing import animals, children, objects
from counterpart_drawn.drawing.backdrops import BACKDROPS
from counterpart_drawn.drawing.brush import INK, NAMED, WIDTH, Brush, Canvas
from counterpart_drawn.drawing.scenery import OBJECT_LIGHTS
from counterpart_drawn.scenes import Group, Scene

Rng = np.random.Generator
Spot = tuple[float, float, float]  # x, y and scale


@dataclass(frozen=True)
class Figure:
    """How a kind is drawn: its painter, its width in the painter's units, and the scale of a large one."""

    paint: Callable[..., None]
    width: float
    scale: float


FIGURES = {
    "dog": Figure(animals.draw_dog, 140, 1.2),
    "cat": Figure(animals.draw_cat, 130, 1.15),
    "horse": Figure(animals.draw_horse, 170, 1.12),
    "bird": Figure(animals.draw_bird, 110, 1.15),
    "girl": Figure(children.draw_girl, 80, 1.4),
    "boy": Figure(children.draw_boy, 80, 1.4),
    "car": Figure(objects.draw_car, 162, 1.3),
    "bus": Figure(objects.draw_bus, 204, 1.15),
    "bicycle": Figure(objects.draw_bicycle, 148, 1.3),
    "boat": Figure(objects.draw_boat, 164, 1.15),
    "ball": Figure(objects.draw_ball, 84, 1.15),
    "balloon": Figure(objects.draw_balloon, 74, 1.15),
    "apple": Figure(objects.draw_apple, 88, 1.1),
    "banana": Figure(objects.draw_banana, 122, 1.2),
    "chair": Figure(objects.draw_chair, 92, 1.15),
    "sofa": Figure(objects.draw_sofa, 212, 1.0),
}
SMALL = 0.46  # scale relative to a large one
SIDE_CENTRES = {"left": 0.26, "middle": 0.5, "right": 0.74}
SIDE_WIDTH = 216.0
FARTHER = 0.88  # scale of the back row
AIR = {"bird": 164.0, "balloon": 236.0}  # height of the lower end of flying objects


def draw_scene(scene: Scene, rng: Rng) -> bytes:
    """Return a JPEG of ``scene``; details that it does not fix (clouds, trees, exact places, faces) are random."""
    canvas = Canvas()
    BACKDROPS[scene.setting].paint(canvas, scene.time, rng)
    canvas.light = OBJECT_LIGHTS[scene.time]
    placed = [
        (spot, group, _mirrored(group, scene, rng)) for group in scene.groups for spot in _spots(group, scene, rng)
    ]
    for spot, group, mirrored in sorted(placed, key=lambda place: place[0][1]):
        _draw_object(canvas, group, spot, mirrored, rng)
    return canvas.jpeg()


def _mirrored(group: Group, scene: Scene, rng: Rng) -> bool:
    """Two groups face each other; a single group faces a random direction."""
    return group.side == "right" if len(scene.groups) == 2 else bool(rng.random() < 0.5)


def _spots(group: Group, scene: Scene, rng: Rng) -> list[Spot]:
    """Return places for the group's objects on its side, in two rows if one row would be too crowded."""
    figure = FIGURES[group.kind]
    scale = figure.scale * (SMALL if group.size == "small" else 1.0 if group.count == 1 else 0.78)
    back, front = _rows(group, scene)
    room = min(SIDE_WIDTH, figure.width * scale * group.count * 1.15)
    centre = WIDTH * SIDE_CENTRES[group.side] + rng.uniform(-8, 8)
    crowded = room < figure.width * scale * group.count
    margin = figure.width * scale / 2
    spots = []
    for place in range(group.count):
        x = centre + room * ((place + 0.5) / group.count - 0.5) + rng.uniform(-3, 3)
        x = min(max(x, margin), WIDTH - margin)
        behind = place % 2 == 1 and (crowded or group.count > 2)
        y = (back if behind else front) + rng.uniform(-5, 5)
        spots.append((x, y, scale * (FARTHER if behind else 1.0)))
    return spots


def _rows(group: Group, scene: Scene) -> tuple[float, float]:
    backdrop = BACKDROPS[scene.setting]
    if group.kind == "balloon" or group.action == "flying":
        height = AIR[group.kind]
        return height - 34, height
    if group.kind == "boat" and backdrop.water:
        return backdrop.water
    return backdrop.ground


def _draw_object(canvas: Canvas, group: Group, spot: Spot, mirrored: bool, rng: Rng) -> None:
    x, y, scale = spot
    figure = FIGURES[group.kind]
    brush = Brush(canvas).at(x, y, scale)
    if group.kind not in ("balloon", "boat") and group.action != "flying":
        brush.ellipse(0, 0, figure.width * 0.42, 7, INK, alpha=0.2)
    look: dict[str, object] = {"action": group.action} if group.action else {}
    if group.kind in ("girl", "boy"):
        look["look"] = int(rng.integers(len(children.LOOKS)))
    figure.paint(brush.at(0, 0, mirrored=mirrored), NAMED[group.colour], **look)
