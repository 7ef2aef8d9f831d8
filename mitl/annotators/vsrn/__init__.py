"""VSRN: the regions of a picture exchange information before they become one embedding.

Li, Zhang, Li, Li and Fu (2019), "Visual semantic reasoning for image-text matching". There are two published variants,
told apart by ``bn.weight``: ``coco`` normalises the regions before the graph blocks, ``f30k`` ends in a batch
normalisation instead. The published weights read region features of a detector from a folder (``mitl.nn.regions``).
Without it the regions are 36 cells of the trunk's map. Names of modules are those of the published files.
"""

from dataclasses import replace

from mitl.nn.network_options import PICTURES, RECURRENT_PREPROCESSING, SIZES, WORDS
from mitl.options import Option
from mitl.training.schedule import MAX_FIRST, training_options

OPTIONS = {
    **WORDS,
    **SIZES,
    "embed": replace(SIZES["embed"], default=2048),
    "variant": Option("coco", "normalisation of regions as published for that collection", choices=("coco", "f30k")),
    "regions": Option(
        "",
        "folder of region features, NAME_ims.npy with NAME_ids.txt; empty: cells of the trunk's map",
        on_page="no",
    ),
    **PICTURES,
    "captioner": Option(
        512,
        "units of the decoder that generates captions in training, 0 (none) to 4096",
        allows=lambda n: 0 <= n <= 4096,
    ),
    **training_options(),
}
CHECKPOINT = "optional"
LOSSES = MAX_FIRST
LEARNS = True
PREPROCESSING = RECURRENT_PREPROCESSING
