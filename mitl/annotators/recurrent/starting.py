"""What a network starts training from: words, a trunk that was trained elsewhere, parts that stay."""

from pathlib import Path

import torch
from torch import nn

from core.errors import CounterpartError
from mitl.annotators.base import Arrays, Settings
from mitl.annotators.recurrent.keeping import kept_arrays
from mitl.models import Annotator
from mitl.nn.vocabularies import Vocabulary, read_vocabulary
from mitl.nn.weights import NETWORK, check_network, read_published
from mitl.training.learners import TrainingSet

TRUNK_PREFIXES = ("img_enc.cnn.", "cnn.", "")
CLASSIFIERS = ("fc.", "classifier.6.")


def words_to_learn(examples: TrainingSet, settings: Settings) -> Vocabulary:
    """Return the words that the option names, or those of the training captions.

    Raises CounterpartError where captions have fewer than two words that are frequent enough.
    """
    if settings["vocabulary"]:
        return read_vocabulary(Path(str(settings["vocabulary"])))
    rarest = int(settings["rarest"])
    vocabulary = Vocabulary.learn([caption.text for caption in examples.captions], rarest)
    if len(vocabulary) < len(Vocabulary.learn([])) + 2:
        raise CounterpartError(
            f"The {len(examples.captions)} training captions have fewer than 2 words that occur {rarest} times; there"
            " is nothing to learn. Add the annotator with a smaller option rarest."
        )
    return vocabulary


def prepare(trunk: nn.Module, words: nn.Module, settings: Settings) -> None:
    """Fill the trunk from where the settings say, and freeze what they say; a trunk without weights needs neither.

    Raises CounterpartError where a trunk would be frozen as it was drawn, or cannot be had from there.
    """
    source, frozen = str(settings["trunk_from"]), str(settings["frozen"])
    if source:
        _fill(trunk, source)
    elif "trunk" in frozen and trunk.state_dict():
        raise CounterpartError(
            f"A frozen trunk must have been trained: pass --option trunk_from=FILE, or frozen=nothing in place of"
            f" {frozen}."
        )
    trunk.requires_grad_("trunk" not in frozen)
    words.requires_grad_("words" not in frozen)


def _fill(trunk: nn.Module, source: str) -> None:
    """Load weights of ImageNet's classifiers, of another machine's checkpoint, or of an annotator."""
    tensors = _tensors(source)
    prefix = next(prefix for prefix in TRUNK_PREFIXES if any(name.startswith(prefix) for name in tensors))
    inner = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
    wanted = {name: array for name, array in inner.items() if not name.startswith(CLASSIFIERS)}
    check_network(trunk, wanted, f"The trunk of {source}")
    state = {name: torch.from_numpy(array) for name, array in wanted.items()}
    trunk.load_state_dict(trunk.state_dict() | state)


def _tensors(source: str) -> Arrays:
    if Path(source).exists():
        return read_published(Path(source)).tensors
    annotator = Annotator.objects.filter(name=source).first()
    if annotator is None:
        raise CounterpartError(f"There is neither a file nor an annotator {source}; check the option trunk_from.")
    arrays = kept_arrays(annotator)
    return {name.removeprefix(NETWORK): array for name, array in arrays.items() if name.startswith(NETWORK)}
