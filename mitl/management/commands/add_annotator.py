"""add_annotator NAME --kind K [--checkpoint PATH] [--option K=V ...]: add an annotator."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.parameters import values_of
from core.progress import TerminalBar
from mitl.annotators import kind_of, kinds
from mitl.registration import Origin, add_annotator


def setting(argument: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not (name and equals):
        raise ArgumentTypeError(f"{argument!r} is not of the form NAME=VALUE")
    return name, value


def settings_of(kind: str) -> str:
    """List the settings and losses of a kind, one a line."""
    properties = kind_of(kind)
    lines = [
        f"{name}={field.initial}: {field.help_text}"
        + (f" ({'|'.join(offered)})" if (offered := values_of(field)) else "")
        for name, field in properties.options.items()
    ]
    if properties.losses:
        lines.append(f"Losses, the default first: {', '.join(properties.losses)}.")
    return "\n".join(lines) or f"Annotators of kind {kind} have no settings."


class Command(ActCommand):
    help = (
        "Add an annotator. pvse, vsrn, pcme, vilt, clip, vse, siglip, blip: with published weights (--checkpoint), or "
        "without weights, to be trained (train_annotator). embedding, nn, kcca: trained in seconds to minutes. "
        "overlap: word overlap, without training. vlm: a vision-language model behind a chat endpoint. files: "
        "embeddings or ranked lists computed elsewhere. Files of export_annotator are checkpoints of their kind. "
        "--tell-settings and docs/annotators.md list the options of each kind. Repeating the command changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the annotator: letters, digits, - and _")
        parser.add_argument("--kind", required=True, choices=kinds(), help="kind of annotator")
        parser.add_argument(
            "--checkpoint", type=Path, metavar="PATH", help="file or folder of weights, embeddings or lists"
        )
        parser.add_argument(
            "--option",
            action="append",
            default=[],
            type=setting,
            metavar="K=V",
            dest="given",
            help="a setting; may be repeated",
        )
        parser.add_argument(
            "--tell-settings",
            action="store_true",
            help="print the settings of the kind with their defaults, and add nothing",
        )
        parser.add_argument(
            "--source", default="", metavar="TEXT", help="who published the weights, or where they come from"
        )
        parser.add_argument("--licence", default="", metavar="TEXT", help="licence of the weights")

    def act(self, progress: TerminalBar, **options: Any) -> str:
        if options["tell_settings"]:
            return settings_of(options["kind"])
        annotator = add_annotator(
            options["name"],
            kind=options["kind"],
            checkpoint=options["checkpoint"],
            options=dict(options["given"]),
            origin=Origin(options["source"], options["licence"]),
        )
        settings = ", ".join(f"{name}={value}" for name, value in annotator.options.items())
        return f"{annotator}: {annotator.kind}" + (f" ({settings})." if settings else ".")
