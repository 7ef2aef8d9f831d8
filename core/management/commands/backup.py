from pathlib import Path
from typing import Any

from django.template.defaultfilters import filesizeformat

from core.commands import ActCommand, argument
from core.files.backup import back_up
from core.progress import TerminalBar


class Command(ActCommand):
    step = "site"
    help = "Write the database, the stored files and the secret keys to one file. The site may be in use meanwhile."
    arguments = (argument("file", type=Path, help="the backup to write; it must not exist"),)

    def act(self, progress: TerminalBar, **options: Any) -> str:
        written = back_up(options["file"], progress=progress)
        where = f", those in bucket {written.bucket} not included" if written.bucket else ""
        size = filesizeformat(written.size).replace("\xa0", " ")
        return (
            f"{options['file']}: {size}, stored files: {written.stored_files:,}{where}. "
            "It holds the secret key and personal data; keep it as safe as the site."
        )
