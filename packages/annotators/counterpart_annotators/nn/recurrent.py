"""What PVSE, PCME, VSRN and VSE share beyond layers: embedding a collection, learning, published files, a first trunk.

Each has an image encoder ``img_enc`` and a text encoder ``txt_enc``; the latter has a table of word vectors ``embed``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from counterpart_annotators.base import Arrays, EmbeddingAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.losses import named_loss
from counterpart_annotators.nn.imagenet import TrainingViews, evaluation_batches
from counterpart_annotators.nn.layers import TwoEncoders
from counterpart_annotators.nn.network_options import INCEPTION, TRUNKS, TrunkSize
from counterpart_annotators.nn.vocabularies import Vocabulary, read_vocabulary
from counterpart_annotators.nn.weights import NETWORK, Published, check_network, load_network, named, read_published
from counterpart_annotators.nn.word_vectors import read_word_vectors
from counterpart_annotators.options import Settings
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import fit
from counterpart_metrics.errors import CounterpartError, counted

WORDS = "words"  # the stored array of an annotator's vocabulary
TABLE = "txt_enc.embed.weight"  # a row per word
TRUNK_PREFIXES = ("img_enc.cnn.", "cnn.", "")
CLASSIFIERS = ("fc.", "classifier.6.", "last_linear.")

Network = TypeVar("Network", bound=TwoEncoders)


class Source(Protocol):
    """The input of an image encoder."""

    looks_at_pictures: bool

    def batches(self, images: Sequence[PlainImage]) -> Iterator[Tensor]:
        """Yield the input for images, some at a time, in their order."""

    def drawn(self, images: Sequence[PlainImage], rng: np.random.Generator) -> Tensor:
        """Return the input for images in training, random views if there are any."""


class Pictures:
    """Source of pictures."""

    looks_at_pictures = True

    def __init__(self, settings: Settings, *, erasing: float = 0.0) -> None:
        self._side = int(settings["picture"])
        self._views = TrainingViews(self._side, smallest_crop=float(settings["smallest_crop"]), erasing=erasing)

    def batches(self, images: Sequence[PlainImage]) -> Iterator[Tensor]:
        return evaluation_batches(images, self._side)

    def drawn(self, images: Sequence[PlainImage], rng: np.random.Generator) -> Tensor:
        return self._views.batch(images, rng)


class Embedder(EmbeddingAnnotator):
    """Embeds images and captions with a network, which stays in evaluation mode afterwards.

    ``spelled`` is applied to a caption before it is tokenised.
    """

    def __init__(
        self,
        network: TwoEncoders,
        vocabulary: Vocabulary,
        source: Source,
        device: str,
        *,
        spelled: Callable[[str], str] = str,
    ) -> None:
        self.looks_at_pictures = source.looks_at_pictures
        self._network = network
        self._vocabulary = vocabulary
        self._source = source
        self._device = device
        self._spelled = spelled

    def encode_images(self, images: Sequence[PlainImage]) -> Embeddings:
        """Return (N, D) or (N, K, D). Raises CounterpartError for an image without a readable picture."""
        self._network.eval()
        with torch.inference_mode():
            batches = self._source.batches(images)
            parts = [self._network.embed_pictures(batch.to(self._device)).cpu().numpy() for batch in batches]
        return np.concatenate(parts)

    def encode_captions(self, captions: Sequence[PlainCaption]) -> Embeddings:
        """Return (M, D) or (M, K, D)."""
        token_ids, lengths = self._vocabulary.batch([self._spelled(caption.text) for caption in captions])
        self._network.eval()
        with torch.inference_mode():
            return self._network.embed_captions(token_ids.to(self._device), lengths).cpu().numpy()


class RecurrentLearner(Generic[Network]):
    """Turns batches into tensors; subclasses compute the loss in ``cost``."""

    network: nn.Module

    def __init__(
        self,
        network: Network,
        vocabulary: Vocabulary,
        source: Source,
        plan: TrainingPlan,
        *,
        spelled: Callable[[str], str] = str,
    ) -> None:
        self.network = network
        self._network = network
        self.loss_name = plan.loss
        self._settings = plan.settings
        self._vocabulary = vocabulary
        self._source = source
        self._device = plan.device
        self._spelled = spelled

    def loss(self, batch: Batch) -> Tensor:
        """Return the batch's loss. Random views follow torch's generator, which training saves and restores."""
        rng = np.random.default_rng(int(torch.randint(2**62, ())))
        pictures = self._source.drawn(batch.images, rng).to(self._device)
        token_ids, lengths = self._vocabulary.batch([self._spelled(caption.text) for caption in batch.captions])
        return self.cost(pictures, token_ids.to(self._device), lengths, batch)

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        """Return the loss of a batch's images and captions."""
        raise NotImplementedError

    def ranked(self, similarity: Tensor, batch: Batch) -> Tensor:
        """Return the named loss over similarities (B, B), in which other known matches are not negatives."""
        known = torch.from_numpy(batch.known).to(similarity.device)
        return named_loss(self.loss_name, self._settings)(similarity.masked_fill(known, -torch.inf))

    def annotator(self) -> Embedder:
        """Return the annotator with the network's present weights."""
        return Embedder(self._network, self._vocabulary, self._source, self._device, spelled=self._spelled)


