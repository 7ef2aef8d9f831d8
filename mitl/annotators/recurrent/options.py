"""Settings that several of the machines have. Read for every command, so nothing here imports torch."""

from mitl.annotators.base import Option
from mitl.nn.sizes import TRUNKS

PREPROCESSING = "ImageNet view 1, Treebank words 1"

SIZE_OPTIONS = {
    "embed": Option(1024, "length of the embeddings, even, 2 to 8192", allows=lambda n: 2 <= n <= 8192 and n % 2 == 0),
    "word": Option(300, "numbers of a word's vector, even, 2 to 4096", allows=lambda n: 2 <= n <= 4096 and n % 2 == 0),
}
WORD_OPTIONS = {
    "vocabulary": Option("", "file of the words that the weights were trained with; empty: the collection's own"),
    "rarest": Option(4, "times that a word must occur in the collection to be learned", allows=lambda n: n >= 1),
}
PICTURE_OPTIONS = {
    "trunk": Option("resnet152", "network that reads pictures", choices=tuple(TRUNKS)),
    "picture": Option(224, "side of a picture in pixels, 32 to 1024", allows=lambda side: 32 <= side <= 1024),
    "trunk_from": Option("", "a file of weights, or an annotator, whose trunk training starts from"),
    "frozen": Option(
        "trunk", "what training leaves as it is", choices=("nothing", "trunk", "words", "trunk and words")
    ),
    "smallest_crop": Option(
        0.08, "least share of a picture that a training view shows, up to 1", allows=lambda share: 0 < share <= 1
    ),
}
