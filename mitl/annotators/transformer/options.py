"""Settings that several of these machines have. Read for every command: nothing here imports torch."""

from mitl.annotators.base import Option, Settings

TOKENISER = Option(
    "", "vocabulary file of the weights' authors (CLIP's merges, vocab.txt, tokenizer.json); without one it is learned"
)
SMALLEST_CROP = Option(
    0.7, "least share of a picture that a training view shows, up to 1", allows=lambda share: 0 < share <= 1
)
BATCH_SIZE = Option(32, "pairs that one pass takes, at least 1", allows=lambda pairs: pairs >= 1)
NEGATIVES = Option(
    15, "captions that each picture is told from in training, at least 1", allows=lambda captions: captions >= 1
)


def size(default: int, what: str) -> Option:
    """Return the option of a number that a network is made of."""
    return Option(default, f"{what}, at least 1", allows=lambda number: number >= 1)


def tower(name: str, layers: int, width: int, heads: int) -> dict[str, Option]:
    """Return the options of one transformer, ``name`` in front of theirs."""
    prefix = f"{name}_" if name else ""
    whose = f" of the {name} tower" if name else ""
    return {
        f"{prefix}layers": size(layers, f"layers{whose}"),
        f"{prefix}width": size(width, f"width{whose}, a multiple of its heads"),
        f"{prefix}heads": size(heads, f"heads of attention{whose}"),
    }


def pictures_and_words(picture: int, patch: int, context: int, pieces: int) -> dict[str, Option]:
    """Return the options of what goes into a network."""
    return {
        "picture": size(picture, "side of a picture in pixels, the shorter one where it stays whole"),
        "patch": size(patch, "side of a patch in pixels"),
        "context": size(context, "pieces of a caption that are read, start and end included"),
        "pieces": size(pieces, "pieces of words to learn where no tokeniser is given, at most"),
        "tokeniser": TOKENISER,
        "smallest_crop": SMALLEST_CROP,
    }


def tell_towers(settings: Settings, pieces: int) -> dict[str, str]:
    """Return what a page tells of two towers, of one width or of two."""

    def tell(name: str) -> str:
        prefix = f"{name}_" if f"{name}_width" in settings else ""
        layers, width, heads = (settings[f"{prefix}{part}"] for part in ("layers", "width", "heads"))
        return f"{layers} layers, width {width}, {heads} heads"

    side, patch = settings["picture"], settings["patch"]
    return {
        "picture tower": f"{tell('image')}, patches of {patch} x {patch} in {side} x {side}",
        "caption tower": f"{tell('text')}, {pieces:,} pieces, {settings['context']} of a caption",
    }
