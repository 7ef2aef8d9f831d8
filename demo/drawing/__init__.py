"""Flat illustrations of scenes."""

from demo.drawing.composing import draw_scene

__all__ = ["draw_scene"]