def stored_words(arrays: Arrays) -> Vocabulary:
    """Return the vocabulary among stored arrays."""
    return Vocabulary(tuple(arrays[WORDS].tolist()))


def restore(build: Callable[[], Network], arrays: Arrays, where: str, device: str) -> Network:
    """Build a network and load stored arrays. Raises CounterpartError, naming ``where``, if they do not fit."""
    with torch.device("meta"):
        network = build()
    load_network(network, arrays, where)
    return network.to(device)


def adopt(build: Callable[[], TwoEncoders], tensors: Arrays, vocabulary: Vocabulary, where: Path) -> Arrays:
    """Return published tensors and words as arrays to store. Raises CounterpartError if they do not fit the network."""
    with torch.device("meta"):
        network = build()
    check_network(network, tensors, str(where))
    return named(tensors) | {WORDS: np.array(vocabulary.words)}


def train(
    learner: RecurrentLearner, vocabulary: Vocabulary, examples: TrainingSet, plan: TrainingPlan, progress: Progress
) -> Trained:
    """Train a network, from word vectors where the settings name a file; its words are stored with its weights.

    The figures say how many words have a vector in the file.
    """
    figures = start_words(learner.network, vocabulary, str(plan.settings.get("word_vectors", "")))
    trained = fit(learner, examples, plan, progress)
    arrays = trained.arrays | {WORDS: np.array(vocabulary.words)}
    return Trained(arrays, {**trained.figures, **figures})


def start_words(network: nn.Module, vocabulary: Vocabulary, file: str) -> dict[str, object]:
    """Copy the vectors of a file, if there is one, into the network's table; the other words keep what was drawn.

    Returns ``words_with_vectors``, such as "812 of 901". Raises CounterpartError as ``read_word_vectors`` does.
    """
    if not file:
        return {}
    table = network.get_parameter(TABLE)
    found = read_word_vectors(Path(file), vocabulary.words, table.shape[1])
    places = [place for place, word in enumerate(vocabulary.words) if word in found]
    with torch.no_grad():
        table[places] = torch.from_numpy(np.stack([found[vocabulary.words[place]] for place in places])).to(table)
    return {"words_with_vectors": f"{len(found):,} of {len(vocabulary):,}"}


def vocabulary_for(published: Published, settings: Settings, where: Path) -> Vocabulary:
    """Return the words of the file that the option ``vocabulary`` names.

    Raises CounterpartError where it names none, or another number of words than the weights have.
    """
    file = str(settings["vocabulary"])
    if not file:
        raise CounterpartError(
            f"{where} contains no words; pass --option vocabulary=FILE with the words it was trained with."
        )
    vocabulary = read_vocabulary(Path(file))
    check_vocabulary(vocabulary, published, file, where)
    return vocabulary


def check_vocabulary(vocabulary: Vocabulary, published: Published, file: str | Path, where: Path) -> None:
    """Raise CounterpartError where ``file`` has another number of words than the weights of ``where``."""
    rows = size_of(published.tensors, TABLE, 0, where)
    if len(vocabulary) != rows:
        raise CounterpartError(
            f"{file} has {len(vocabulary)} words, but {where} was trained with {rows}; pass the vocabulary that belongs"
            " to it."
        )


