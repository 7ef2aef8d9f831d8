"""A round on Prolific acts on Prolific's emulator."""

from tests.crowd.prolific_rehearsal import rehearsal

__all__ = ["rehearsal"]
