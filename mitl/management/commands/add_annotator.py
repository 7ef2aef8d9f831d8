"""add_annotator NAME --kind K [--checkpoint PATH] [--option K=V ...]: a machine that scores pairs."""

from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from journal.commands import ActCommand
from journal.progress import TerminalBar
from mitl.annotators import KINDS
from mitl.registration import add_annotator


def setting(argument: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not (name and equals):
        raise ArgumentTypeError(f"{argument!r} is not of the form NAME=VALUE")
    return name, value


class Command(ActCommand):
    help = (
        "Register a machine. overlap: word overlap between captions, nothing to train. "
        "embedding: image and text encoders to be trained from scratch (train_annotator), or trained weights in a "
        ".npz; options image=conv|histogram, text=words|phrases, dim, epochs. "
        "files: embeddings (.npz or a folder of .npy: image_ids, images, caption_ids, captions) or ranked lists "
        '(JSON: {"i2t": {image id: [caption id, ...]}, "t2i": ...}) made elsewhere. The same again changes nothing.'
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", metavar="NAME", help="the annotator: letters, digits, - and _")
        parser.add_argument("--kind", required=True, choices=KINDS, help="what sort of machine it is")
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

    def act(self, progress: TerminalBar, **options: Any) -> str:
        annotator = add_annotator(
            options["name"],
            kind=options["kind"],
            checkpoint=options["checkpoint"],
            options=dict(options["given"]),
        )
        settings = ", ".join(f"{name}={value}" for name, value in annotator.options.items())
        return f"{annotator}: {annotator.kind}" + (f" ({settings})." if settings else ".")
