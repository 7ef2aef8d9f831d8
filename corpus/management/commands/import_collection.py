import sys
from dataclasses import asdict
from typing import Any

from core.commands import ActCommand, argument, ask
from core.progress import TerminalBar
from corpus.collection_parameters import ImportParameters
from corpus.import_look import look_at
from corpus.imports import prepared_import


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
    arguments = (
        argument("--look", action="store_true", help="show what would be imported, and import nothing"),
        argument("--yes", action="store_true", help="import without the look and the question of a terminal"),
    )

    def act(self, progress: TerminalBar, *, parameters: ImportParameters, **options: Any) -> str | dict[str, Any]:
        wanted = asdict(parameters)
        asks = not (options["yes"] or options["json"]) and sys.stdin.isatty() and self.stdout.isatty()
        with prepared_import(wanted.pop("collection"), **wanted, progress=progress) as prepared:
            if options["look"] or asks:
                look = look_at(prepared, progress=progress)
                if options["look"]:
                    return look.as_json() if options["json"] else str(look)
                progress.close()
                self.stdout.write(str(look))
                if not look.troubles:
                    ask("Import this? [y/N] ", otherwise="Nothing was imported.")
            summary = prepared.store(progress=progress)
        return asdict(summary) if options["json"] else str(summary)
