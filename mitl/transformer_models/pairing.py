"""Networks that read a picture and a caption together (ViLT, BLIP), in two steps, the first of them once a picture."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate
from torch.nn.utils.rnn import pad_sequence

from mitl.nn.preparation import Pixels, Preparation


class Pairing(Protocol):
    """How one family sees pictures and scores pairs. Works with and without gradients."""

    def __init__(self, network: nn.Module) -> None: ...

    def see(self, values: Tensor) -> Tensor:
        """Return what is read of B prepared pictures of one size, whatever the caption: (B, P, D)."""

    def score(self, seen: Tensor, seen_mask: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Score B pairs, (B,): pictures as seen (B, P, D), captions as ids (B, L), and what is no filling in both."""


class ViltPairing:
    """ViLT: patches and where they lie; then everything, and the ranking head on the first piece of the caption.

    transformers' own code for pictures puts patches in an order by lot; as places travel with them, only the last
    digits would differ from call to call. Here they stay in order, and every picture has a grid of its own size.
    """

    def __init__(self, network: Any) -> None:
        self.network = network

    def see(self, values: Tensor) -> Tensor:
        """The learned grid of places is stretched to the picture's, corners to corners."""
        embeddings = self.network.vilt.embeddings
        patches = embeddings.patch_embeddings(values)
        places = embeddings.position_embeddings
        side = int((places.shape[1] - 1) ** 0.5)
        grid = places[:, 1:].transpose(1, 2).unflatten(2, (side, side))
        grid = interpolate(grid, size=patches.shape[2:], mode="bilinear", align_corners=True)
        first = (embeddings.cls_token + places[:, :1]).expand(len(values), -1, -1)
        return embeddings.dropout(torch.cat([first, (patches + grid).flatten(2).transpose(1, 2)], dim=1))

    def score(self, seen: Tensor, seen_mask: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the ranking head's logit."""
        read = self.network.vilt(input_ids=ids, attention_mask=mask, image_embeds=seen, pixel_mask=seen_mask)
        return self.network.rank_output(read.pooler_output)[:, 0]


class BlipPairing:
    """BLIP: the whole tower over the picture; then the caption's, which looks at it, and the matching head."""

    def __init__(self, network: Any) -> None:
        self.network = network

    def see(self, values: Tensor) -> Tensor:
        """Return the picture tower's output."""
        return self.network.vision_model(pixel_values=values).last_hidden_state

    def score(self, seen: Tensor, seen_mask: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the logit of a match less that of none: the log-odds.

        Pictures are all of one size, so nothing of them is filling; transformers would not heed their mask.
        """
        read = self.network.text_encoder(input_ids=ids, attention_mask=mask, encoder_hidden_states=seen)
        logits = self.network.itm_head(read.last_hidden_state[:, 0])
        return logits[:, 1] - logits[:, 0]


def see_all(pairing: Pairing, pictures: Sequence[Pixels], preparation: Preparation, device: str) -> list[Tensor]:
    """Return what is seen of every picture, (P, D) each; those of one size are seen together."""
    seen: dict[int, Tensor] = {}
    for shape in {picture.shape: None for picture in pictures}:
        alike = [number for number, picture in enumerate(pictures) if picture.shape == shape]
        values = preparation.values(np.stack([pictures[number] for number in alike]), device)
        seen |= zip(alike, pairing.see(values), strict=True)
    return [seen[number] for number in range(len(pictures))]


def fill_up(seen: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """Return pictures as seen, filled up to the largest (B, P, D), and a mask of what is no filling (B, P)."""
    lengths = torch.tensor([len(one) for one in seen], device=seen[0].device)
    mask = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
    return pad_sequence(list(seen), batch_first=True), mask.long()
