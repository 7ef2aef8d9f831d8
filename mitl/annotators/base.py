"""What a machine is to the rest of the house: something that embeds, scores pairs, or already has its lists.

A machine is a module of this package named like its kind, or one that an installed package names as an entry point
``counterpart.machines``. It holds

- ``OPTIONS``, its settings by name, and ``CHECKPOINT``: whether it needs files, ``required``, ``optional`` or ``none``;
- ``open_annotator(annotator, device)``, which returns one of the five shapes below, to work on ``cpu`` or ``cuda``.

It may hold

- ``adopt(path, settings)``, which reads a checkpoint and returns it as ``Adopted``;
- ``train(examples, plan, progress)`` (``mitl.training.learners``) and ``LOSSES``, the names of the losses it
  learns with, the usual one first;
- ``architecture(settings, arrays)``, what its page tells of the network behind the weights, a text a name;
- ``PREPROCESSING``, a text that changes whenever what is done to pictures and words before the weights see them does.
  Embeddings of a machine that has it are kept for the next search (``mitl.embedding_cache``);
- ``CROSS_ENCODER = True`` where its machines are cross-encoders: that is asked before weights are loaded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from core.errors import CounterpartError
from corpus.models import Caption, Image
from mitl.models import Direction

Embeddings = NDArray[np.float32]
Arrays = dict[str, NDArray]
Value = str | int | float
Settings = Mapping[str, Value]


@dataclass(frozen=True)
class Adopted:
    """What a checkpoint brought: the weights to keep, by name, and the settings that it decides (sizes, say)."""

    arrays: Arrays
    settings: Settings = field(default_factory=dict)


@runtime_checkable
class EmbeddingAnnotator(Protocol):
    """Scores a pair by the inner product of two embeddings, made apart from each other.

    A machine may give K embeddings an item: a pair then scores as the best of its K x K inner products.
    """

    looks_at_pictures: bool

    def encode_images(self, images: Sequence[Image]) -> Embeddings:
        """Return one row an image, (N, D) or (N, K, D)."""

    def encode_captions(self, captions: Sequence[Caption]) -> Embeddings:
        """Return one row a caption, (M, D) or (M, K, D)."""


@runtime_checkable
class ComparingAnnotator(EmbeddingAnnotator, Protocol):
    """Scores a pair from two embeddings made apart from each other, but not by an inner product."""

    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Score n images with m captions, given as the rows that ``encode_`` made of them: (n, m)."""


@runtime_checkable
class PairScorer(Protocol):
    """Scores pairs from both sides at once, so cheaply that whole blocks can be asked."""

    looks_at_pictures: bool

    def over(self, images: Sequence[Image], captions: Sequence[Caption]) -> "PairScores":
        """Make ready to score any pair of a gallery of N images and M captions."""


class PairScores(Protocol):
    """The scores of one gallery, computed where they are asked for."""

    def block(self, images: NDArray[np.int64], captions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Score n images with m captions, named by their places in the gallery: (n, m)."""


@runtime_checkable
class CrossEncoder(Protocol):
    """Passes the picture and the words of a pair through a network together, so that every single pair costs.

    ``batch_size`` is how many pairs one pass takes; never more are asked at once.
    """

    looks_at_pictures: bool
    batch_size: int

    def ready(self, images: Sequence[Image], captions: Sequence[Caption]) -> "JointScores":
        """Make ready to score pairs of a gallery of N images and M captions."""


class JointScores(Protocol):
    """The scores of single pairs of one gallery."""

    def pairs(self, images: NDArray[np.int64], captions: NDArray[np.int64]) -> NDArray[np.float32]:
        """Score n pairs, named by their places in the gallery: image i with caption i, (n,).

        Whichever side asks, all pairs of an image come together: ``images`` rises within a batch and over the
        batches of a search, and for one image ``captions`` rises. Who keeps the last image reads each once.
        """


@runtime_checkable
class ListAnnotator(Protocol):
    """Has ranked lists from elsewhere; nothing is searched."""

    looks_at_pictures: bool

    def lists_of(
        self, direction: Direction, queries: Sequence[Image | Caption], items: Sequence[Image | Caption]
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return places in ``items``, best first, and scores, both (Q, k); shorter lists end in -1 and -inf."""


QuickMachine = EmbeddingAnnotator | PairScorer | ListAnnotator
Machine = QuickMachine | CrossEncoder


@dataclass(frozen=True)
class Option:
    """One setting of a machine. The default's type is the setting's type."""

    default: Value
    help: str
    choices: tuple[str, ...] = ()
    allows: Callable[[float], bool] | None = None

    def read(self, name: str, value: object) -> Value:
        """Return ``value``, text perhaps, as the setting's type. Raises CounterpartError where it will not do."""
        wanted = type(self.default)
        try:
            setting = wanted(str(value))
        except ValueError:
            raise CounterpartError(f"Option {name} must be {_KINDS[wanted]}, not {value!r}.") from None
        if self.choices and setting not in self.choices:
            raise CounterpartError(f"Option {name} must be one of {', '.join(self.choices)}, not {value!r}.")
        if self.allows and not self.allows(float(setting)):
            raise CounterpartError(f"Option {name} is out of range at {value!r}: {self.help}")
        return setting


_KINDS: dict[type, str] = {int: "a whole number", float: "a number", str: "text"}
