from argparse import ArgumentTypeError
from typing import Any

from django.core.management.base import CommandParser

from core.commands import ActCommand
from core.parameters import values_of
from mitl.annotators import kind_of
from mitl.registration import AddParameters, add_annotator


def setting(argument: str) -> tuple[str, str]:
    name, equals, value = argument.partition("=")
    if not (name and equals):
        raise ArgumentTypeError(f"{argument!r} is not of the form NAME=VALUE")
    return name, value


def add_setting_option(parser: CommandParser, about: str) -> None:
    """Add the option of settings, whose pairs are ``given``."""
    parser.add_argument("--option", action="append", default=[], type=setting, metavar="K=V", dest="given", help=about)


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
    step = "annotators"
    help = (
        "Add an annotator. pvse, vsrn, pcme, vilt, clip, vse, siglip, blip: with published weights (--checkpoint), or "
        "without weights, to be trained (train_annotator). embedding, nn, kcca: trained in seconds to minutes. "
        "overlap: word overlap, without training. vlm: a vision-language model behind a chat endpoint. files: "
        "embeddings or ranked lists computed elsewhere. Files of export_annotator are checkpoints of their kind. "
        "--tell-settings and docs/annotators.md list the options of each kind. Repeating the command changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        add_setting_option(parser, "a setting; may be repeated")

    def act(self, *, parameters: AddParameters, **options: Any) -> str:
        if parameters.tell_settings:
            return settings_of(parameters.kind)
        annotator = add_annotator(
            parameters.name,
            kind=parameters.kind,
            checkpoint=parameters.checkpoint,
            options=dict(options["given"]),
            origin=parameters,
        )
        settings = ", ".join(f"{name}={value}" for name, value in annotator.options.items())
        return f"{annotator}: {annotator.kind}" + (f" ({settings})." if settings else ".")
