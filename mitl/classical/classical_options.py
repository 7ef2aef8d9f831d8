"""The options that ``nn`` and ``kcca`` share, the systems of Hodosh et al. (2013)."""

from mitl.options import Option


def visual_words(feature: str, default: int) -> dict[str, Option]:
    """Return the option of the number of visual words of a feature."""
    return {
        f"{feature}_words": Option(
            default, f"visual words of {feature}, 2 to 4096", allows=lambda words: 2 <= words <= 4096
        )
    }


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