def size_of(tensors: Arrays, name: str, axis: int, where: Path | str) -> int:
    """Return the length of one axis of a tensor. Raises CounterpartError for a missing tensor or axis."""
    if name not in tensors or tensors[name].ndim <= axis:
        raise CounterpartError(f"{where} has no tensor {name}; it has weights of another kind of annotator.")
    return int(tensors[name].shape[axis])


def trunk_in(tensors: Arrays, prefix: str, where: Path | str) -> str:
    """Return the name of the trunk whose tensors start with ``prefix``.

    Raises CounterpartError for an unknown trunk.
    """
    if f"{prefix}conv2d_1a.conv.weight" in tensors:
        return INCEPTION
    blocks: Mapping[str, set[str]] = {f"layer{stage}": set() for stage in range(1, 5)}
    for name in tensors:
        stage, _, rest = name.removeprefix(prefix).partition(".")
        if name.startswith(prefix) and stage in blocks:
            blocks[stage].add(rest.partition(".")[0])
    size = TrunkSize(tuple(map(len, blocks.values())), size_of(tensors, f"{prefix}conv1.weight", 0, where))
    for name, known in TRUNKS.items():
        if known == size:
            return name
    counts = "-".join(map(str, size.blocks))
    raise CounterpartError(f"{where} has a trunk of {counts} blocks, {size.width} wide; known are {', '.join(TRUNKS)}.")


def words_to_learn(examples: TrainingSet, settings: Settings) -> Vocabulary:
    """Return the words of the option ``vocabulary``, or those of the training captions.

    Raises CounterpartError where fewer than two words of the captions are frequent enough.
    """
    if settings["vocabulary"]:
        return read_vocabulary(Path(str(settings["vocabulary"])))
    rarest = int(settings["rarest"])
    vocabulary = Vocabulary.learn([caption.text for caption in examples.captions], rarest)
    if len(vocabulary) < len(Vocabulary.learn([])) + 2:
        raise CounterpartError(
            f"Fewer than 2 words occur {rarest} times in the {counted(len(examples.captions), 'training caption')}. "
            "Add the annotator with a smaller option rarest."
        )
    return vocabulary


def prepare(trunk: nn.Module | None, words: nn.Module, plan: TrainingPlan) -> None:
    """Load the trunk's weights and freeze parts, as the plan's settings say.

    Raises CounterpartError for a trunk that would be frozen untrained, and weights that are missing or do not fit.
    """
    trunk = trunk or nn.Identity()
    source = str(plan.settings["trunk_from"])
    frozen = str(plan.settings["frozen"])
    if source:
        _load_trunk(trunk, source, plan)
    elif "trunk" in frozen and trunk.state_dict():
        raise CounterpartError(
            "A frozen trunk must have been trained: pass --option trunk_from=FILE, or frozen=nothing instead of"
            f" {frozen}."
        )
    trunk.requires_grad_("trunk" not in frozen)
    words.requires_grad_("words" not in frozen)


def _load_trunk(trunk: nn.Module, source: str, plan: TrainingPlan) -> None:
    """Load the trunk of an ImageNet classifier, of another annotator's checkpoint, or of an annotator."""
    tensors = _tensors(source, plan)
    prefix = next(prefix for prefix in TRUNK_PREFIXES if any(name.startswith(prefix) for name in tensors))
    inner = {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}
    wanted = {name: array for name, array in inner.items() if not name.startswith(CLASSIFIERS)}
    check_network(trunk, wanted, f"The trunk of {source}")
    state = {name: torch.from_numpy(array) for name, array in wanted.items()}
    trunk.load_state_dict(trunk.state_dict() | state)


def _tensors(source: str, plan: TrainingPlan) -> Arrays:
    if Path(source).exists():
        return read_published(Path(source)).tensors
    arrays = plan.weights_of(source)
    if arrays is None:
        raise CounterpartError(f"No file or annotator {source}; check the option trunk_from.")
    return {name.removeprefix(NETWORK): array for name, array in arrays.items() if name.startswith(NETWORK)}
