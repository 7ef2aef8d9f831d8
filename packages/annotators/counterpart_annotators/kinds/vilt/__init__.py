"""ViLT: one transformer over the word pieces of a caption and the patches of a picture; every pair needs a pass.

Kim, Son and Kim (2021), "ViLT: vision-and-language transformer without convolution or region supervision". Hugging Face
folders load, and the authors' files, with the ``vocab.txt`` that the option ``tokeniser`` names; smaller networks are
trained on a collection.
"""

from counterpart_annotators.nn.network_options import PAIRS, pictures_and_words, tower
from counterpart_annotators.training.schedule import training_options

OPTIONS = {
    **pictures_and_words(picture=384, patch=32, context=40, pieces=30_522),
    **tower("", layers=12, width=768, heads=12),
    **PAIRS,
    **training_options(epochs=10, batch=256, rate=1e-4, decay="cosine", weight_decay=0.01, clip=1.0),
}
CHECKPOINT = "optional"
LOSSES = ("itm",)
LEARNS = True
CROSS_ENCODER = True
PREPROCESSING = "Pillow bicubic whole 1, word pieces 1"
