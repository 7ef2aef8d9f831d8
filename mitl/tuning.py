"""Choose the settings of a re-ranking for one machine, on the validation split."""

from core.progress import Progress, silent
from corpus.models import Collection
from mitl.annotators.base import OpenAnnotator
from mitl.reranking import Choice, Steps, choose, variations
from mitl.validation import validation_blocks


def choose_steps(
    machine: OpenAnnotator, collection: Collection, steps: Steps, *, progress: Progress = silent
) -> Choice:
    """Return what was tried in place of ``steps``, from the plain search on, and what has the highest R@1.

    Raises CounterpartError as ``mitl.validation.validation_blocks`` does, ValueError as ``mitl.reranking.choose``.
    """
    validation = validation_blocks(machine, collection, progress=progress)
    candidates = variations(steps, validation.blocks.shape)
    return choose(validation.blocks, validation.positives, candidates, progress=progress)
