"""The options that ``nn`` and ``kcca`` share, the systems of Hodosh et al. (2013)."""

from counterpart_annotators.options import Options, choice, number


def visual_words(feature: str, default: int) -> Options:
    """Return the option of the number of visual words of a feature."""
    return {f"{feature}_words": number(default, f"visual words of {feature}, 2 to 4096", min_value=2, max_value=4096)}


HISTOGRAMS = {
    "image": choice(
        "pyramid",
        "pictures as histograms of the whole, or of the whole and of 4 and 16 parts",
        ("pyramid", "histogram"),
    ),
    "picture": number(
        256, "longest side in pixels, to which larger pictures are shrunk, 16 to 1024", min_value=16, max_value=1024
    ),
    **visual_words("colour", 128),
    **visual_words("texture", 256),
    **visual_words("sift", 256),
}
IDF = choice(
    "usual",
    "weight of a word: 1 (none), the root of its IDF, or its IDF (full); usual: full for f1, root for tri5sem",
    ("usual", "none", "root", "full"),
)
PARTS = {
    "align": choice(
        "usual",
        "whether words are alike that describe the same thing in two captions of an image, for tri5 and tri5sem;"
        " usual: for tri5sem",
        ("usual", "no", "yes"),
    ),
    "company": choice(
        "usual",
        "whether words are alike that occur in the same captions (caption), in captions of the same images (image), or"
        " both, averaged, for tri5 and tri5sem; usual: caption for tri5sem",
        ("usual", "none", "caption", "image", "both"),
    ),
}
