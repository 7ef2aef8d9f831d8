"""PVSE: K embeddings of a picture and K of a caption, scored by the best of their K x K cosines.

Song and Soleymani (2019), "Polysemous visual-semantic embedding for cross-modal retrieval". Where the published code
and the paper differ, the code is followed, with which the published weights were trained. Names of modules are those
of the published files. Training follows the authors' COCO recipe by default.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from core.errors import CounterpartError
from core.progress import Progress
from mitl.annotators.base import Adopted, Arrays, stored_arrays
from mitl.losses import violations
from mitl.models import Annotator
from mitl.nn import recurrent
from mitl.nn.layers import PIE, Attended, Reading, ResNet, Sentences, TwoEncoders, padding, read, unit
from mitl.nn.recurrent import TABLE, Embedder, Pictures, RecurrentLearner, size_of, trunk_in, vocabulary_for
from mitl.nn.weights import Published, read_published
from mitl.options import TRUNKS, Settings, Value
from mitl.training.learners import Batch, Plan, Trained, TrainingSet
from mitl.training.loop import repeatable

Reduction = Literal["mean", "sum"]
MARGIN = 0.1
BANDWIDTH = 0.5


class ImageEncoder(nn.Module):
    """A picture's K unit vectors, from the positions of the trunk's last map, (B, ``channels``, h, w)."""

    def __init__(self, trunk: nn.Module, channels: int, embed: int, heads: int = 1) -> None:
        super().__init__()
        self.cnn = trunk
        self.fc = nn.Linear(channels, embed)
        self.pie_net = PIE(channels, embed, heads)
        nn.init.xavier_uniform_(self.fc.weight)
        nn.init.zeros_(self.fc.bias)

    def forward(self, pictures: Tensor) -> Attended:
        """Embed pictures (B, 3, H, W)."""
        return self.of_map(self.cnn(pictures))

    def of_map(self, features: Tensor) -> Attended:
        """Embed the trunk's output for pictures, (B, C, h, w)."""
        positions = features.flatten(2).transpose(1, 2)
        attended = self.pie_net(self.fc(positions.mean(1)), positions)
        return attended._replace(embedding=unit(attended.embedding))


class TextEncoder(Sentences):
    """A caption's K unit vectors: the GRU reads the whole, attention reads the word vectors."""

    def __init__(self, vocabulary: int, word: int, embed: int, heads: int = 1, *, reading: Reading = "legacy") -> None:
        super().__init__(vocabulary, word, embed, bidirectional=True)
        self.reading = reading
        self.pie_net = PIE(word, embed, heads)

    def forward(self, token_ids: Tensor, lengths: Tensor) -> Attended:  # type: ignore[override] # returns more
        """Embed captions (B, L) of ``lengths`` (B,)."""
        words = self.embed(token_ids)
        whole = read(self.rnn, words, lengths, self.reading)
        attended = self.pie_net(whole, words, padding(lengths.to(words.device), words.shape[1]))
        return attended._replace(embedding=unit(attended.embedding))


