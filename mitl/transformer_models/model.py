"""A network with its tokeniser and its preparation of pictures, and the arrays that are kept of all three."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from torch import nn

from core.errors import CounterpartError
from mitl.annotators.base import Arrays
from mitl.nn.preparation import Preparation
from mitl.nn.tokenisers import Tokeniser, read_tokeniser
from mitl.nn.weights import load_network
from mitl.transformer_models.family import Family, Sizes, fill_places

CONFIGURATION, TOKENISER, PREPARATION = "configuration", "tokeniser", "preparation"


@dataclass(frozen=True)
class Model:
    """All that turns pictures and captions into numbers, on one device."""

    network: nn.Module
    configuration: Mapping[str, Any]
    tokeniser: Tokeniser
    preparation: Preparation
    device: str

    def parts(self) -> Arrays:
        """Return what ``open_model`` needs beside the network's tensors."""
        return kept_parts(self.configuration, self.tokeniser.tokenizer, self.preparation)


def kept_parts(configuration: Mapping[str, Any], tokenizer: Tokenizer, preparation: Preparation) -> Arrays:
    """Return what is kept beside a network's tensors: texts, as the bytes of UTF-8."""
    texts = {
        CONFIGURATION: json.dumps(configuration),
        TOKENISER: tokenizer.to_str(),
        PREPARATION: preparation.to_json(),
    }
    return {name: np.frombuffer(text.encode(), dtype=np.uint8) for name, text in texts.items()}


def open_model(family: Family, arrays: Arrays, settings: Sizes, where: str, device: str) -> Model:
    """Put kept arrays into a network, in evaluation mode. Raises CounterpartError where they do not fit."""
    configuration, tokenizer, preparation = (
        arrays[name].tobytes().decode() for name in (CONFIGURATION, TOKENISER, PREPARATION)
    )
    told = json.loads(configuration)
    network = family.outline(told)
    load_network(network, arrays, where)
    fill_places(network)
    tokeniser = fitted_tokeniser(family, told, Tokenizer.from_str(tokenizer), settings)
    return Model(network.to(device), told, tokeniser, Preparation.from_json(preparation), device)


def fresh_model(family: Family, settings: Sizes, texts: Sequence[str], device: str) -> Model:
    """Return an untrained network of the sizes in ``settings``, its first weights drawn from torch's own generator.

    Its pieces are those of the file that ``settings["tokeniser"]`` names; without one they are learned from ``texts``.
    Raises CounterpartError for sizes that fit no network and a file that is no tokeniser.
    """
    if int(settings["picture"]) < int(settings["patch"]):
        raise CounterpartError(
            f"A picture of {settings['picture']} pixels has no patch of {settings['patch']}; choose a larger picture."
        )
    named = str(settings["tokeniser"])
    cleaned = [family.clean(text) for text in texts]
    tokenizer = read_tokeniser(Path(named)) if named else family.learn(cleaned, int(settings["pieces"]))
    configuration = family.configure(settings, max(tokenizer.get_vocab().values()) + 1)
    network = family.fresh(configuration).to(device)
    tokeniser = fitted_tokeniser(family, configuration, tokenizer, settings)
    return Model(network, configuration, tokeniser, fitted_preparation(family, configuration), device)


def fitted_preparation(family: Family, configuration: Mapping[str, Any]) -> Preparation:
    """Return the family's preparation of pictures at a network's sizes."""
    sizes = family.sizes(family.configured(configuration))
    return family.preparation.sized(sizes["picture"], sizes["patch"])


def fitted_tokeniser(
    family: Family, configuration: Mapping[str, Any], tokenizer: Tokenizer, settings: Sizes
) -> Tokeniser:
    """Return a tokeniser as a network of this configuration reads it.

    Raises CounterpartError for a context that the network has no places for.
    """
    configured = family.configured(configuration)
    words = getattr(configured, "text_config", configured)
    context = int(settings["context"])
    if not 2 < context <= words.max_position_embeddings:
        raise CounterpartError(
            f"The option context is {context}, but the network has {words.max_position_embeddings} places for pieces,"
            " two of them for start and end; choose a context from 3 to that."
        )
    return Tokeniser(tokenizer, context, words.pad_token_id or 0, family.fills, family.clean)
