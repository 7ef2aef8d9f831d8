"""``manage.py help``: our commands by the step of the work, a line each."""

import re
from collections import defaultdict
from itertools import accumulate
from operator import add
from textwrap import shorten, wrap

from django.core.management import ManagementUtility, get_commands, load_command_class
from django.core.management.base import BaseCommand

from core.text import COLUMNS

STEPS = ("collection", "annotators", "round", "crowd", "review", "version", "scores", "site", "papers")
"""The steps of the work, in the order of ``manage.py help``."""
AFTER = "manage.py help NAME lists the options of a command; help --all lists Django's too."


class Manage(ManagementUtility):
    """What manage.py runs: Django's utility, whose help lists our commands by step."""

    def main_help_text(self, commands_only: bool = False) -> str:
        """Return a line a command by step, and with --all the names of all others."""
        names = sorted((name, app) for name, app in get_commands().items() if isinstance(app, str))  # no old ones
        if commands_only:
            return "\n".join(name for name, _ in names)
        by_step: dict[str, dict[str, str]] = defaultdict(dict)
        others = []
        for name, app in names:
            command = BaseCommand() if app.startswith("django.") else load_command_class(app, name)
            if step := getattr(command, "step", ""):
                by_step[step][name] = command.help
            else:
                others.append(name)
        width = max(len(name) for step in STEPS for name in by_step[step])
        lines = ["python manage.py NAME …"]
        for step in STEPS:
            lines += ["", step.capitalize()]
            lines += [f"  {name:<{width}}  {_begun(text, COLUMNS - width - 4)}" for name, text in by_step[step].items()]
        if "--all" in self.argv:
            lines += [
                "",
                "Of Django and other apps",
                *wrap(", ".join(others), COLUMNS, initial_indent="  ", subsequent_indent="  "),
            ]
        return "\n".join([*lines, "", AFTER])


def _begun(text: str, width: int) -> str:
    """Return the first sentence, or as many of its clauses as the width holds."""
    clauses = re.split(r"(?<=[:;])(?= )", re.split(r"\. |\.$", text, maxsplit=1)[0])
    fitting = [one for one in accumulate(clauses, add) if len(one) <= width]
    return fitting[-1].rstrip(":;") if fitting else shorten(clauses[0], width, placeholder=" …")
