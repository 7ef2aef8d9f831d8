"""The bench: a worker's flagged answer sets with what speaks against each, and the answers of one set with what they
are compared with: controls, the votes of others, annotators' ranks, the order and the time."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from annotation.models import Assignment
from annotation.review.worker_cases import signals_of
from annotation.work.answers import places_of
from annotation.work.judgments import answers_on
from console.review.answer_sheets import SheetAnswer, answers_of
from hits.models import Round
from hits.question import RIGHT_LEVELS
from mitl.models import Proposal

REASONS = {
    "control": "wrong control",
    "fast": "too fast",
    "unread": "not read",
    "pattern": "in a pattern",
    "same": "one level",
    "chance": "like chance",
    "copy": "copies an annotator",
    "repeats": "contradicts itself",
    "problem": "a person has to read it",
}
"""What speaks against an answer set, in a few words: signals, wrong controls, and a problem that a rule noted."""
Pair = tuple[int, int]


def reasons_of(assignment: Assignment) -> list[str]:
    """Return the keys of REASONS that hold for the set."""
    found = signals_of(assignment) | ({"problem"} if assignment.problem else set())
    return [reason for reason in REASONS if reason in found]


@dataclass(frozen=True, kw_only=True)
class Exhibit(SheetAnswer):
    """An answer, the ``place`` at which its pair was shown, the levels that others gave the pair, and its rank with
    each annotator that proposed it, the better of both directions."""

    place: int
    others: Sequence[int] = ()
    ranks: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_alone(self) -> bool:
        """Whether it says yes where most others say no, or no where most say yes."""
        if not self.others or self.judgment is None:
            return False
        yes = sum(level in RIGHT_LEVELS["positive"] for level in self.others)
        said_yes = self.judgment.level in RIGHT_LEVELS["positive"]
        return 2 * yes < len(self.others) if said_yes else 2 * yes > len(self.others)


def exhibits_of(assignment: Assignment) -> list[Exhibit]:
    """Return the answers of an assignment in the order in which its worker saw the pairs, with five queries more than
    ``answers_of``."""
    answers = answers_of(assignment)
    places = {item: place for place, item in places_of(assignment).items()}
    pairs = [one.pair for one in answers if one.pair]
    others = _votes_on(pairs, except_of=assignment.worker_id)
    ranks = _ranks_of(pairs, assignment.hit.round)
    exhibits = [
        Exhibit(
            **vars(one),
            place=places.get(one.item.pk, one.item.place),
            others=() if one.item.control else others.get(one.pair, ()),
            ranks=ranks.get(one.pair, {}),
        )
        for one in answers
    ]
    return sorted(exhibits, key=lambda one: one.place)


def followed_by(assignment: Assignment) -> str:
    """Return the annotator whose ranks the set follows, by the signal ``copy``; empty if it follows none."""
    return next((one.get("annotator", "") for one in assignment.signals if one["signal"] == "copy"), "")


def in_evidence(exhibits: Iterable[Exhibit], annotator: str) -> list[Exhibit]:
    """Return the exhibits with the strongest first: wrong controls, then by the ranks of the annotator that the set
    follows, then as they were shown."""
    last = 10**9
    return sorted(exhibits, key=lambda one: (not one.is_wrong, one.ranks.get(annotator, last), one.place))


def _votes_on(pairs: Sequence[Pair], *, except_of: int) -> dict[Pair | None, list[int]]:
    """Return the counted levels that other workers gave the pairs."""
    wanted = set(pairs)
    votes: dict[Pair | None, list[int]] = {}
    counted = answers_on({image for image, _ in pairs}, {caption for _, caption in pairs}).of_candidates().counted()
    for image, caption, level in counted.exclude(worker=except_of).values_list("image", "caption", "level"):
        if (image, caption) in wanted:
            votes.setdefault((image, caption), []).append(level)
    return {pair: sorted(levels) for pair, levels in votes.items()}


def _ranks_of(pairs: Sequence[Pair], round: Round) -> dict[Pair | None, dict[str, int]]:
    """Return the ranks of the pairs in the lists of the round's pool, by annotator."""
    wanted = set(pairs)
    ranks: dict[Pair | None, dict[str, int]] = {}
    some = {"image__in": {image for image, _ in pairs}, "caption__in": {caption for _, caption in pairs}}
    listed = Proposal.objects.filter(**some, pool=round.pool_id).order_by("annotator__name", "-rank")
    for image, caption, name, rank in listed.values_list("image", "caption", "annotator__name", "rank"):
        if (image, caption) in wanted:
            ranks.setdefault((image, caption), {})[name] = rank
    return ranks
