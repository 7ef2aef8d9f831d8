"""export_captions ROUND FILE: write the captions of a round for import_collection."""

import gzip
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.work.written_captions import as_lines, captions_of, counts_of
from core.commands import ActCommand
from core.files.stored_files import whole_file
from core.progress import TerminalBar
from hits.models import Round


class Command(ActCommand):
    step = "version"
    help = (
        "Write the accepted captions of a round (pack --task caption) to FILE, an object a line, for import_collection "
        "--format jsonl. They name no worker."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", metavar="ROUND", help="a round whose workers wrote captions")
        parser.add_argument("file", metavar="FILE", type=Path, help="where to write; .gz compresses; replaced if there")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        round = Round.objects.named(options["round"])
        captions = captions_of(round)
        path = Path(options["file"])  # call_command passes a string
        with whole_file(path) as part, part.open("wb") as raw:
            zipped = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else nullcontext(raw)
            with zipped as file:
                file.writelines(line.encode() for line in as_lines(round, captions))
        return {"round": round.name, **counts_of(round)}
