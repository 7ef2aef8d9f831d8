"""import_collection NAME --format F PATH: import captions, and optionally pictures, into a collection."""

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
        "Importing the same again changes nothing. Files may be gzipped. Formats: "
        "coco (captions_*.json; captions_train* get the split train); "
        "karpathy (dataset_*.json); "
        "flickr (name.jpg#0<tab>text, or the CSV image| comment_number| comment); "
        "jsonl (an object per line: caption_id or null, image_id, file_name, text, optionally split; a null caption_id "
        "and a null text: a picture without a caption); "
        "folder (pictures, with captions in captions.csv - columns file_name, text, optionally caption_id and "
        "split - or one per line in a .txt file with the picture's name, or none). "
        "Pictures without a caption are imported too: workers can write some (pack --task caption)."
    )
    figures = True
    parameters = ImportParameters

    def act(self, progress: TerminalBar, *, parameters: ImportParameters, **options: Any) -> str | dict[str, Any]:
        wanted = asdict(parameters)
        summary = import_collection(wanted.pop("collection"), **wanted, progress=progress)
        return asdict(summary) if options["json"] else str(summary)
