"""What somebody orders when they plan a round, as one checked object; jobs keep it as JSON."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from decimal import Decimal, InvalidOperation
from typing import Any

from core.errors import CounterpartError, some_of
from core.naming import MAX_NAME, check_name
from hits.designs import DESIGNS, Design, parse_design
from hits.packed_rounds import check_randomness
from hits.packing import Sharing
from hits.terms import LARGEST, Terms
from mitl.cascading import CASCADE_DEPTH

LONGEST = MAX_NAME - len("-queries")


@dataclass(frozen=True)
class RoundOrder:
    """A round of this name from a collection, its machines and queries: those of the sample named, or so many
    images and captions drawn. ``cascade`` names the machine whose first places cross-encoders score, ``rerank`` the
    steps of a re-ranking. The rest as the acts of the pipeline take it."""

    round: str
    collection: str
    annotators: Sequence[str]
    sample: str = ""
    images: int = 0
    captions: int = 0
    top_k: int = 5
    control_depth: int = 25
    direction: str = "both"
    engine: str = "blocked"
    cascade: str = ""
    cascade_depth: int = CASCADE_DEPTH
    rerank: str = ""
    design: Design = DESIGNS["eccv-18"]
    sharing: Sharing = "avoid"
    seed: int = 0
    terms: Terms = field(default_factory=Terms)

    def __post_init__(self) -> None:
        check_name(self.round)
        check_randomness(self.sharing, self.seed)
        if len(self.round) > LONGEST:
            raise CounterpartError(f"The round's name {self.round!r} is too long; choose at most {LONGEST} characters.")
        if not self.sample and self.images + self.captions < 1:
            raise CounterpartError("The round asks nothing: name a sample, or say how many images or captions to draw.")

    @property
    def sample_name(self) -> str:
        return self.sample or f"{self.round}-queries"

    @property
    def pool_name(self) -> str:
        return f"{self.round}-pool"

    def as_json(self) -> dict[str, Any]:
        """The parameters of the order's job; ``parse_order`` reads them."""
        parts = asdict(self)
        terms = parts.pop("terms")
        return {**parts, **terms, "reward": str(terms["reward"]), "ceiling": str(terms["ceiling"])}


TERMS = {part.name for part in fields(Terms)}
NEEDED = {"round", "collection", "annotators"}
WHOLE_NUMBERS = {"images", "captions", "top_k", "control_depth", "seed", "replication", "cascade_depth"}
TEXTS = {"round", "collection", "sample", "direction", "engine", "sharing", "cascade", "rerank"}
KNOWN = NEEDED | WHOLE_NUMBERS | TEXTS | TERMS | {"design"}


def parse_order(params: dict[str, Any]) -> RoundOrder:
    """Check the JSON form of an order: ``round``, ``collection``, ``annotators``, and whatever is not as usual.

    ``design`` is a name or an object of its composition; amounts are texts. Raises CounterpartError otherwise.
    """
    if faults := sorted(NEEDED - set(params)) or sorted(set(params) - KNOWN):
        raise CounterpartError(f"An order of a round needs {', '.join(sorted(NEEDED))}; wrong: {some_of(faults)}.")
    wrong = [name for name, value in params.items() if not _has_its_type(name, value)]
    if wrong:
        raise CounterpartError(f"{len(wrong)} entries of the order have the wrong type: {some_of(wrong)}.")
    given = {**params, **{name: _amount(name, params[name]) for name in LARGEST if name in params}}
    if "design" in given:
        given["design"] = _design(given["design"])
    terms = Terms(**{name: given.pop(name) for name in TERMS & set(given)})
    return RoundOrder(**given, terms=terms)


def _has_its_type(name: str, value: Any) -> bool:
    if name in WHOLE_NUMBERS:
        return type(value) is int
    if name in TEXTS:
        return isinstance(value, str)
    if name == "annotators":
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    return name != "reasons" or isinstance(value, bool)


def _amount(name: str, value: Any) -> Decimal:
    try:
        return Decimal(str(value))
    except InvalidOperation as error:
        raise CounterpartError(f"The {name} {value!r} is no amount of US dollars.") from error


def _design(chosen: Any) -> Design:
    if isinstance(chosen, str):
        if chosen not in DESIGNS:
            raise CounterpartError(f"There is no design {chosen!r}: name {' or '.join(DESIGNS)}.")
        return DESIGNS[chosen]
    return parse_design(chosen, origin="ordered")
