"""BLIP (Li et al. 2022, "BLIP: bootstrapping language-image pre-training"): its matching head over pairs.

A transformer over the picture's patches; one over the caption's pieces that looks at the first one's output.
"""

from typing import Any

from mitl.nn.preparation import CLIP_DEVIATION, CLIP_MEAN, Preparation
from mitl.nn.tokenisers import learn_word_pieces
from mitl.transformer_models.family import Family, Sizes, patch_sizes, patches, spread_at, tower, tower_sizes


def _configuration(sizes: Sizes, pieces: int) -> dict[str, Any]:
    # transformers' own deviation of first weights, 1e-10 for pictures, is made for weights that are loaded.
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
    """The context is a setting: the table of places is longer than the captions that the network learned from."""
    picture, text = configured.vision_config, configured.text_config
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
    # Two special tokens of its authors, for generating, stand beyond BERT's vocabulary.
    spare=2,
    configure=_configuration,
    sizes=_sizes,
)
