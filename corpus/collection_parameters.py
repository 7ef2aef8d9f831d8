"""The parameters of imports of collections and matches and of samples, for the commands and the pages."""

from pathlib import Path
from typing import Annotated, Any, ClassVar

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

from core.parameters import OFF_PAGE, POSITIONAL, FlagField, NamesField, Option, Parameters, choices
from core.seeds import SeedField
from core.text import NameField
from core.untrusted import whole_number
from corpus.match_files import CAPTION_TO_IMAGE, IMAGE_TO_CAPTION
from corpus.matches import MAX_SOURCE
from corpus.readers import READERS

IS_LANGUAGE_TAG = RegexValidator(
    r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*\Z", "Use a tag of BCP 47, such as en, de or pt-BR."
)


class ImportParameters(Parameters):
    """Captions, and optionally pictures, to import into a collection."""

    collection: Annotated[
        str,
        NameField(
            label="Name of the collection", help_text="name of a new or existing collection: letters, digits, - and _"
        ),
        POSITIONAL,
        Option(metavar="NAME"),
    ]
    path: Annotated[Path, "the caption file, or the folder", POSITIONAL, OFF_PAGE, Option(metavar="PATH")]
    format: Annotated[
        str,
        forms.ChoiceField(
            choices=choices(*READERS),
            required=False,
            label="Format of the captions",
            help_text="layout of the captions, where several would fit (default: found out)",
        ),
    ] = ""
    images: Annotated[
        Path | None,
        "folder, zip or tar file of the pictures, if they are not with the captions; also possible later, with the "
        "same PATH",
        OFF_PAGE,
        Option(metavar="DIR"),
    ] = None
    language: Annotated[
        str,
        forms.CharField(
            required=False,
            max_length=35,
            validators=[IS_LANGUAGE_TAG],
            label="Language of the captions",
            help_text="language of the captions as a BCP 47 tag, such as de or pt-BR (default: not known)",
        ),
        Option(metavar="TAG"),
    ] = ""
    append: Annotated[
        bool,
        FlagField(
            label="Existing collection (--append)", help_text="add new captions and images to an existing collection"
        ),
    ] = False
    gallery: Annotated[
        tuple[str, ...],
        NamesField(
            required=False,
            label="Splits to search (--gallery)",
            help_text="splits of the file to search, besides test and images without a split; other unknown ones are "
            "then for training",
        ),
    ] = ()
    skip_missing: Annotated[
        bool, FlagField(label="Missing pictures (--skip-missing)", help_text="accept images that have no picture file")
    ] = False
    skip_broken: Annotated[
        bool,
        FlagField(
            label="Broken rows and pictures (--skip-broken)",
            help_text="leave out blank captions, other bad rows, and broken or missing pictures; they are listed",
        ),
    ] = False


class MatchesParameters(Parameters):
    """Matches known from elsewhere to import into a collection."""

    collection: Annotated[str, "the collection of the pairs", POSITIONAL, OFF_PAGE]
    path: Annotated[
        Path, "the file of pairs, or an export as a folder or zip file", POSITIONAL, OFF_PAGE, Option(metavar="PATH")
    ]
    source: Annotated[
        str,
        forms.CharField(
            max_length=MAX_SOURCE,
            help_text="name of their source, such as cxc, without blanks; releases merge by it",
        ),
        Option(metavar="NAME"),
    ]
    direction: Annotated[
        str,
        forms.ChoiceField(
            required=False,
            choices=[
                ("", "recognise it"),
                (IMAGE_TO_CAPTION, "queries are images (i2t)"),
                (CAPTION_TO_IMAGE, "queries are captions (t2i)"),
            ],
            label="Direction of JSON or qrels",
            help_text="whether the queries of JSON or qrels are images (i2t) or captions (t2i); by default recognised "
            "by its name, ..._image_to_caption or ..._caption_to_image, or by its ids",
        ),
        Option(metavar="i2t|t2i"),
    ] = ""
    skip_unknown: Annotated[
        bool, FlagField(label="Unknown ids (--skip-unknown)", help_text="skip pairs with ids not in the collection")
    ] = False


class GalleryParameters(Parameters):
    """Items to search that stay in files."""

    name: Annotated[str, NameField(help_text="name of the gallery: letters, digits, - and _"), POSITIONAL]
    path: Annotated[Path, "the folder of images-*.parquet and captions-*.parquet", POSITIONAL, Option(metavar="PATH")]
    collection: Annotated[str, "the collection of the queries, whose rows found items become", Option(metavar="C")]


class CountOrFileField(forms.Field):
    """A number to draw, or the path of a file of ids."""

    metavar = "N|FILE"
    json_schema: ClassVar[dict[str, Any]] = {"type": "integer", "minimum": 0}

    def to_python(self, value: Any) -> int | Path:
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if not isinstance(value, str | Path):
            raise ValidationError("Use a number, or the path of a file of ids.")
        number = whole_number(str(value).removeprefix("-"))
        if number is None:
            return Path(value)
        return -number if str(value).startswith("-") else number


class SampleParameters(Parameters):
    """A fixed sample of query images and query captions."""

    name: Annotated[
        str,
        NameField(label="Name of the sample", help_text="name of the sample: letters, digits, - and _"),
        POSITIONAL,
    ]
    collection: Annotated[str, "the collection to draw from", OFF_PAGE, Option(metavar="C")]
    images: Annotated[
        int | Path,
        CountOrFileField(
            label="Query images to draw", help_text="number of images to draw, or a file of their ids, one per line"
        ),
    ]
    captions: Annotated[
        int | Path,
        CountOrFileField(
            label="Query captions to draw", help_text="number of captions to draw, or a file of their ids, one per line"
        ),
    ]
    uncaptioned: Annotated[
        bool,
        FlagField(
            label="Images without captions (--uncaptioned)",
            help_text="draw images that have no caption, for workers to write some (pack --task caption)",
        ),
    ] = False
    seed: Annotated[int, SeedField(help_text="random seed; the same seed draws the same queries")] = 0