class PVSE(TwoEncoders):
    """Both encoders."""

    def __init__(self, image: ImageEncoder, text: TextEncoder) -> None:
        super().__init__()
        self.img_enc = image
        self.txt_enc = text

    def embed_pictures(self, pictures: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for pictures (B, 3, H, W)."""
        embedding: Tensor = self.img_enc(pictures).embedding
        return embedding

    def embed_captions(self, token_ids: Tensor, lengths: Tensor) -> Tensor:
        """Return (B, D) or (B, K, D) for captions (B, L)."""
        embedding: Tensor = self.txt_enc(token_ids, lengths).embedding
        return embedding


@dataclass(frozen=True)
class Polysemy:
    """Parameters of the loss: margin, hardest negatives only or all, weights of the two regularisers, means over the
    batch or sums."""

    margin: float = MARGIN
    max_violation: bool = True
    diversity: float = 0.1
    mmd: float = 0.01
    reduction: Reduction = "mean"


@dataclass(frozen=True)
class Embedded:
    """One side of a batch: unit rows (B, K, D), and the residuals (B, K, D) of the PIE block."""

    embeddings: Tensor
    residuals: Tensor


def pvse_loss(images: Embedded, captions: Embedded, how: Polysemy = Polysemy(), known: Tensor | None = None) -> Tensor:
    """Return ranking + 0.1 diversity + 0.01 MMD, the last two only if K > 1.

    ``known`` (B, B), bool, are other pairs known to match, which are not negatives.
    """
    similarity = best_cosines(images.embeddings, captions.embeddings)
    if known is not None:
        similarity = similarity.masked_fill(known, -torch.inf)
    loss = ranking(similarity, how.margin, how.max_violation, how.reduction)
    if images.embeddings.shape[1] == 1:
        return loss
    spread = diversity(images.residuals, how.reduction) + diversity(captions.residuals, how.reduction)
    apart = mmd(images.embeddings.flatten(0, 1), captions.embeddings.flatten(0, 1), how.reduction)
    return loss + how.diversity * spread + how.mmd * apart


def best_cosines(images: Tensor, captions: Tensor) -> Tensor:
    """Return the largest of K x K inner products of every image (N, K, D) and caption (M, K, D): (N, M)."""
    return torch.einsum("nkd,mld->nmkl", images, captions).amax((2, 3))


def ranking(
    similarity: Tensor, margin: float = MARGIN, max_violation: bool = True, reduction: Reduction = "mean"
) -> Tensor:
    """Return the hinges over rows plus those over columns.

    ``mean`` is over all B x B entries, the zero diagonal included, or over the B largest with ``max_violation``.
    """
    rows, columns = violations(similarity, margin)
    if max_violation:
        rows, columns = rows.amax(1), columns.amax(0)
    return _reduced(rows, reduction) + _reduced(columns, reduction)


def diversity(residuals: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the similarity of an item's K residuals (B, K, D): the Frobenius norm of their cosines off the diagonal,
    divided by K^2."""
    normalised = functional.normalize(residuals, dim=2)
    k = normalised.shape[1]
    cosines = torch.einsum("bkd,bld->bkl", normalised, normalised)
    others = cosines.masked_fill(torch.eye(k, dtype=torch.bool, device=residuals.device), 0)
    return _reduced(torch.linalg.matrix_norm(others) / k**2, reduction)


def mmd(images: Tensor, captions: Tensor, reduction: Reduction = "mean") -> Tensor:
    """Return the maximum mean discrepancy of two sides (N, D) with the kernel exp(-0.5 |x - y|), the norm not squared:
    k(x, x') - 2 k(x, y) + k(y, y') over the N x N places."""
    within = _kernel(images, images) + _kernel(captions, captions)
    return _reduced(within - 2 * _kernel(images, captions), reduction)


def _kernel(one: Tensor, other: Tensor) -> Tensor:
    # Distances by a matrix product lose half of their digits near 0, as on the diagonal.
    distances = torch.cdist(one, other, compute_mode="donot_use_mm_for_euclid_dist")
    return (-BANDWIDTH * distances).exp()


def _reduced(values: Tensor, reduction: Reduction) -> Tensor:
    return values.mean() if reduction == "mean" else values.sum()


def build(settings: Settings, words: int) -> PVSE:
    """Return the network of these settings and number of words, with initial weights."""
    trunk = TRUNKS[str(settings["trunk"])]
    embed, heads = int(settings["embed"]), int(settings["embeddings"])
    return PVSE(
        ImageEncoder(ResNet(trunk), trunk.channels, embed, heads),
        TextEncoder(words, int(settings["word"]), embed, heads, reading=cast(Reading, settings["reading"])),
    )


def open_annotator(annotator: Annotator, device: str) -> Embedder:
    """Load the annotator. Raises CounterpartError if it has no weights yet."""
    arrays, settings = stored_arrays(annotator), annotator.options
    words = recurrent.stored_words(arrays)
    network = recurrent.restore(lambda: build(settings, len(words)), arrays, annotator.name, device)
    return Embedder(network, words, Pictures(settings), device)


def adopt(path: Path, settings: Settings) -> Adopted:
    """Read published weights in any of their four layouts, and the vocabulary that the option names.

    Raises CounterpartError if either is invalid.
    """
    published = read_published(path)
    decided = decided_by(published, path)
    words = vocabulary_for(published, settings, path)
    arrays = recurrent.adopt(lambda: build({**settings, **decided}, len(words)), published.tensors, words, path)
    return Adopted(arrays, decided)


def decided_by(published: Published, path: Path) -> dict[str, Value]:
    """Return the settings that weights decide: sizes by their shapes, the reading by the training options.

    Raises CounterpartError for order embeddings, which no published weights are.
    """
    tensors = published.tensors
    if published.options.get("order"):
        raise CounterpartError(f"{path} was trained with order embeddings, which only the kind vse has.")
    decided: dict[str, Value] = {
        "embed": size_of(tensors, "img_enc.fc.weight", 0, path),
        "word": size_of(tensors, TABLE, 1, path),
        "embeddings": size_of(tensors, "txt_enc.pie_net.attention.w_2.weight", 0, path),
        "trunk": trunk_in(tensors, "img_enc.cnn.", path),
    }
    if "legacy" in published.options:
        decided["reading"] = "legacy" if published.options["legacy"] else "final"
    return decided


def train(examples: TrainingSet, plan: Plan, progress: Progress) -> Trained:
    """Train from initial weights, or from a trunk that was trained before."""
    words = recurrent.words_to_learn(examples, plan.settings)
    with repeatable(plan.seed):
        network = build(plan.settings, len(words))
    recurrent.prepare(network.img_enc.cnn, network.txt_enc.embed, plan.settings)
    return recurrent.train(PVSELearner(network, words, Pictures(plan.settings), plan), words, examples, plan, progress)


class PVSELearner(RecurrentLearner[PVSE]):
    """PVSE with its own loss, or one over the best cosines."""

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        images = _side(self._network.img_enc(pictures))
        captions = _side(self._network.txt_enc(token_ids, lengths))
        if self.loss_name == "pvse":
            known = torch.from_numpy(batch.known).to(pictures.device)
            return pvse_loss(images, captions, known=known)
        return self.ranked(best_cosines(images.embeddings, captions.embeddings), batch)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the network for the annotator's page."""
    words, each = arrays["network.txt_enc.embed.weight"].shape
    embed, k = int(settings["embed"]), int(settings["embeddings"])
    trunk, side = str(settings["trunk"]), -(-int(settings["picture"]) // 32)
    return {
        "trunk": f"{trunk}, {side} x {side} positions of {TRUNKS[trunk].channels:,} numbers",
        "words": f"{words:,} of {each} numbers",
        "reader": f"bidirectional GRU, 2 x {embed // 2}, {settings['reading']} reading",
        "embeddings": f"{k} of {embed:,} numbers, unit length",
        "score": "best of K x K cosines" if k > 1 else "cosine",
    }


def _side(attended: Attended) -> Embedded:
    """Return one side of a batch with its axis of K, (B, K, D), even if K is 1."""
    rows, k = len(attended.embedding), attended.attention.shape[2]
    return Embedded(attended.embedding.view(rows, k, -1), attended.residual.view(rows, k, -1))
