"""export_captions ROUND FILE: write the captions of a round for import_collection."""

import gzip
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.written_captions import as_lines, captions_of
from core.commands import ActCommand
from core.progress import TerminalBar
from hits.models import Round


class Command(ActCommand):
    help = (
        "Write the accepted captions of a round (pack --task caption) to FILE, an object a line, for import_collection "
        "--format jsonl. They name no worker."
    )
    figures = True

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("round", metavar="ROUND", help="a round whose workers wrote captions")
        parser.add_argument("file", metavar="FILE", type=Path, help="where to write; .gz compresses; replaced if there")

    def act(self, progress: TerminalBar, **options: Any) -> dict[str, Any]:
        captions, erased = captions_of(Round.objects.named(options["round"]))
        path = Path(options["file"])  # call_command passes a string
        text = "".join(as_lines(captions)).encode()
        path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
        images = len({one["image_id"] for one in captions})
        return {"round": options["round"], "captions": len(captions), "images": images, "erased": erased}
