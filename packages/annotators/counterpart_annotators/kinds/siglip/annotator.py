"""SigLIP's network as transformers builds it, and how it begins."""

from functools import partial
from math import log
from typing import Any

import torch

from counterpart_annotators.nn.families import Family, patch_sizes, patches, tower, tower_sizes
from counterpart_annotators.nn.preparation import HALVES, Preparation
from counterpart_annotators.nn.pretrained import read_pretrained
from counterpart_annotators.nn.tokenisers import learn_byte_pairs
from counterpart_annotators.nn.towers import describe_embedding, open_towers, train_towers
from counterpart_annotators.options import Settings


def _configuration(sizes: Settings, pieces: int) -> dict[str, Any]:
    words = {"max_position_embeddings": sizes["context"], "vocab_size": pieces}
    special = {"bos_token_id": None, "eos_token_id": pieces - 1, "pad_token_id": pieces - 1}
    return {
        "vision_config": {**tower(sizes), **patches(sizes)},
        "text_config": {**tower(sizes), **words, **special},
    }


def _sizes(configured: Any) -> dict[str, int]:
    picture = configured.vision_config
    text = configured.text_config
    words = {"context": text.max_position_embeddings, "pieces": text.vocab_size}
    return {**patch_sizes(picture), **tower_sizes(picture), **words}


def _begin(network: Any) -> None:
    """Section 3.2: without this scale and bias the many negatives outweigh the few positives at first."""
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
open_annotator = partial(open_towers, FAMILY)
adopt = partial(read_pretrained, FAMILY)
train = partial(train_towers, FAMILY)
architecture = partial(describe_embedding, "width")
