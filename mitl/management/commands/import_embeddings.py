from pathlib import Path
from typing import Any

from core.commands import ActCommand, argument
from core.progress import TerminalBar
from corpus.models import Gallery
from mitl.models import Annotator


class Command(ActCommand):
    step = "annotators"
    help = (
        "Store an annotator's embeddings of all items of a gallery: all of PATH or, if it contains an error, nothing."
        " PATH has images-*.npy and captions-*.npy, whose rows, over the files in the order of their names, are the "
        "items in the gallery's order. The annotator encodes the queries. Importing the same again changes nothing."
    )
    arguments = (
        argument("gallery", metavar="GALLERY", help="name of the gallery"),
        argument("annotator", metavar="ANNOTATOR", help="annotator whose embeddings they are"),
        argument("path", type=Path, metavar="PATH", help="the folder of images-*.npy and captions-*.npy"),
    )

    def act(self, progress: TerminalBar, **options: Any) -> str | dict[str, Any]:
        from mitl.search.gallery_embeddings import import_embeddings  # slow to import

        gallery = Gallery.objects.named(options["gallery"])
        annotator = Annotator.objects.named(options["annotator"])
        shape = import_embeddings(gallery, annotator, options["path"], progress=progress)
        if options["json"]:
            return {
                "gallery": gallery.name,
                "annotator": annotator.name,
                "images": gallery.n_images,
                "captions": gallery.n_captions,
                "shape": list(shape),
            }
        size = " x ".join(map(str, shape))
        return (
            f"{annotator}: embeddings of {gallery.n_images:,} images and {gallery.n_captions:,} captions, {size} each."
        )
