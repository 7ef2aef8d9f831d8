from pathlib import Path
from typing import Any

from core.commands import ActCommand, argument
from mitl.models import Annotator
from mitl.registration import export_annotator


class Command(ActCommand):
    step = "annotators"
    help = (
        "Write an annotator's weights and settings to an .npz file. Another Counterpart reads it with "
        "add_annotator NAME --kind KIND --checkpoint FILE."
    )
    arguments = (
        argument("name", metavar="NAME", help="name of the annotator"),
        argument("file", type=Path, metavar="FILE", help="file to write, .npz"),
        argument("--half", action="store_true", help="store floats in 16 bits: half the size, slightly less exact"),
    )

    def act(self, **options: Any) -> str:
        annotator = Annotator.objects.all_named([options["name"]])[0]
        size = export_annotator(annotator, options["file"], half=options["half"])
        return f"{annotator}: {size:,} bytes in {options['file']}; kind {annotator.kind}."
