"""add_annotator NAME --kind K [--checkpoint PATH] [--option K=V ...]: a machine that scores pairs."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.progress import TerminalBar
from mitl.annotators import kinds, module_of
from mitl.registration import Origin, add_annotator


def setting(argument: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not (name and equals):
        raise ArgumentTypeError(f"{argument!r} is not of the form NAME=VALUE")
    return name, value


def told(kind: str) -> str:
    """Tell what can be set of a kind of machine, and what it learns with, a line each."""
    module = module_of(kind)
    lines = [
        f"{name}={option.default}: {option.help}" + (f" ({'|'.join(option.choices)})" if option.choices else "")
        for name, option in module.OPTIONS.items()
    ]
    if losses := getattr(module, "LOSSES", ()):
        lines.append(f"Losses, the usual one first: {', '.join(losses)}.")
    return "\n".join(lines) or f"A machine of kind {kind} has no settings."


class Command(ActCommand):
    help = (
        "Register a machine. pvse, vsrn, pcme, vilt, clip, vse, siglip, blip: weights that their authors published "
        "(--checkpoint), or none yet, to be trained (train_annotator). embedding, nn, kcca: trained in seconds to "
        "minutes. overlap: word overlap, nothing to train. vlm: a language model behind a chat endpoint. files: "
        "embeddings or ranked lists made elsewhere. What export_annotator wrote is a checkpoint of its kind. "
        "docs/machines.md tells each kind's options, and so does --tell-settings. The same again changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the annotator: letters, digits, - and _")
        parser.add_argument("--kind", required=True, choices=kinds(), help="what sort of machine it is")
        parser.add_argument("--checkpoint", type=Path, metavar="PATH", help="its weights, embeddings or lists")
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            type=setting,
            metavar="K=V",
            dest="given",
            help="a setting of the machine; may be given several times",
        )
        parser.add_argument(
            "--tell-settings",
            action="store_true",
            help="print the kind's settings with their defaults, and add nothing",
        )
        parser.add_argument("--source", default="", metavar="TEXT", help="who made the weights, or where they are from")
        parser.add_argument("--licence", default="", metavar="TEXT", help="on what terms the weights may be used")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        if options["tell_settings"]:
            return told(options["kind"])
        annotator = add_annotator(
            options["name"],
            kind=options["kind"],
            checkpoint=options["checkpoint"],
            options=dict(options["given"]),
            origin=Origin(options["source"], options["licence"]),
        )
        settings = ", ".join(f"{name}={value}" for name, value in annotator.options.items())
        return f"{annotator}: {annotator.kind}" + (f" ({settings})." if settings else ".")
