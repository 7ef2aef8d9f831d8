"""VSE++, VSE0 and order embeddings: one embedding per picture, one per caption.

Faghri, Fleet, Kiros and Fidler (2018), "VSE++: improving visual-semantic embeddings with hard negatives", section 3;
Vendrov, Kiros, Fidler and Urtasun (2016), "Order-embeddings of images and language", equation 2, without its square.
VSE++ is this with the loss ``max``, VSE0 with the loss ``sum`` and ``normalise=no``; HAL's models are VSE++ with
``captions=bytes``. Names of modules are those of the published files.
"""

from mitl.nn.network_options import PICTURES, RECURRENT_PREPROCESSING, SIZES, TRUNKS, WORDS
from mitl.options import Option
from mitl.training.schedule import MAX_FIRST, training_options

OPTIONS = {
    **WORDS,
    "captions": Option(
        "text",
        "text, or bytes: as Python prints bytes, b'...', which HAL's models were trained on",
        choices=("text", "bytes"),
    ),
    **SIZES,
    **PICTURES,
    "trunk": Option(
        "resnet152",
        "network that reads pictures; none for vectors from files",
        choices=(*TRUNKS, "vgg19", "none"),
    ),
    "vectors": Option("", "with trunk=none: folder of unit vectors, NAME_ims.npy with NAME_ids.txt", on_page="no"),
    "normalise": Option("yes", "scale embeddings of pictures to length 1", choices=("yes", "no")),
    "score": Option(
        "inner",
        "inner product, or the order score: how far a caption exceeds its picture",
        choices=("inner", "order"),
    ),
    **training_options(),
}
CHECKPOINT = "optional"
LOSSES = MAX_FIRST
LEARNS = True
PREPROCESSING = RECURRENT_PREPROCESSING
