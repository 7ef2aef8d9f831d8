"""ViLT (Kim, Son and Kim 2021, "ViLT: vision-and-language transformer without convolution or region supervision").

One transformer over the pieces of a caption followed by the patches of a picture.
"""

from math import isqrt
from typing import Any

from mitl.nn.preparation import HALVES, Preparation
from mitl.nn.tokenisers import learn_word_pieces
from mitl.transformer_models.family import Family, Sizes, State, patch_sizes, patches, spread_at, tower, tower_sizes
from mitl.transformer_models.names import count_layers, rename

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
# The head that says whether a pair matches. Its row 1 is what the ranking head starts from.
_MATCHING = "itm_score.fc."
_MATCH = 1


def _is_original(state: State) -> bool:
    return "transformer.patch_embed.proj.weight" in state


def _convert(state: State, sizes: Sizes) -> tuple[State, dict[str, Any]]:
    """Without a ranking head, row 1 of the matching head takes its place, as in the authors' fine-tuning."""
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


def _configuration_of(state: State, sizes: Sizes) -> dict[str, Any]:
    """Read the sizes off the tensors' shapes; the number of heads, which they do not tell, is the settings'."""
    width, _, patch, _ = state["transformer.patch_embed.proj.weight"].shape
    pieces, _ = state["text_embeddings.word_embeddings.weight"].shape
    return _configuration(
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


def _configuration(sizes: Sizes, pieces: int) -> dict[str, Any]:
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
