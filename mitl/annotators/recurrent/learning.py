"""What learners of pictures and read captions share: how a batch becomes tensors, and losses over similarities."""

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from mitl.annotators.recurrent.embedder import Embedder
from mitl.annotators.recurrent.pictures import Source
from mitl.losses import LOSSES
from mitl.nn.layers import TwoHalves
from mitl.nn.vocabularies import Vocabulary
from mitl.training.learners import Batch, Plan

Network = TypeVar("Network", bound=TwoHalves)


class RecurrentLearner(Generic[Network]):
    """A network with two halves that learns; what a batch costs is told by ``cost``."""

    network: nn.Module

    def __init__(
        self,
        network: Network,
        vocabulary: Vocabulary,
        source: Source,
        plan: Plan,
        *,
        spelled: Callable[[str], str] = str,
    ) -> None:
        self.network = self._network = network
        self.loss_name = plan.loss
        self._vocabulary, self._source, self._device, self._spelled = vocabulary, source, plan.device, spelled

    def loss(self, batch: Batch) -> Tensor:
        """Return the batch's loss. What is drawn follows torch's own numbers, which training keeps and restores."""
        rng = np.random.default_rng(int(torch.randint(2**62, ())))
        pictures = self._source.drawn(batch.images, rng).to(self._device)
        token_ids, lengths = self._vocabulary.batch([self._spelled(caption.text) for caption in batch.captions])
        return self.cost(pictures, token_ids.to(self._device), lengths, batch)

    def cost(self, pictures: Tensor, token_ids: Tensor, lengths: Tensor, batch: Batch) -> Tensor:
        """Return the loss of what the batch's images and captions became."""
        raise NotImplementedError

    def ranked(self, similarity: Tensor, batch: Batch) -> Tensor:
        """Return the named loss over similarities (B, B), in which other known matches are no negatives."""
        known = torch.from_numpy(batch.known).to(similarity.device)
        return LOSSES[self.loss_name](similarity.masked_fill(known, -torch.inf))

    def machine(self) -> Embedder:
        """Return the machine over the network as it stands."""
        return Embedder(self._network, self._vocabulary, self._source, self._device, spelled=self._spelled)
