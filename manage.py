#!/usr/bin/env python3
"""Run one of Counterpart's commands: python manage.py COMMAND --help."""

import os
import sys

INTERRUPTED = 130  # as shells report Ctrl-C


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)
    except KeyboardInterrupt:
        print("Stopped. Run the same command to go on.", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
