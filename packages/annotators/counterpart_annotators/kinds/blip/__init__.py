"""BLIP: a transformer over the caption that attends to the output of another over the picture's patches.

Li et al. (2022), "BLIP: bootstrapping language-image pre-training for unified vision-language understanding and
generation". Its matching head scores pairs. Hugging Face folders load; smaller networks are trained on a collection.
"""

from counterpart_annotators.nn.network_options import PAIRS, pictures_and_words, size, tower
from counterpart_annotators.training.schedule import training_options

OPTIONS = {
    **pictures_and_words(picture=384, patch=16, context=35, pieces=30_524),
    **tower("image", layers=12, width=768, heads=12),
    **tower("text", layers=12, width=768, heads=12),
    "embed": size(256, "length of the embeddings of its contrastive head, which is not used here"),
    **PAIRS,
    **training_options(epochs=6, batch=256, rate=1e-5, decay="cosine", weight_decay=0.05, clip=1.0),
}
CHECKPOINT = "optional"
LOSSES = ("itm",)
LEARNS = True
CROSS_ENCODER = True
PREPROCESSING = "Pillow bicubic stretch 1, word pieces 1"
