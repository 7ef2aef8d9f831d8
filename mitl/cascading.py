"""A cascade: a quick machine's lists, of which a cross-encoder scores the first places anew."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.errors import CounterpartError
from mitl.annotators import is_cross_encoder
from mitl.models import Annotator

CASCADE_DEPTH = 100


@dataclass(frozen=True)
class Cascade:
    """The machine whose lists come first, and how many places of each are scored anew."""

    machine: Annotator
    depth: int = CASCADE_DEPTH


def check_cascade(cascade: Cascade, annotators: Sequence[Annotator], depth: int) -> None:
    """Raise CounterpartError unless the cascade gives lists of ``depth`` for one of the machines at least."""
    if is_cross_encoder(cascade.machine):
        raise CounterpartError(
            f"{cascade.machine} scores pair by pair itself, which is what a cascade avoids;"
            " name a machine that searches quickly with --cascade."
        )
    if not any(map(is_cross_encoder, annotators)):
        raise CounterpartError(
            f"A cascade serves machines that score pair by pair, and none of {', '.join(map(str, annotators))} does;"
            " leave --cascade out."
        )
    if cascade.depth < depth:
        raise CounterpartError(
            f"Lists {depth} deep cannot be made of the first {cascade.depth} places of {cascade.machine}'s;"
            f" pass --cascade-depth {depth} or more, or a lower --depth."
        )
