"""Sizes of networks, and the options that annotators with networks of one family share.

Commands and pages read them, so nothing here imports torch.
"""

from dataclasses import dataclass
from math import ceil

from counterpart_annotators.options import (
    DeclaredOption,
    Options,
    above_zero,
    choice,
    companion_file,
    number,
    server_text,
)

EXPANSION = 4


@dataclass(frozen=True)
class TrunkSize:
    """Number of bottlenecks in each stage, and channels of the first stage's 3 x 3 convolutions.

    Every stage has twice the channels of the stage before; a bottleneck outputs four times its own width.
    """

    blocks: tuple[int, ...]
    width: int = 64

    @property
    def channels(self) -> int:
        """Channels of the last map."""
        return self.width * 2 ** (len(self.blocks) - 1) * EXPANSION


TRUNKS = {
    "resnet152": TrunkSize((3, 8, 36, 3)),
    "resnet101": TrunkSize((3, 4, 23, 3)),
    "resnet50": TrunkSize((3, 4, 6, 3)),
    "small": TrunkSize((1, 1, 1, 1), width=16),
}
INCEPTION = "inception-resnet-v2"
INCEPTION_CHANNELS = 1536
SMALLEST_INCEPTION = 75  # pixels that its last map of one position needs


def positions_of(trunk: str, side: int) -> int:
    """Return the positions along a side of a trunk's last map, for pictures of ``side`` pixels."""
    return (side - SMALLEST_INCEPTION) // 32 + 1 if trunk == INCEPTION else ceil(side / 32)


def size(default: int, what: str) -> DeclaredOption:
    """Return the option of a size of a network."""
    return number(default, f"{what}, at least 1", min_value=1)


def tower(name: str, layers: int, width: int, heads: int) -> Options:
    """Return the options of one transformer, with its ``name`` as prefix."""
    prefix, whose = (f"{name}_", f" of the {name} tower") if name else ("", "")
    return {
        f"{prefix}layers": size(layers, f"layers{whose}"),
        f"{prefix}width": size(width, f"width{whose}, a multiple of its heads"),
        f"{prefix}heads": size(heads, f"attention heads{whose}"),
    }


def pictures_and_words(picture: int, patch: int, context: int, pieces: int) -> Options:
    """Return the options of a transformer's input."""
    return {
        "picture": size(picture, "side of a picture in pixels, the shorter one if it is not cropped"),
        "patch": size(patch, "side of a patch in pixels"),
        "context": size(context, "word pieces read of a caption, including start and end"),
        "pieces": size(pieces, "largest number of word pieces to learn, without a tokeniser file"),
        "tokeniser": companion_file(
            "", "published vocabulary file of the weights (CLIP's merges, vocab.txt, tokenizer.json); empty: learned"
        ),
        "smallest_crop": number(
            0.7, "smallest share of a picture in a training view, up to 1", max_value=1, checks=[above_zero]
        ),
    }


# PVSE, PCME, VSRN and VSE: a trunk reads pictures, a GRU reads words.
RECURRENT_PREPROCESSING = "ImageNet view 1, Treebank words 1"
WORDS = {
    "vocabulary": companion_file(
        "", "file of the words that the weights were trained with; empty: the collection's words"
    ),
    "rarest": number(4, "occurrences in the collection from which a word is learned", min_value=1),
    "word_vectors": server_text("", "text file of word vectors, as GloVe or word2vec, to start from"),
}


def sizes(embed: int = 1024) -> Options:
    """Return the options of the lengths of embeddings and of word vectors."""
    return {
        "embed": number(embed, "length of the embeddings, even, 2 to 8192", min_value=2, max_value=8192, step_size=2),
        "word": number(300, "length of word vectors, 2 to 4096", min_value=2, max_value=4096),
    }


PICTURES = {
    "trunk": choice("resnet152", "network that reads pictures", (*TRUNKS, INCEPTION)),
    "picture": number(
        224, "side of a picture in pixels, 32 to 1024; Inception-ResNet-v2: 299", min_value=32, max_value=1024
    ),
    "trunk_from": server_text("", "file of weights, or annotator, with the trunk that training starts from"),
    "frozen": choice("trunk", "parts that training does not change", ("nothing", "trunk", "words", "trunk and words")),
    "second_stage_epochs": number(
        0, "further epochs, in which all parts learn, 0 to 1000; 0: one stage", min_value=0, max_value=1000
    ),
    "second_stage_rate": number(2e-5, "learning rate at their start", max_value=1, checks=[above_zero]),
    "smallest_crop": number(
        0.08, "smallest share of a picture in a training view, up to 1", max_value=1, checks=[above_zero]
    ),
}

# ViLT and BLIP: picture and caption pass through the network together.
PAIRS = {
    "batch_size": number(32, "pairs per forward pass, at least 1", min_value=1),
    "negatives": number(15, "negative captions per picture in training, at least 1", min_value=1),
}
