"""Text-IMRAM as an annotator: regions from files or pictures, training, scores in blocks."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from counterpart_annotators.base import Arrays, ComparingAnnotator
from counterpart_annotators.encoding import Embeddings
from counterpart_annotators.kinds.imram.network import IMRAM, build
from counterpart_annotators.kinds.vsrn.annotator import survey_regions
from counterpart_annotators.nn.recurrent import Embedder, RecurrentKind, RecurrentLearner
from counterpart_annotators.nn.weights import Published
from counterpart_annotators.options import Settings, Value
from counterpart_annotators.training.learners import Batch
from counterpart_metrics.errors import CounterpartError

MOST_NUMBERS = 2**23  # of words as pictures see them, computed at once; 4 bytes each, several times


class Matcher(Embedder, ComparingAnnotator):
    """Vectors of regions (N, R, D) and of words (M, L, D), compared by attention."""

    def compare(self, images: Embeddings, captions: Embeddings) -> NDArray[np.float32]:
        """Return the scores (n, m), in blocks of bounded memory."""
        side = max(1, int((MOST_NUMBERS / (captions.shape[1] * captions.shape[2])) ** 0.5))
        scores = np.empty((len(images), len(captions)), dtype=np.float32)
        with torch.inference_mode():
            for row in range(0, len(images), side):
                regions = torch.tensor(images[row : row + side], device=self._model.device)
                for column in range(0, len(captions), side):
                    words = torch.tensor(captions[column : column + side], device=self._model.device)
                    block = self._model.network.scores(regions, words)
                    scores[row : row + side, column : column + side] = block.cpu().numpy()
        return scores


class IMRAMLearner(RecurrentLearner[IMRAM]):
    """Text-IMRAM with a loss over the scores of all pairs of a batch."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        network = self._model.network
        regions = network.embed_pictures(pictures)
        return self.ranked(network.scores(regions, network.embed_captions(token_ids, lengths)), batch)


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Refuse a file that ``export_annotator`` did not write: there are no published files."""
    raise CounterpartError(f"{path} is not an exported annotator of this kind; export one, or train it here.")


KIND = RecurrentKind(build, IMRAMLearner, decided_by, Matcher, survey=survey_regions)
open_annotator = KIND.open
adopt = KIND.adopt
train = KIND.train


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
