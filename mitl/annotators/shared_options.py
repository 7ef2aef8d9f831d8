"""Groups of options that several kinds share."""

from mitl.nn.sizes import TRUNKS
from mitl.options import Option
from mitl.training.schedule import RANKING_LOSSES


def size(default: int, what: str) -> Option:
    """Return the option of a size of a network."""
    return Option(default, f"{what}, at least 1", allows=lambda number: number >= 1)


def tower(name: str, layers: int, width: int, heads: int) -> dict[str, Option]:
    """Return the options of one transformer, with its ``name`` as prefix."""
    prefix, whose = (f"{name}_", f" of the {name} tower") if name else ("", "")
    return {
        f"{prefix}layers": size(layers, f"layers{whose}"),
        f"{prefix}width": size(width, f"width{whose}, a multiple of its heads"),
        f"{prefix}heads": size(heads, f"attention heads{whose}"),
    }


def pictures_and_words(picture: int, patch: int, context: int, pieces: int) -> dict[str, Option]:
    """Return the options of a transformer's input."""
    return {
        "picture": size(picture, "side of a picture in pixels, the shorter one if it is not cropped"),
        "patch": size(patch, "side of a patch in pixels"),
        "context": size(context, "word pieces read of a caption, including start and end"),
        "pieces": size(pieces, "largest number of word pieces to learn, without a tokeniser file"),
        "tokeniser": Option(
            "",
            "published vocabulary file of the weights (CLIP's merges, vocab.txt, tokenizer.json); empty: learned",
        ),
        "smallest_crop": Option(
            0.7, "smallest share of a picture in a training view, up to 1", allows=lambda share: 0 < share <= 1
        ),
    }


def visual_words(feature: str, default: int) -> dict[str, Option]:
    """Return the option of the number of visual words of a feature."""
    return {
        f"{feature}_words": Option(
            default, f"visual words of {feature}, 2 to 4096", allows=lambda words: 2 <= words <= 4096
        )
    }


# PVSE, PCME, VSRN and VSE: a trunk reads pictures, a GRU reads words.
RECURRENT_PREPROCESSING = "ImageNet view 1, Treebank words 1"
WORDS = {
    "vocabulary": Option("", "file of the words that the weights were trained with; empty: the collection's words"),
    "rarest": Option(4, "occurrences in the collection from which a word is learned", allows=lambda n: n >= 1),
}
SIZES = {
    "embed": Option(1024, "length of the embeddings, even, 2 to 8192", allows=lambda n: 2 <= n <= 8192 and n % 2 == 0),
    "word": Option(300, "length of word vectors, even, 2 to 4096", allows=lambda n: 2 <= n <= 4096 and n % 2 == 0),
}
PICTURES = {
    "trunk": Option("resnet152", "network that reads pictures", choices=tuple(TRUNKS)),
    "picture": Option(224, "side of a picture in pixels, 32 to 1024", allows=lambda side: 32 <= side <= 1024),
    "trunk_from": Option("", "file of weights, or annotator, with the trunk that training starts from"),
    "frozen": Option(
        "trunk", "parts that training does not change", choices=("nothing", "trunk", "words", "trunk and words")
    ),
    "smallest_crop": Option(
        0.08, "smallest share of a picture in a training view, up to 1", allows=lambda share: 0 < share <= 1
    ),
}
MAX_FIRST = ("max", *(loss for loss in RANKING_LOSSES if loss != "max"))

# ViLT and BLIP: picture and caption pass through the network together.
PAIRS = {
    "batch_size": Option(32, "pairs per forward pass, at least 1", allows=lambda pairs: pairs >= 1),
    "negatives": Option(15, "negative captions per picture in training, at least 1", allows=lambda n: n >= 1),
}

# nn and kcca: the systems of Hodosh et al. (2013).
HISTOGRAMS = {
    "image": Option(
        "pyramid",
        "pictures as histograms of the whole, or of the whole and of 4 and 16 parts",
        choices=("pyramid", "histogram"),
    ),
    "picture": Option(
        256, "longest side in pixels, to which larger pictures are shrunk, 16 to 1024", allows=lambda n: 16 <= n <= 1024
    ),
    **visual_words("colour", 128),
    **visual_words("texture", 256),
    **visual_words("sift", 256),
}
IDF = Option(
    "usual",
    "weight of a word: 1 (none), the root of its IDF, or its IDF (full); usual: full for f1, root for tri5sem",
    choices=("usual", "none", "root", "full"),
)
