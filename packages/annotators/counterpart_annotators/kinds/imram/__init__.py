"""IMRAM's matching for text: every word attends to the regions of a picture, several times, with a memory.

Chen, Ding, Liu, Lin, Liu and Han (2020), "IMRAM: iterative matching with recurrent attention memory for cross-modal
image-text retrieval", the half called Text-IMRAM; Jo et al. choose images with it
(``counterpart_annotators.selection``). Where the authors' code and the paper differ, the code is followed. The score of
a pair is computed from both sides at once, so a search takes minutes for a thousand images and five thousand captions.
Region features are read as ``vsrn`` reads them; without them the regions are 36 cells of the trunk's map.
"""

from counterpart_annotators.kinds.vsrn import OPTIONS as VSRN
from counterpart_annotators.nn.network_options import PICTURES, RECURRENT_PREPROCESSING, WORDS, sizes
from counterpart_annotators.options import above_zero, number
from counterpart_annotators.training.schedule import MAX_FIRST, RANKING, training_options

OPTIONS = {
    **WORDS,
    **sizes(),
    "context": number(40, "words read of a caption, start and end included, 3 to 200", min_value=3, max_value=200),
    "steps": number(3, "times that the words attend to the regions, 1 to 10", min_value=1, max_value=10),
    "sharpness": number(9.0, "factor of similarities in the softmax over regions", checks=[above_zero]),
    "regions": VSRN["regions"],
    **PICTURES,
    **RANKING,
    **training_options(),
}
CHECKPOINT = "optional"
LOSSES = MAX_FIRST
LEARNS = True
PREPROCESSING = RECURRENT_PREPROCESSING
