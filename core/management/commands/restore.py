from pathlib import Path
from typing import Any

from core.commands import ActCommand, argument, ask
from core.files.backup import occupied, restore
from core.progress import TerminalBar
from core.text import counted


class Command(ActCommand):
    step = "site"
    help = "Restore a backup into an empty database and VAR_DIR. Stop the site and the worker first."
    requires_migrations_checks = False
    arguments = (
        argument("file", type=Path, help="a file that backup wrote"),
        argument("--replace", action="store_true", help="replace the database and the stored files"),
        argument("--yes", action="store_true", help="do not ask before replacing"),
    )

    def act(self, progress: TerminalBar, **options: Any) -> str:
        if options["replace"] and not options["yes"] and (found := occupied()):
            ask(f"{found} All of it will be lost. Replace it? [y/N] ", otherwise="Nothing was changed.")
        manifest = restore(options["file"], replace=options["replace"], progress=progress)
        return (
            f"Restored the backup of {manifest['made_at']} ({manifest['software']}): "
            f"{counted(len(manifest['files']), 'file')}. Run migrate, then start the site and the worker."
        )
