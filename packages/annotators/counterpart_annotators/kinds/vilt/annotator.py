"""ViLT's network as transformers builds it, its ranking head, and the authors' names of its parts."""

from functools import partial
from math import isqrt
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from counterpart_annotators.base import Arrays
from counterpart_annotators.nn.families import Family, State, patch_sizes, patches, spread_at, tower, tower_sizes
from counterpart_annotators.nn.joint import open_pairs, train_pairs
from counterpart_annotators.nn.preparation import HALVES, Preparation
from counterpart_annotators.nn.pretrained import count_layers, read_pretrained, rename
from counterpart_annotators.nn.tokenisers import learn_word_pieces
from counterpart_annotators.options import Settings

_RENAMED = (
    (r"^text_embeddings\.", "vilt.embeddings.text_embeddings."),
    (r"^token_type_embeddings\.", "vilt.embeddings.token_type_embeddings."),
    (r"^transformer\.cls_token", "vilt.embeddings.cls_token"),
    (r"^transformer\.pos_embed", "vilt.embeddings.position_embeddings"),
    (r"^transformer\.patch_embed\.proj", "vilt.embeddings.patch_embeddings.projection"),
    (r"^transformer\.norm\.", "vilt.layernorm."),
    (r"^pooler\.", "vilt.pooler."),
    (r"^transformer\.blocks", "vilt.encoder.layer"),
    (r"\.norm1\.", ".layernorm_before."),
    (r"\.norm2\.", ".layernorm_after."),
    (r"\.attn\.proj", ".attention.output.dense"),
    (r"\.mlp\.fc1", ".intermediate.dense"),
    (r"\.mlp\.fc2", ".output.dense"),
)
# The head that decides whether a pair matches; the ranking head starts from its row 1.
_MATCHING = "itm_score.fc."
_MATCH = 1


class ViltPairing:
    """Patches with their positions; then the transformer, and the ranking head on the caption's first piece.

    transformers' own code puts patches in random order, which changes the last digits between calls, although
    positions travel with the patches. Here they stay in order, and every picture has a grid of its own size.
    """

    def __init__(self, network: Any) -> None:
        self.network = network

    def see(self, values: Tensor) -> Tensor:
        """The learned grid of positions is resized to the picture's, corners aligned."""
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


def _is_original(state: State) -> bool:
    return "transformer.patch_embed.proj.weight" in state


def _convert(state: State, sizes: Settings) -> tuple[State, dict[str, Any]]:
    """Without a ranking head, row 1 of the matching head replaces it, as in the authors' fine-tuning."""
    converted: State = {}
    for name, tensor in state.items():
        if ".attn.qkv." in name:
            stem, kind = rename(name, _RENAMED).split(".attn.qkv.")
            for part, third in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
                converted[f"{stem}.attention.attention.{part}.{kind}"] = third.contiguous()
        elif name.startswith(_MATCHING):
            kind = name.removeprefix(_MATCHING)
            converted.setdefault(f"rank_output.{kind}", state.get(f"rank_output.{kind}", tensor[_MATCH : _MATCH + 1]))
        else:
            converted[rename(name, _RENAMED)] = tensor
    return converted, _configuration_of(state, sizes)


def _configuration_of(state: State, sizes: Settings) -> dict[str, Any]:
    """Return the configuration that the shapes decide; the number of heads, which they do not, is in the settings."""
    inside = {len(tensor) for name, tensor in state.items() if name.endswith(".mlp.fc1.weight")}
    if len(inside) != 1:
        raise ValueError(f"the MLPs of its layers have {len(inside)} widths, not one")
    width, _, patch, _ = state["transformer.patch_embed.proj.weight"].shape
    pieces, _ = state["text_embeddings.word_embeddings.weight"].shape
    configuration = _configuration(
        {
            "picture": isqrt(state["transformer.pos_embed"].shape[1] - 1) * patch,
            "patch": patch,
            "width": width,
            "layers": count_layers(state, "transformer.blocks."),
            "heads": sizes["heads"],
            "context": len(state["text_embeddings.position_embeddings.weight"]),
        },
        pieces,
    )
    return configuration | {"intermediate_size": inside.pop()}


def _configuration(sizes: Settings, pieces: int) -> dict[str, Any]:
    return {
        **patches(sizes),
        **tower(sizes),
        "max_position_embeddings": sizes["context"],
        "vocab_size": pieces,
        "initializer_range": spread_at(int(sizes["width"])),
    }


def _sizes(configured: Any) -> dict[str, int]:
    words = {"context": configured.max_position_embeddings, "pieces": configured.vocab_size}
    return {**patch_sizes(configured), **tower_sizes(configured), **words}


FAMILY = Family(
    network="ViltForImageAndTextRetrieval",
    configuration="ViltConfig",
    preparation=Preparation(384, "whole", HALVES, HALVES),
    learn=learn_word_pieces,
    configure=_configuration,
    sizes=_sizes,
    original=_is_original,
    convert=_convert,
    dropped=("mlm_score.", "mpp_score.", "itm_score."),
)
open_annotator = partial(open_pairs, FAMILY, ViltPairing)
adopt = partial(read_pretrained, FAMILY)
train = partial(train_pairs, FAMILY, ViltPairing)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the network for the annotator's page."""
    pieces = len(arrays["network.vilt.embeddings.text_embeddings.word_embeddings.weight"])
    return {
        "transformer": f"{settings['layers']} layers, width {settings['width']}, {settings['heads']} heads",
        "pictures": f"shorter side {settings['picture']}, patches of {settings['patch']} x {settings['patch']}",
        "words": f"{pieces:,} pieces, {settings['context']} of a caption",
        "score": "logit of the ranking head",
    }
