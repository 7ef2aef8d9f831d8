"""Text-IMRAM as an annotator: regions from files or pictures, training, scores in blocks."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterpart_annotators.base import Adopted, Arrays, ComparingAnnotator, StoredAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.kinds.imram.network import IMRAM, build
from counterpart_annotators.kinds.vsrn.annotator import channels_of, regions_to_learn, source_of
from counterpart_annotators.nn import recurrent
from counterpart_annotators.nn.recurrent import Embedder, RecurrentLearner, Source
from counterpart_annotators.nn.vocabularies import Vocabulary
from counterpart_annotators.options import Settings
from counterpart_annotators.progress import Progress
from counterpart_annotators.training.learners import Batch, Trained, TrainingPlan, TrainingSet
from counterpart_annotators.training.loop import repeatable
from counterpart_metrics.errors import CounterpartError

MOST_NUMBERS = 2**23  # of words as pictures see them, computed at once; 4 bytes each, several times


class Matcher(Embedder, ComparingAnnotator):
    """Vectors of regions (N, R, D) and of words (M, L, D), compared by attention."""

    def __init__(self, network: IMRAM, vocabulary: Vocabulary, source: Source, device: str) -> None:
        super().__init__(network, vocabulary, source, device)
        self._scored_by = network.scores

    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Return the scores (n, m), in blocks of bounded memory."""
        side = max(1, int((MOST_NUMBERS / (captions.shape[1] * captions.shape[2])) ** 0.5))
        scores = np.empty((len(images), len(captions)), dtype=np.float32)
        with torch.inference_mode():
            for row in range(0, len(images), side):
                regions = torch.tensor(images[row : row + side], device=self._device)
                for column in range(0, len(captions), side):
                    words = torch.tensor(captions[column : column + side], device=self._device)
                    block = self._scored_by(regions, words)
                    scores[row : row + side, column : column + side] = block.cpu().numpy()
        return scores


def open_annotator(stored: StoredAnnotator, device: str) -> Matcher:
    """Load the annotator. Raises CounterpartError where its folder of regions is missing."""
    arrays = stored.arrays
    settings = stored.options
    words = recurrent.stored_words(arrays)
    source = source_of(settings, arrays)
    network = recurrent.restore(lambda: build(settings, len(words), channels_of(source)), arrays, stored.name, device)
    return Matcher(network, words, source, device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Refuse a file that ``export_annotator`` did not write: there are no published files."""
    raise CounterpartError(f"{path} is not an exported annotator of this kind; export one, or train it here.")


def train(examples: TrainingSet, plan: TrainingPlan, progress: Progress) -> Trained:
    """Train from initial weights, or from a trunk that was trained before."""
    settings = plan.settings
    words = recurrent.words_to_learn(examples, settings)
    surveyed = regions_to_learn(examples, settings, progress)
    source = source_of(settings, surveyed)
    with repeatable(plan.seed):
        network = build(settings, len(words), channels_of(source))
    recurrent.prepare(network.cnn, network.txt_enc.embed, plan)
    trained = recurrent.train(IMRAMLearner(network, words, source, plan), words, examples, plan, progress)
    return replace(trained, arrays=trained.arrays | surveyed)


class IMRAMLearner(RecurrentLearner[IMRAM]):
    """Text-IMRAM with a loss over the scores of all pairs of a batch."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        network = self._network
        regions = network.embed_pictures(pictures)
        return self.ranked(network.scores(regions, network.embed_captions(token_ids, lengths)), batch)

    def annotator(self) -> Matcher:
        return Matcher(self._network, self._vocabulary, self._source, self._device)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the network for the annotator's page."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    dim, channels = arrays["network.img_enc.fc_local.weight"].shape
    regions = "regions from files" if settings["regions"] else f"36 cells of {settings['trunk']}"
    return {
        "pictures": f"{regions}, {channels:,} numbers each",
        "words": f"{words:,} words in {each} dimensions",
        "reader": f"bidirectional GRU, mean of 2 x {dim:,} at each word",
        "matching": f"words attend to regions in {settings['steps']} steps, with a gated memory",
        "score": "sum over steps of the mean cosine of words and what they see",
    }
