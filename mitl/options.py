"""The settings of annotators: their types, choices, ranges and checks; groups that several kinds share.

Commands and pages read them, so nothing here imports torch or Django.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from decimal import Decimal, InvalidOperation
from math import cos, pi
from typing import Literal, Self
from urllib.parse import urlsplit

from core.errors import CounterpartError

Value = str | int | float
Settings = Mapping[str, Value]

_TYPES: dict[type, str] = {int: "a whole number", float: "a number", str: "text"}
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Option:
    """One setting. The default's type is the setting's type.

    Attributes:
        choices: the only values allowed, if there are any.
        allows: whether a number is in range.
        check: raises CounterpartError for an invalid text, given the option's name and the text.
        on_page: how a page offers it: as a field; as an upload, read together with the weights; or not at all, as it
            names what only the operator may reach, such as files of the server.
    """

    default: Value
    help: str
    choices: tuple[str, ...] = ()
    allows: Callable[[float], bool] | None = None
    check: Callable[[str, str], object] | None = None
    on_page: Literal["field", "upload", "no"] = "field"

    def read(self, name: str, value: object) -> Value:
        """Return ``value``, perhaps a text, as the setting's type. Raises CounterpartError for an invalid one."""
        wanted = type(self.default)
        try:
            setting = wanted(str(value))
        except ValueError:
            raise CounterpartError(f"Option {name} must be {_TYPES[wanted]}, not {value!r}.") from None
        if self.choices and setting not in self.choices:
            raise CounterpartError(f"Option {name} must be one of {', '.join(self.choices)}, not {value!r}.")
        if self.allows and not self.allows(float(setting)):
            raise CounterpartError(f"Option {name} is out of range at {value!r}: {self.help}")
        if self.check:
            self.check(name, str(setting))
        return setting


def check_address(name: str, text: str) -> None:
    """Raise CounterpartError unless the text is a web address without a name or password."""
    parts = urlsplit(text)
    if parts.username or parts.password:
        raise CounterpartError(f"Option {name} contains a name or a password; put the key in an environment variable.")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise CounterpartError(f"Option {name} must be an address like https://host/v1, not {text!r}.")


def check_variable(name: str, text: str) -> None:
    """Raise CounterpartError unless the text can name a variable. It is not repeated: it may be the key itself."""
    if text and not _VARIABLE.fullmatch(text):
        raise CounterpartError(
            f"Option {name} takes the name of an environment variable that holds the key, never the key itself."
        )


def read_money(name: str, text: str) -> Decimal | None:
    """Return an amount; None for an empty text. Raises CounterpartError for an invalid or negative amount."""
    if not text:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite() or amount < 0:
        raise CounterpartError(f"Option {name} must be an amount of money like 2.50, not {text!r}.")
    return amount


RANKING_LOSSES = ("sum", "max", "semi-hard", "hal", "hal-max", "hal-logsumexp")
LAST_SHARE = 0.01


