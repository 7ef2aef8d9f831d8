"""Settings of machines that read pictures as histograms and captions as bags or sequences of words."""

from pathlib import Path

from core.errors import CounterpartError
from core.files import StoredFile, read_arrays
from mitl.annotators.base import Adopted, Arrays, Option, Settings
from mitl.models import Annotator

PICTURE_OPTIONS = {
    "image": Option(
        "pyramid",
        "pictures as histograms of the whole, or of the whole and of 4 and 16 parts",
        choices=("pyramid", "histogram"),
    ),
    "picture": Option(
        256, "longest side in pixels, to which larger pictures are shrunk, 16 to 1024", allows=lambda n: 16 <= n <= 1024
    ),
    **{
        f"{feature}_words": Option(
            words, f"visual words of {feature}, 2 to 4096", allows=lambda words: 2 <= words <= 4096
        )
        for feature, words in (("colour", 128), ("texture", 256), ("sift", 256))
    },
}
IDF_OPTION = Option(
    "usual",
    "a word counts 1 (none), by the root of its IDF, or by its IDF (full); usual: full for f1, root for tri5sem",
    choices=("usual", "none", "root", "full"),
)
MOST_PLACES = 1000  # of the lists of machines that rank by themselves
PREPROCESSING = "CIELAB, 12 edge and bar filters, SIFT of 16 x 16 pixels every 8; stop words, Porter stems; 1"


def adopt(path: Path, settings: Settings) -> Adopted:
    """Refuse a file that ``export_annotator`` did not write: nobody else's files hold such a machine."""
    raise CounterpartError(f"{path} is no exported machine of this kind; export one, or train it here.")


def trained_arrays(annotator: Annotator) -> Arrays:
    """Return a machine's weights. Raises CounterpartError if it has none yet."""
    if not annotator.checkpoint:
        raise CounterpartError(
            f"it is not trained yet; run: manage.py train_annotator {annotator.name} --collection NAME"
        )
    return read_arrays(StoredFile(annotator.checkpoint, annotator.checksum))
