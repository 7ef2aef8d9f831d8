"""BLIP's network as transformers builds it, its matching head, and its settings from files."""

from functools import partial
from typing import Any

from torch import Tensor

from counterpart_annotators.base import Arrays
from counterpart_annotators.nn.families import (
    Family,
    describe_towers,
    patch_sizes,
    patches,
    spread_at,
    tower,
    tower_sizes,
)
from counterpart_annotators.nn.joint import open_pairs, train_pairs
from counterpart_annotators.nn.preparation import CLIP_DEVIATION, CLIP_MEAN, Preparation
from counterpart_annotators.nn.pretrained import read_pretrained
from counterpart_annotators.nn.tokenisers import learn_word_pieces
from counterpart_annotators.options import Settings


class BlipPairing:
    """The transformer over the picture; then the one over the caption, and the matching head."""

    def __init__(self, network: Any) -> None:
        self.network = network

    def see(self, values: Tensor) -> Tensor:
        """Return the output of the transformer over the picture."""
        return self.network.vision_model(pixel_values=values).last_hidden_state

    def score(self, seen: Tensor, seen_mask: Tensor, ids: Tensor, mask: Tensor) -> Tensor:
        """Return the log-odds: the logit of a match minus that of no match.

        Pictures are all of one size, without padding; transformers would ignore their mask.
        """
        read = self.network.text_encoder(input_ids=ids, attention_mask=mask, encoder_hidden_states=seen)
        logits = self.network.itm_head(read.last_hidden_state[:, 0])
        return logits[:, 1] - logits[:, 0]


def _configuration(sizes: Settings, pieces: int) -> dict[str, Any]:
    # transformers' own deviation of initial weights, 1e-10 for pictures, is meant for weights that are loaded.
    image, text = ({"initializer_range": spread_at(int(sizes[f"{side}_width"]))} for side in ("image", "text"))
    words = {"max_position_embeddings": sizes["context"], "vocab_size": pieces}
    special = {"bos_token_id": None, "sep_token_id": None, "pad_token_id": 0}
    return {
        "image_text_hidden_size": sizes["embed"],
        **image,
        "vision_config": {**patches(sizes), **tower(sizes, "image_"), **image},
        "text_config": {**tower(sizes, "text_"), **words, **special, **text},
    }


def _sizes(configured: Any) -> dict[str, int]:
    """The context is a setting: the table of positions is longer than the captions of the network's training."""
    picture = configured.vision_config
    text = configured.text_config
    return {
        **patch_sizes(picture),
        **tower_sizes(picture, "image_"),
        **tower_sizes(text, "text_"),
        "embed": configured.image_text_hidden_size,
        "pieces": text.vocab_size,
    }


FAMILY = Family(
    network="BlipForImageTextRetrieval",
    configuration="BlipConfig",
    preparation=Preparation(384, "stretch", CLIP_MEAN, CLIP_DEVIATION),
    learn=learn_word_pieces,
    # Two special tokens of its authors, for generation, are not in BERT's vocabulary.
    spare=2,
    configure=_configuration,
    sizes=_sizes,
)
open_annotator = partial(open_pairs, FAMILY, BlipPairing)
adopt = partial(read_pretrained, FAMILY)
train = partial(train_pairs, FAMILY, BlipPairing)


def architecture(settings: Settings, arrays: Arrays) -> dict[str, str]:
    """Describe the network for the annotator's page."""
    pieces = len(arrays["network.text_encoder.embeddings.word_embeddings.weight"])
    return describe_towers(settings, pieces) | {"score": "log-odds of a match"}
