"""Drawn scenes with captions, and how well every caption fits every picture: a testbed with a known truth."""

from counterpart_drawn.drawing.layout import draw_scene
from counterpart_drawn.plates import Plate, compose
from counterpart_drawn.scenes import Scene, sample_scenes

__all__ = ["Plate", "Scene", "compose", "draw_scene", "sample_scenes"]
