"""VSRN: the regions of a picture exchange information before they become one embedding.

Li, Zhang, Li, Li and Fu (2019), "Visual semantic reasoning for image-text matching". There are two published variants,
distinguished by ``bn.weight``: ``coco`` normalises the regions before the graph blocks, ``f30k`` ends in a batch
normalisation instead. The published weights read region features of a detector from a folder
(``counterpart_annotators.nn.regions``). Without it the regions are 36 cells of the trunk's map. Names of modules are
those of the published files.
"""

from counterpart_annotators.nn.network_options import PICTURES, RECURRENT_PREPROCESSING, WORDS, sizes
from counterpart_annotators.options import choice, number, server_text
from counterpart_annotators.training.schedule import MAX_FIRST, RANKING, training_options

OPTIONS = {
    **WORDS,
    **sizes(embed=2048),
    "variant": choice("coco", "normalisation of regions as published for that collection", ("coco", "f30k")),
    "regions": server_text(
        "", "folder of region features, NAME_ims.npy with NAME_ids.txt; empty: cells of the trunk's map"
    ),
    **PICTURES,
    "captioner": number(
        512, "units of the decoder that generates captions in training, 0 (none) to 4096", min_value=0, max_value=4096
    ),
    **RANKING,
    **training_options(),
}
CHECKPOINT = "optional"
LOSSES = MAX_FIRST
LEARNS = True
PREPROCESSING = RECURRENT_PREPROCESSING