@dataclass(frozen=True)
class Schedule:
    """How a network is trained; an annotator's options of the same names.

    ``epochs`` passes in batches of at most ``batch`` pairs, by Adam at ``rate``; AdamW if ``weight_decay`` is above 0,
    for matrices and never for biases. Gradients longer than ``clip`` are shortened (0: none). ``decay``: ``step``
    divides the rate by 10 after every ``step`` epochs, ``cosine`` lowers it to a hundredth by the last epoch. Training
    stops after ``patience`` epochs without improvement on the validation split (0: never). ``threads`` is the number of
    CPU threads; another number changes the last digits of sums.
    """

    epochs: int = 30
    batch: int = 128
    rate: float = 2e-4
    decay: str = "step"
    step: int = 15
    weight_decay: float = 0.0
    clip: float = 2.0
    patience: int = 0
    threads: int = 1

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Read an annotator's settings; missing ones get the defaults above."""
        return cls(**{field.name: settings[field.name] for field in fields(cls) if field.name in settings})  # type: ignore[arg-type]

    def rate_at(self, epoch: int) -> float:
        """Return the learning rate of an epoch, numbered from 1."""
        if self.decay == "cosine":
            swing = (1 + cos(pi * (epoch - 1) / max(1, self.epochs - 1))) / 2
            return self.rate * (LAST_SHARE + (1 - LAST_SHARE) * swing)
        return self.rate * (0.1 ** ((epoch - 1) // self.step) if self.decay == "step" else 1.0)


TRAINING_OPTIONS: Mapping[str, Option] = {
    "epochs": Option(30, "passes over the training pairs, 0 to 1000", allows=lambda epochs: 0 <= epochs <= 1000),
    "batch": Option(128, "pairs a batch, 2 to 8192", allows=lambda batch: 2 <= batch <= 8192),
    "rate": Option(2e-4, "learning rate, above 0 and at most 1", allows=lambda rate: 0 < rate <= 1),
    "decay": Option("step", "how the learning rate falls", choices=("step", "cosine", "none")),
    "step": Option(15, "with decay=step: epochs after which the rate is divided by 10", allows=lambda step: step >= 1),
    "weight_decay": Option(0.0, "weight decay of AdamW, 0 to 1; 0 is Adam", allows=lambda decay: 0 <= decay <= 1),
    "clip": Option(2.0, "norm to which gradients are clipped; 0: no clipping", allows=lambda clip: clip >= 0),
    "patience": Option(0, "epochs without improvement after which training stops; 0: never", allows=lambda n: n >= 0),
    "threads": Option(1, "number of CPU threads", allows=lambda threads: 1 <= threads <= 1024),
}


def training_options(**defaults: Value) -> dict[str, Option]:
    """Return TRAINING_OPTIONS with an annotator's own defaults: ``training_options(epochs=13, rate=1e-3)``.

    Raises TypeError for an unknown setting.
    """
    if unknown := defaults.keys() - TRAINING_OPTIONS.keys():
        raise TypeError(f"Unknown training settings: {', '.join(sorted(unknown))}.")
    return {
        name: replace(option, default=defaults.get(name, option.default)) for name, option in TRAINING_OPTIONS.items()
    }


EXPANSION = 4


@dataclass(frozen=True)
class TrunkSize:
    """Number of bottlenecks in each stage, and channels of the first stage's 3 x 3 convolutions.

    Every stage has twice the channels of the stage before; a bottleneck outputs four times its own width.
    """

    blocks: tuple[int, ...]
    width: int = 64

    @property
    def channels(self) -> int:
        """Channels of the last map."""
        return self.width * 2 ** (len(self.blocks) - 1) * EXPANSION


TRUNKS = {
    "resnet152": TrunkSize((3, 8, 36, 3)),
    "resnet101": TrunkSize((3, 4, 23, 3)),
    "resnet50": TrunkSize((3, 4, 6, 3)),
    "small": TrunkSize((1, 1, 1, 1), width=16),
}


def size(default: int, what: str) -> Option:
    """Return the option of a size of a network."""
    return Option(default, f"{what}, at least 1", allows=lambda number: number >= 1)


def tower(name: str, layers: int, width: int, heads: int) -> dict[str, Option]:
    """Return the options of one transformer, with its ``name`` as prefix."""
    prefix, whose = (f"{name}_", f" of the {name} tower") if name else ("", "")
    return {
        f"{prefix}layers": size(layers, f"layers{whose}"),
        f"{prefix}width": size(width, f"width{whose}, a multiple of its heads"),
        f"{prefix}heads": size(heads, f"attention heads{whose}"),
    }


def pictures_and_words(picture: int, patch: int, context: int, pieces: int) -> dict[str, Option]:
    """Return the options of a transformer's input."""
    return {
        "picture": size(picture, "side of a picture in pixels, the shorter one if it is not cropped"),
        "patch": size(patch, "side of a patch in pixels"),
        "context": size(context, "word pieces read of a caption, including start and end"),
        "pieces": size(pieces, "largest number of word pieces to learn, without a tokeniser file"),
        "tokeniser": Option(
            "",
            "published vocabulary file of the weights (CLIP's merges, vocab.txt, tokenizer.json); empty: learned",
            on_page="upload",
        ),
        "smallest_crop": Option(
            0.7, "smallest share of a picture in a training view, up to 1", allows=lambda share: 0 < share <= 1
        ),
    }


def visual_words(feature: str, default: int) -> dict[str, Option]:
    """Return the option of the number of visual words of a feature."""
    return {
        f"{feature}_words": Option(
            default, f"visual words of {feature}, 2 to 4096", allows=lambda words: 2 <= words <= 4096
        )
    }


# PVSE, PCME, VSRN and VSE: a trunk reads pictures, a GRU reads words.
RECURRENT_PREPROCESSING = "ImageNet view 1, Treebank words 1"
WORDS = {
    "vocabulary": Option(
        "", "file of the words that the weights were trained with; empty: the collection's words", on_page="upload"
    ),
    "rarest": Option(4, "occurrences in the collection from which a word is learned", allows=lambda n: n >= 1),
}
SIZES = {
    "embed": Option(1024, "length of the embeddings, even, 2 to 8192", allows=lambda n: 2 <= n <= 8192 and n % 2 == 0),
    "word": Option(300, "length of word vectors, even, 2 to 4096", allows=lambda n: 2 <= n <= 4096 and n % 2 == 0),
}
PICTURES = {
    "trunk": Option("resnet152", "network that reads pictures", choices=tuple(TRUNKS)),
    "picture": Option(224, "side of a picture in pixels, 32 to 1024", allows=lambda side: 32 <= side <= 1024),
    "trunk_from": Option("", "file of weights, or annotator, with the trunk that training starts from", on_page="no"),
    "frozen": Option(
        "trunk", "parts that training does not change", choices=("nothing", "trunk", "words", "trunk and words")
    ),
    "smallest_crop": Option(
        0.08, "smallest share of a picture in a training view, up to 1", allows=lambda share: 0 < share <= 1
    ),
}
MAX_FIRST = ("max", *(loss for loss in RANKING_LOSSES if loss != "max"))

# ViLT and BLIP: picture and caption pass through the network together.
PAIRS = {
    "batch_size": Option(32, "pairs per forward pass, at least 1", allows=lambda pairs: pairs >= 1),
    "negatives": Option(15, "negative captions per picture in training, at least 1", allows=lambda n: n >= 1),
}

# nn and kcca: the systems of Hodosh et al. (2013).
HISTOGRAMS = {
    "image": Option(
        "pyramid",
        "pictures as histograms of the whole, or of the whole and of 4 and 16 parts",
        choices=("pyramid", "histogram"),
    ),
    "picture": Option(
        256, "longest side in pixels, to which larger pictures are shrunk, 16 to 1024", allows=lambda n: 16 <= n <= 1024
    ),
    **visual_words("colour", 128),
    **visual_words("texture", 256),
    **visual_words("sift", 256),
}
IDF = Option(
    "usual",
    "weight of a word: 1 (none), the root of its IDF, or its IDF (full); usual: full for f1, root for tri5sem",
    choices=("usual", "none", "root", "full"),
)
