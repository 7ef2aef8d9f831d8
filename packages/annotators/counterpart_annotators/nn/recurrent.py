"""The kinds PVSE, PCME, VSRN, VSE and IMRAM: opened, adopted from a published file and trained in the same way.

Each network has an image encoder ``img_enc``, whose layer ``fc`` takes the channels of the trunk or of features from
files, and a text encoder ``txt_enc``, with a table of word vectors ``embed``. A kind declares its ``RecurrentKind``.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from counterpart_annotators.base import Adopted, Arrays, EmbeddingAnnotator, StoredAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.losses import named_loss
from counterpart_annotators.nn.imagenet import TrainingViews, evaluation_batches
from counterpart_annotators.nn.layers import TwoEncoders
from counterpart_annotators.nn.regions import Regions
from counterpart_annotators.nn.starting_weights import TABLE, prepare, size_of, start_words
from counterpart_annotators.nn.vocabularies import Vocabulary, as_bytes, read_vocabulary, vocabulary_of
from counterpart_annotators.nn.weights import Published, check_network, load_network, named, read_published
from counterpart_annotators.options import Settings, Value
from counterpart_annotators.plain import PlainCaption, PlainImage
from counterpart_annotators.progress import Progress, silent
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import fit, repeatable
from counterpart_metrics.errors import CounterpartError, counted

WORDS = "words"  # the stored array of an annotator's vocabulary

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

    def __init__(self, settings: Settings) -> None:
        self._side = int(settings["picture"])
        erasing = float(settings.get("erasing", 0))
        self._views = TrainingViews(self._side, smallest_crop=float(settings["smallest_crop"]), erasing=erasing)

    def batches(self, images: Sequence[PlainImage]) -> Iterator[Tensor]:
        return evaluation_batches(images, self._side)

    def drawn(self, images: Sequence[PlainImage], rng: np.random.Generator) -> Tensor:
        return self._views.batch(images, rng)


@dataclass(frozen=True)
class Model(Generic[Network]):
    """A network with its settings, its words, and the input of its image encoder."""

    network: Network
    settings: Settings
    vocabulary: Vocabulary
    source: Source
    device: str

    @classmethod
    def of(
        cls, build: Callable[[Settings, int, int | None], Network], settings: Settings, arrays: Arrays, device: str
    ) -> "Model[Network]":
        """Build the network for the words and the surveyed folder of features, if any, among ``arrays``.

        Raises CounterpartError for a folder that cannot be read anymore.
        """
        source: Source = Pictures(settings)
        length = None
        if "region_ids" in arrays:
            source = Regions(Path(str(settings.get("regions") or settings["vectors"])), arrays)
            length = source.shape[-1]
        words = Vocabulary(tuple(arrays[WORDS].tolist()))
        return cls(build(settings, len(words), length), settings, words, source, device)

    def words_of(self, captions: Sequence[PlainCaption]) -> tuple[Tensor, Tensor]:
        """Return the ids of words (B, L), and lengths (B,)."""
        spelled = as_bytes if self.settings.get("captions") == "bytes" else str
        token_ids, lengths = self.vocabulary.batch([spelled(caption.text) for caption in captions])
        return token_ids.to(self.device), lengths


class Embedder(EmbeddingAnnotator):
    """Embeds images and captions with a network, which stays in evaluation mode afterwards."""

    def __init__(self, model: Model[Any]) -> None:
        self.looks_at_pictures = model.source.looks_at_pictures
        self._model = model

    def encode_images(self, images: Sequence[PlainImage]) -> Embeddings:
        """Return (N, D) or (N, K, D). Raises CounterpartError for an image without a readable picture."""
        network = self._model.network.eval()
        with torch.inference_mode():
            batches = self._model.source.batches(images)
            return np.concatenate([network.embed_pictures(b.to(self._model.device)).cpu().numpy() for b in batches])

    def encode_captions(self, captions: Sequence[PlainCaption]) -> Embeddings:
        """Return (M, D) or (M, K, D)."""
        with torch.inference_mode():
            return self._model.network.eval().embed_captions(*self._model.words_of(captions)).cpu().numpy()


class RecurrentLearner(Generic[Network]):
    """Turns batches into tensors; subclasses compute the loss in ``cost``."""

    def __init__(self, model: Model[Network], loss: str, embedder: Callable[[Model[Any]], Embedder]) -> None:
        self.network: nn.Module = model.network
        self.loss_name = loss
        self._model = model
        self._embedder = embedder

    def loss(self, batch: Batch) -> Tensor:
        """Return the batch's loss. Random views follow torch's generator, which training saves and restores."""
        rng = np.random.default_rng(int(torch.randint(2**62, ())))
        pictures = self._model.source.drawn(batch.images, rng).to(self._model.device)
        return self.cost(pictures, *self._model.words_of(batch.captions), batch)

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        """Return the loss of a batch's images and captions."""
        raise NotImplementedError

    def ranked(self, similarity: Tensor, batch: Batch) -> Tensor:
        """Return the named loss over similarities (B, B), in which other known matches are not negatives."""
        known = torch.from_numpy(batch.known).to(similarity.device)
        return named_loss(self.loss_name, self._model.settings)(similarity.masked_fill(known, -torch.inf))

    def annotator(self) -> Embedder:
        """Return the annotator with the network's present weights."""
        return self._embedder(self._model)


