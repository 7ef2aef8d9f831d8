"""The kinds of annotators that Counterpart has: their settings, files and losses. The module of the same name does the
work. Commands and pages read this, so nothing here imports torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Literal

from mitl.options import (
    HISTOGRAMS,
    IDF,
    MAX_FIRST,
    PAIRS,
    PICTURES,
    RANKING_LOSSES,
    RECURRENT_PREPROCESSING,
    SIZES,
    TRUNKS,
    WORDS,
    Option,
    check_address,
    check_variable,
    pictures_and_words,
    read_money,
    size,
    tower,
    training_options,
)


@dataclass(frozen=True)
class Kind:
    """Properties of a kind that are known without loading it.

    Attributes:
        options: its settings by name.
        checkpoint: whether it needs files.
        losses: names of its losses, the default first; empty without a choice.
        learns: whether it can be trained.
        cross_encoder: whether it scores pair by pair.
        preprocessing: a text that changes whenever the processing of pictures and words ahead of the network changes;
            with it, embeddings are kept for the next search.
    """

    options: Mapping[str, Option] = field(default_factory=dict)
    checkpoint: Literal["required", "optional", "none"] = "none"
    losses: tuple[str, ...] = ()
    learns: bool = True
    cross_encoder: bool = False
    preprocessing: str | None = None

    @classmethod
    def of_module(cls, module: ModuleType) -> "Kind":
        """Return the properties that the module of an installed package defines (``mitl.annotators.base``)."""
        return cls(
            options=module.OPTIONS,
            checkpoint=module.CHECKPOINT,
            losses=getattr(module, "LOSSES", ()),
            learns=hasattr(module, "train"),
            cross_encoder=getattr(module, "CROSS_ENCODER", False),
            preprocessing=getattr(module, "PREPROCESSING", None),
        )


KINDS: Mapping[str, Kind] = {
    "blip": Kind(
        options={
            **pictures_and_words(picture=384, patch=16, context=35, pieces=30_524),
            **tower("image", layers=12, width=768, heads=12),
            **tower("text", layers=12, width=768, heads=12),
            "embed": size(256, "length of the embeddings of its contrastive head, which is not used here"),
            **PAIRS,
            **training_options(epochs=6, batch=256, rate=1e-5, decay="cosine", weight_decay=0.05, clip=1.0),
        },
        checkpoint="optional",
        losses=("itm",),
        cross_encoder=True,
        preprocessing="Pillow bicubic stretch 1, word pieces 1",
    ),
    "clip": Kind(
        options={
            **pictures_and_words(picture=224, patch=32, context=77, pieces=49_408),
            **tower("image", layers=12, width=768, heads=12),
            **tower("text", layers=12, width=512, heads=8),
            "embed": size(512, "length of the embeddings"),
            **training_options(epochs=32, batch=1024, rate=5e-4, decay="cosine", weight_decay=0.2, clip=1.0),
        },
        checkpoint="optional",
        losses=("contrastive", *RANKING_LOSSES),
        preprocessing="Pillow bicubic crop 1, byte pairs 1",
    ),
    "embedding": Kind(
        options={
            "image": Option("patches", "features of pictures", choices=("patches", "histogram")),
            "text": Option("words", "features of captions", choices=("words", "phrases")),
            "dim": Option(128, "length of the embeddings, 2 to 1024", allows=lambda dim: 2 <= dim <= 1024),
        },
        checkpoint="optional",
    ),
    "files": Kind(checkpoint="required", learns=False),
    "kcca": Kind(
        options={
            "text": Option(
                "tri5sem",
                "text kernel: words of one caption of an image (bow1), of all (bow5), weighted by rank (tagrank),"
                " sequences of up to three words (tri5), or such sequences with similar words (tri5sem)",
                choices=("bow1", "bow5", "tagrank", "tri5", "tri5sem"),
            ),
            "idf": IDF,
            **HISTOGRAMS,
            "power": Option(2, "power of the image kernel, 1 to 4", allows=lambda power: 1 <= power <= 4),
            "rank": Option(
                1000, "training images kept of each kernel, 2 to 10000", allows=lambda rank: 2 <= rank <= 10_000
            ),
            "regularisation": Option(0.5, "kappa, above 0, if models=1", allows=lambda kappa: kappa > 0),
            "dim": Option(
                100, "length of the embeddings, 1 to 10000, if models=1", allows=lambda dim: 1 <= dim <= 10_000
            ),
            "models": Option(
                1,
                "settings of kappa and dim, chosen on the validation split, whose rankings are merged by Borda counts;"
                " 1, or a multiple of 3 up to 45",
                allows=lambda models: models == 1 or (models % 3 == 0 and 3 <= models <= 45),
            ),
        },
        checkpoint="optional",
        preprocessing="CIELAB, 12 edge and bar filters, SIFT of 16 x 16 pixels every 8; stop words, Porter stems; 1",
    ),
    "nn": Kind(
        options={
            "text": Option(
                "f1",
                "similarity of captions: F1 of IDF-weighted words, cosine of words, or sequences of words",
                choices=("f1", "bow5", "tri5"),
            ),
            "idf": IDF,
            **HISTOGRAMS,
        },
        checkpoint="optional",
    ),
    "overlap": Kind(learns=False),
    "pcme": Kind(
        options={
            **WORDS,
            **SIZES,
            "samples": Option(7, "samples drawn per item, 1 to 64", allows=lambda k: 1 <= k <= 64),
            "samples_seed": Option(0, "seed of the samples, 0 or more", allows=lambda seed: seed >= 0),
            "score": Option(
                "probability",
                "mean match probability of the samples, or matmul: the sum of their inner products",
                choices=("probability", "matmul"),
            ),
            "shift": Option(15.0, "initial value of the learned shift, and the shift of weights without one"),
            "negative_scale": Option(
                15.0, "the same for the learned scale of distances", allows=lambda scale: scale > 0
            ),
            "log_sigma": Option(
                0.0, "initial log sigma; lower values learn faster, -10 to 2", allows=lambda log: -10 <= log <= 2
            ),
            "vib_beta": Option(
                1e-5, "weight of the KL divergence from the standard normal in training", allows=lambda beta: beta >= 0
            ),
            "uniformity": Option(
                0.0, "weight of the uniformity of all samples in training", allows=lambda weight: weight >= 0
            ),
            **PICTURES,
            "erasing": Option(
                0.2, "share of training views with an erased rectangle", allows=lambda share: 0 <= share <= 1
            ),
            "forgetting": Option(
                0.1,
                "share of words made unknown, and of words left out, in training",
                allows=lambda share: 0 <= share < 1,
            ),
            **training_options(decay="cosine"),
        },
        checkpoint="optional",
        losses=("pcme",),
        preprocessing=RECURRENT_PREPROCESSING,
    ),
    "pvse": Kind(
        options={
            **WORDS,
            **SIZES,
            "embeddings": Option(1, "embeddings per item, K, 1 to 16", allows=lambda k: 1 <= k <= 16),
            "reading": Option(
                "legacy",
                "state of the GRU that represents a caption: at its last word (all published weights), or both final"
                " ones",
                choices=("legacy", "final"),
            ),
            **PICTURES,
            **training_options(batch=256),
        },
        checkpoint="optional",
        losses=("pvse", *RANKING_LOSSES),
        preprocessing=RECURRENT_PREPROCESSING,
    ),
    "siglip": Kind(
        options={
            **pictures_and_words(picture=224, patch=16, context=64, pieces=32_000),
            **tower("", layers=12, width=768, heads=12),
            **training_options(epochs=32, batch=1024, rate=1e-3, decay="cosine", weight_decay=1e-4, clip=1.0),
        },
        checkpoint="optional",
        losses=("sigmoid", "contrastive", *RANKING_LOSSES),
        preprocessing="Pillow bicubic stretch 1, tokeniser 1",
    ),
    "vilt": Kind(
        options={
            **pictures_and_words(picture=384, patch=32, context=40, pieces=30_522),
            **tower("", layers=12, width=768, heads=12),
            **PAIRS,
            **training_options(epochs=10, batch=256, rate=1e-4, decay="cosine", weight_decay=0.01, clip=1.0),
        },
        checkpoint="optional",
        losses=("itm",),
        cross_encoder=True,
        preprocessing="Pillow bicubic whole 1, word pieces 1",
    ),
    "vlm": Kind(
        options={
            "endpoint": Option(
                "http://localhost:8000/v1",
                "base address of an OpenAI-compatible API, with /v1",
                check=check_address,
                on_page="no",
            ),
            "model": Option("", "name of the model there"),
            "key_variable": Option(
                "",
                "environment variable that holds the key; empty if no key is needed",
                check=check_variable,
                on_page="no",
            ),
            "picture": Option(
                512, "longest side of the pictures sent, in pixels, 32 to 4096", allows=lambda side: 32 <= side <= 4096
            ),
            "ceiling": Option(
                10_000, "largest number of requests to this model, ever, 1 or more", allows=lambda count: count >= 1
            ),
            "money": Option("", "most money spent on this model, ever; empty: no limit", check=read_money),
            "input_price": Option("0", "price of a million input tokens", check=read_money),
            "output_price": Option("0", "price of a million output tokens", check=read_money),
            "picture_tokens": Option(
                10_000, "most tokens charged for a picture, for the ceiling, 0 or more", allows=lambda n: n >= 0
            ),
            "parallel": Option(4, "parallel requests, 1 to 64", allows=lambda n: 1 <= n <= 64),
            "per_minute": Option(0, "most requests per minute; 0: no limit", allows=lambda n: n >= 0),
            "timeout": Option(60.0, "seconds to wait for an answer, above 0", allows=lambda seconds: seconds > 0),
            "attempts": Option(6, "attempts per request, 1 to 20", allows=lambda n: 1 <= n <= 20),
        },
        learns=False,
        cross_encoder=True,
    ),
    "vse": Kind(
        options={
            **WORDS,
            "captions": Option(
                "text",
                "text, or bytes: as Python prints bytes, b'...', which HAL's models were trained on",
                choices=("text", "bytes"),
            ),
            **SIZES,
            **PICTURES,
            "trunk": Option(
                "resnet152",
                "network that reads pictures; none for vectors from files",
                choices=(*TRUNKS, "vgg19", "none"),
            ),
            "vectors": Option(
                "", "with trunk=none: folder of unit vectors, NAME_ims.npy with NAME_ids.txt", on_page="no"
            ),
            "normalise": Option("yes", "scale embeddings of pictures to length 1", choices=("yes", "no")),
            "score": Option(
                "inner",
                "inner product, or the order score: how far a caption exceeds its picture",
                choices=("inner", "order"),
            ),
            **training_options(),
        },
        checkpoint="optional",
        losses=MAX_FIRST,
        preprocessing=RECURRENT_PREPROCESSING,
    ),
    "vsrn": Kind(
        options={
            **WORDS,
            **SIZES,
            "embed": replace(SIZES["embed"], default=2048),
            "variant": Option(
                "coco", "normalisation of regions as published for that collection", choices=("coco", "f30k")
            ),
            "regions": Option(
                "",
                "folder of region features, NAME_ims.npy with NAME_ids.txt; empty: cells of the trunk's map",
                on_page="no",
            ),
            **PICTURES,
            "captioner": Option(
                512,
                "units of the decoder that generates captions in training, 0 (none) to 4096",
                allows=lambda n: 0 <= n <= 4096,
            ),
            **training_options(),
        },
        checkpoint="optional",
        losses=MAX_FIRST,
        preprocessing=RECURRENT_PREPROCESSING,
    ),
}
