"""SigLIP: two transformers of one width, as in CLIP, trained by a binary decision for every pair.

Zhai et al. (2023), "Sigmoid loss for language image pre-training". Hugging Face folders with a ``tokenizer.json`` load;
smaller networks are trained on a collection, on byte pairs.
"""

from counterpart_annotators.nn.network_options import pictures_and_words, tower
from counterpart_annotators.training.schedule import RANKING, RANKING_LOSSES, training_options

OPTIONS = {
    **pictures_and_words(picture=224, patch=16, context=64, pieces=32_000),
    **tower("", layers=12, width=768, heads=12),
    **RANKING,
    **training_options(epochs=32, batch=1024, rate=1e-3, decay="cosine", weight_decay=1e-4, clip=1.0),
}
CHECKPOINT = "optional"
LOSSES = ("sigmoid", "contrastive", *RANKING_LOSSES)
LEARNS = True
PREPROCESSING = "Pillow bicubic stretch 1, tokeniser 1"