def no_features(settings: Settings, length: int | None, progress: Progress) -> Arrays:
    """Return the survey of a kind that only reads pictures."""
    return {}


def read_file(path: Path, settings: Settings) -> Published:
    """Return the contents of a published file."""
    return read_published(path)


@dataclass(frozen=True)
class RecurrentKind(Generic[Network]):
    """The functions in which one recurrent kind differs from the others.

    Attributes:
        build: settings, number of words, and length of the features from files (None: the network reads pictures), to
            a network with initial weights.
        learner: the network with its loss.
        decided_by: the settings that published weights decide.
        embedder: opens a network.
        read: a published file, with the settings.
        survey: settings, and the length of features that published weights need, to what ``regions.survey`` returns of
            their folder, if the settings name one.
    """

    build: Callable[[Settings, int, int | None], Network]
    learner: type[RecurrentLearner[Network]]
    decided_by: Callable[[Published, Path], dict[str, Value]]
    embedder: Callable[[Model[Any]], Embedder] = Embedder
    read: Callable[[Path, Settings], Published] = read_file
    survey: Callable[[Settings, int | None, Progress], Arrays] = no_features

    def open(self, stored: StoredAnnotator, device: str) -> Embedder:
        """Load the annotator. Raises CounterpartError for a missing folder of features, and weights that do not fit."""
        with torch.device("meta"):
            model = Model.of(self.build, stored.options, stored.arrays, device)
        load_network(model.network, stored.arrays, stored.name)
        model.network.to(device)
        return self.embedder(model)

    def adopt(self, path: Path, settings: Settings) -> Adopted:
        """Read published weights, and the vocabulary and folder of features that the options name.

        Raises CounterpartError if any of them is invalid.
        """
        published = self.read(path, settings)
        decided = self.decided_by(published, path)
        words = vocabulary_for(published, settings, path)
        length = size_of(published.tensors, "img_enc.fc.weight", 1, path)
        settings = {**settings, **decided}
        with torch.device("meta"):
            network = self.build(settings, len(words), length)
        check_network(network, published.tensors, str(path))
        surveyed = self.survey(settings, length, silent)
        return Adopted(named(published.tensors) | {WORDS: np.array(words.words)} | surveyed, decided)

    def train(self, examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
        """Train from initial weights, or from the trunk and the word vectors that the settings name.

        Raises CounterpartError before training starts if images have no features in the folder.
        """
        words = words_to_learn(examples, plan.settings)
        kept = {WORDS: np.array(words.words)} | self.survey(plan.settings, None, progress)
        with repeatable(plan.seed):
            model = Model.of(self.build, plan.settings, kept, plan.device)
        if isinstance(model.source, Regions):
            for split in filter(None, (examples, examples.validation)):
                model.source.check(split.images)
        prepare(model.network, plan)
        figures = start_words(model.network, words, str(plan.settings["word_vectors"]))
        trained = fit(self.learner(model, plan.loss, self.embedder), examples, plan, progress)
        return Trained(trained.arrays | kept, {**trained.figures, **figures})


def vocabulary_for(published: Published, settings: Settings, where: Path) -> Vocabulary:
    """Return the words of the file that the option ``vocabulary`` names, or else those in the weights' own file.

    Raises CounterpartError where there are none, or another number of words than the weights have.
    """
    file = str(settings["vocabulary"])
    own = published.others.get("word2idx")
    if not file and own is None:
        raise CounterpartError(
            f"{where} contains no words; pass --option vocabulary=FILE with the words it was trained with."
        )
    vocabulary = read_vocabulary(Path(file)) if file else vocabulary_of(own, str(where))
    rows = size_of(published.tensors, TABLE, 0, where)
    if len(vocabulary) != rows:
        raise CounterpartError(
            f"{file or where} has {len(vocabulary)} words, but {where} was trained with {rows}; pass the vocabulary"
            " that belongs to it."
        )
    return vocabulary


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
