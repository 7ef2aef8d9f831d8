"""CLIP's network as transformers builds it, and OpenAI's names of its parts."""

from functools import partial
from math import isqrt
from typing import Any

from counterpart_annotators.nn.families import Family, State, patch_sizes, patches, tower, tower_sizes
from counterpart_annotators.nn.preparation import CLIP_DEVIATION, CLIP_MEAN, Preparation
from counterpart_annotators.nn.pretrained import count_layers, read_pretrained, rename
from counterpart_annotators.nn.tokenisers import learn_byte_pairs, repaired
from counterpart_annotators.nn.towers import describe_embedding, open_towers, train_towers
from counterpart_annotators.options import Settings

# With this end token transformers takes the largest id of a row as the end, as OpenAI's code does.
LARGEST_ID = 2
HEAD_WIDTH = 64
_SCALARS = ("input_resolution", "context_length", "vocab_size")
_RENAMED = (
    (r"^visual\.transformer\.resblocks", "vision_model.encoder.layers"),
    (r"^transformer\.resblocks", "text_model.encoder.layers"),
    (r"^visual\.conv1", "vision_model.embeddings.patch_embedding"),
    (r"^visual\.class_embedding", "vision_model.embeddings.class_embedding"),
    (r"^visual\.positional_embedding", "vision_model.embeddings.position_embedding.weight"),
    (r"^visual\.ln_pre", "vision_model.pre_layrnorm"),
    (r"^visual\.ln_post", "vision_model.post_layernorm"),
    (r"^visual\.proj$", "visual_projection.weight"),
    (r"^text_projection$", "text_projection.weight"),
    (r"^token_embedding", "text_model.embeddings.token_embedding"),
    (r"^positional_embedding", "text_model.embeddings.position_embedding.weight"),
    (r"^ln_final", "text_model.final_layer_norm"),
    (r"\.attn\.out_proj", ".self_attn.out_proj"),
    (r"\.ln_([12])\.", r".layer_norm\1."),
    (r"\.mlp\.c_fc", ".mlp.fc1"),
    (r"\.mlp\.c_proj", ".mlp.fc2"),
)


def _is_original(state: State) -> bool:
    return "visual.conv1.weight" in state


def _convert(state: State, sizes: Settings) -> tuple[State, dict[str, Any]]:
    own = {name: tensor for name, tensor in state.items() if name not in _SCALARS}
    converted: State = {}
    for name, tensor in own.items():
        if ".in_proj_" in name:
            stem, kind = rename(name, _RENAMED).split(".attn.in_proj_")
            for part, third in zip("qkv", tensor.chunk(3), strict=True):
                converted[f"{stem}.self_attn.{part}_proj.{kind}"] = third.contiguous()
        else:
            transposed = name in ("visual.proj", "text_projection")
            converted[rename(name, _RENAMED)] = tensor.T.contiguous() if transposed else tensor
    return converted, _configuration_of(own)


def _configuration_of(state: State) -> dict[str, Any]:
    """Return the configuration that the shapes of the tensors decide."""
    image_width, _, patch, _ = state["visual.conv1.weight"].shape
    pieces, text_width = state["token_embedding.weight"].shape
    return _configuration(
        {
            "picture": isqrt(len(state["visual.positional_embedding"]) - 1) * patch,
            "patch": patch,
            "image_width": image_width,
            "image_layers": count_layers(state, "visual.transformer.resblocks."),
            "image_heads": max(1, image_width // HEAD_WIDTH),
            "text_width": text_width,
            "text_layers": count_layers(state, "transformer.resblocks."),
            "text_heads": max(1, text_width // HEAD_WIDTH),
            "context": len(state["positional_embedding"]),
            "embed": state["text_projection"].shape[1],
        },
        pieces,
    )


def _configuration(sizes: Settings, pieces: int) -> dict[str, Any]:
    space = {"projection_dim": sizes["embed"]}
    words = {"max_position_embeddings": sizes["context"], "vocab_size": pieces}
    special = {"bos_token_id": None, "eos_token_id": LARGEST_ID, "pad_token_id": 0}
    return {
        **space,
        "vision_config": {**patches(sizes), **tower(sizes, "image_"), **space},
        "text_config": {**tower(sizes, "text_"), **words, **special, **space},
    }


def _sizes(configured: Any) -> dict[str, int]:
    picture = configured.vision_config
    text = configured.text_config
    return {
        **patch_sizes(picture),
        **tower_sizes(picture, "image_"),
        **tower_sizes(text, "text_"),
        "context": text.max_position_embeddings,
        "embed": configured.projection_dim,
        "pieces": text.vocab_size,
    }


FAMILY = Family(
    network="CLIPModel",
    configuration="CLIPConfig",
    preparation=Preparation(224, "crop", CLIP_MEAN, CLIP_DEVIATION),
    learn=learn_byte_pairs,
    clean=repaired,
    configure=_configuration,
    sizes=_sizes,
    original=_is_original,
    convert=_convert,
)
open_annotator = partial(open_towers, FAMILY)
adopt = partial(read_pretrained, FAMILY)
train = partial(train_towers, FAMILY)
architecture = partial(describe_embedding, "embed")
