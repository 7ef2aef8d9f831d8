"""import_collection NAME PATH: import captions, and optionally pictures, into a collection."""

from dataclasses import asdict
from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.collection_parameters import ImportParameters
from corpus.imports import import_collection


class Command(ActCommand):
    step = "collection"
    help = (
        "Import a captioned-image collection: all of PATH or, if it contains an error, nothing. "
        "Importing the same again changes nothing. PATH is a file, a folder, or a zip or tar file; its layout is found "
        "out: COCO's or Karpathy's JSON, BLIP's lists, Flickr's files, Hugging Face's ImageFolder, WebDataset's "
        "shards, any table (CSV, TSV, JSON lines, Parquet) with columns for image and text, such as file_name, text "
        "and, optionally, image_id, caption_id and split, or pictures with a .txt of their name, a caption a line. "
        "Pictures without a caption are imported too: workers can write some (pack --task caption)."
    )
    figures = True
    parameters = ImportParameters

    def act(self, progress: TerminalBar, *, parameters: ImportParameters, **options: Any) -> str | dict[str, Any]:
        wanted = asdict(parameters)
        summary = import_collection(wanted.pop("collection"), **wanted, progress=progress)
        return asdict(summary) if options["json"] else str(summary)
