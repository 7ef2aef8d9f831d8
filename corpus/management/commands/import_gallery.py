from dataclasses import asdict
from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from core.text import counted
from corpus.collection_parameters import GalleryParameters
from corpus.galleries.gallery_imports import import_gallery
from corpus.models import Collection


class Command(ActCommand):
    step = "collection"
    help = (
        "Import a gallery whose items stay in files, up to hundreds of millions: all of PATH or, if it contains an "
        "error, nothing. PATH has images-*.parquet (key; optionally file, a path below pictures/ in the "
        "storage, and sha256) and captions-*.parquet (key, text, and image, the place of its image among all images). "
        "Keys ascend over the files of a side. Importing the same again changes nothing."
    )

    def act(self, progress: TerminalBar, *, parameters: GalleryParameters, **options: Any) -> str | dict[str, Any]:
        wanted = asdict(parameters) | {"collection": Collection.objects.named(parameters.collection)}
        gallery = import_gallery(wanted.pop("name"), **wanted, progress=progress)
        if not options["json"]:
            images = counted(gallery.n_images, "image")
            captions = counted(gallery.n_captions, "caption")
            return f"{gallery}: {images} and {captions} to search for queries of {gallery.collection}."
        return {
            "gallery": gallery.name,
            "images": gallery.n_images,
            "captions": gallery.n_captions,
            "digest": gallery.digest,
        }
