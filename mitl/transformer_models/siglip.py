"""SigLIP (Zhai et al. 2023, "Sigmoid loss for language image pre-training"): two towers like CLIP's, of one width."""

from math import log
from typing import Any

import torch

from mitl.nn.preparation import HALVES, Preparation
from mitl.nn.tokenisers import learn_byte_pairs
from mitl.transformer_models.family import Family, Sizes, patch_sizes, patches, tower, tower_sizes


def _configuration(sizes: Sizes, pieces: int) -> dict[str, Any]:
    words = {"max_position_embeddings": sizes["context"], "vocab_size": pieces}
    special = {"bos_token_id": None, "eos_token_id": pieces - 1, "pad_token_id": pieces - 1}
    return {
        "vision_config": {**tower(sizes), **patches(sizes)},
        "text_config": {**tower(sizes), **words, **special},
    }


def _sizes(configured: Any) -> dict[str, int]:
    picture, text = configured.vision_config, configured.text_config
    words = {"context": text.max_position_embeddings, "pieces": text.vocab_size}
    return {**patch_sizes(picture), **tower_sizes(picture), **words}


def _begin(network: Any) -> None:
    """Section 3.2: at first the many negatives would drown the few positives, but for this scale and bias."""
    with torch.no_grad():
        network.logit_scale.fill_(log(10))
        network.logit_bias.fill_(-10)


FAMILY = Family(
    network="SiglipModel",
    configuration="SiglipConfig",
    preparation=Preparation(224, "stretch", HALVES, HALVES),
    learn=learn_byte_pairs,
    fills=True,
    begin=_begin,
    configure=_configuration,
    sizes=_sizes,
)
