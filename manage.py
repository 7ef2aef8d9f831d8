#!/usr/bin/env python3
"""Run one of Counterpart's commands: python manage.py COMMAND --help."""

import os
import signal
import sys
from types import FrameType

INTERRUPTED = 130  # as shells report Ctrl-C
TERMINATED = 143  # as they report kill


def terminate(signal: int, frame: FrameType | None) -> None:
    """End by an exception, so that what was begun is taken back."""
    sys.exit(TERMINATED)


def main() -> None:
    from django.db.utils import OperationalError

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    signal.signal(signal.SIGTERM, terminate)
    try:
        from core.command_help import Manage

        Manage(sys.argv).execute()
    except KeyboardInterrupt:
        print("Stopped. Run the same command to go on.", file=sys.stderr)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # as of "| head": the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # Commands explain their own errors: this one is of the settings.
        name = f": {error.filename}" if error.filename else ""
        print(
            f"{error.strerror or error}{name}. Counterpart keeps its files in VAR_DIR: make that folder writable, or "
            "set VAR_DIR to one that is.",
            file=sys.stderr,
        )
        sys.exit(1)
    except OperationalError as error:  # of Django's own commands, such as migrate
        from core.errors import said_of_database

        print(said_of_database(error), file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
