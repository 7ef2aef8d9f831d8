"""CLIP: a picture and a caption as unit vectors of one space; the score is their cosine.

Radford et al. (2021), "Learning transferable visual models from natural language supervision": two transformers, one
over patches and one over word pieces, and a projection of each. Hugging Face folders load, and state dicts under
OpenAI's names, with the list of merges that the option ``tokeniser`` names; smaller networks are trained on a
collection.
"""

from counterpart_annotators.nn.network_options import pictures_and_words, size, tower
from counterpart_annotators.training.schedule import RANKING, RANKING_LOSSES, training_options

OPTIONS = {
    **pictures_and_words(picture=224, patch=32, context=77, pieces=49_408),
    **tower("image", layers=12, width=768, heads=12),
    **tower("text", layers=12, width=512, heads=8),
    "embed": size(512, "length of the embeddings"),
    **RANKING,
    **training_options(epochs=32, batch=1024, rate=5e-4, decay="cosine", weight_decay=0.2, clip=1.0),
}
CHECKPOINT = "optional"
LOSSES = ("contrastive", *RANKING_LOSSES)
LEARNS = True
PREPROCESSING = "Pillow bicubic crop 1, byte pairs 1"
