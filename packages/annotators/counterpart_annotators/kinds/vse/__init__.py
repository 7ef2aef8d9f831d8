"""VSE++, VSE0 and order embeddings: one embedding per picture, one per caption.

Faghri, Fleet, Kiros and Fidler (2018), "VSE++: improving visual-semantic embeddings with hard negatives", section 3;
Vendrov, Kiros, Fidler and Urtasun (2016), "Order-embeddings of images and language", equation 2, without its square.
VSE++ is this with the loss ``max``, VSE0 with the loss ``sum`` and ``normalise=no``; HAL's models are VSE++ with
``captions=bytes``. Names of modules are those of the published files.
"""

from counterpart_annotators.nn.network_options import INCEPTION, PICTURES, RECURRENT_PREPROCESSING, TRUNKS, WORDS, sizes
from counterpart_annotators.options import choice, server_text
from counterpart_annotators.training.schedule import MAX_FIRST, RANKING, training_options

OPTIONS = {
    **WORDS,
    "captions": choice(
        "text", "text, or bytes: as Python prints bytes, b'...', which HAL's models were trained on", ("text", "bytes")
    ),
    **sizes(),
    **PICTURES,
    "trunk": choice(
        "resnet152", "network that reads pictures; none for vectors from files", (*TRUNKS, INCEPTION, "vgg19", "none")
    ),
    "vectors": server_text("", "with trunk=none: folder of unit vectors, NAME_ims.npy with NAME_ids.txt"),
    "normalise": choice("yes", "scale embeddings of pictures to length 1", ("yes", "no")),
    "score": choice(
        "inner", "inner product, or the order score: how far a caption exceeds its picture", ("inner", "order")
    ),
    **RANKING,
    **training_options(),
}
CHECKPOINT = "optional"
LOSSES = MAX_FIRST
LEARNS = True
PREPROCESSING = RECURRENT_PREPROCESSING
