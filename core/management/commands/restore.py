from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand, ask
from core.files.backup import occupied, restore
from core.progress import TerminalBar
from core.text import counted


class Command(ActCommand):
    step = "site"
    help = "Restore a backup into an empty database and VAR_DIR. Stop the site and the worker first."
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a file that backup wrote")
        parser.add_argument("--replace", action="store_true", help="replace the database and the stored files")
        parser.add_argument("--yes", action="store_true", help="do not ask before replacing")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        if options["replace"] and not options["yes"] and (found := occupied()):
            ask(f"{found} All of it will be lost. Replace it? [y/N] ", otherwise="Nothing was changed.")
        manifest = restore(options["file"], replace=options["replace"], progress=progress)
        return (
            f"Restored the backup of {manifest['made_at']} ({manifest['software']}): "
            f"{counted(len(manifest['files']), 'file')}. Run migrate, then start the site and the worker."
        )
