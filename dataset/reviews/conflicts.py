"""What a merge would bring, before it is released: the counts of each source, and where people and sources disagree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.errors import CounterpartError
from core.text import counted
from corpus.models import Collection, Sample
from dataset.judged.answer_tables import votes_of
from dataset.models import Case
from dataset.reviews.cases import open_cases
from dataset.versions.contents import JUDGED, Contents, Policies, gather_contents, queries_of
from dataset.versions.merging import check_sources, refuse_foreign
from dataset.versions.review_rows import Reviewed, review_rows
from hits.models import Round


@dataclass(frozen=True)
class Conflict:
    """A pair that does not match by its verdict, but does by ``sources``. ``review``: a reviewer gave it the level."""

    image: str
    caption: str
    level: int
    votes: int
    review: bool
    sources: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        return {**self.__dict__, "sources": list(self.sources)}


def preview(sample: Sample, *, rounds: Sequence[Round], policies: Policies) -> Contents:
    """Return what a release would contain now, as ``previews`` does."""
    (contents,) = previews(sample, rounds=rounds, policies=[policies])
    return contents


def previews(sample: Sample, *, rounds: Sequence[Round], policies: Sequence[Policies]) -> list[Contents]:
    """Return what a release would contain now by each of the policies, from the votes and reviews in the database.

    Raises CounterpartError for unknown sources, for rounds of another collection, and without anything to release.
    """
    collection = sample.collection
    for one in policies:
        check_sources(collection, one.merge)
        if not rounds and not one.merge:
            raise CounterpartError("There is nothing to count: choose rounds, match sources or both.")
    refuse_foreign(collection, rounds)
    votes = pd.concat([votes_of(round) for round in rounds]) if rounds else pd.DataFrame()
    reviewed = Reviewed.of(review_rows(collection))
    return [
        gather_contents(
            collection,
            queries=queries_of(sample),
            votes=None if votes.empty else votes,
            reviewed=reviewed,
            rounds=rounds,
            policies=one,
        )
        for one in policies
    ]


def merge_counts(contents: Contents) -> dict[str, Any]:
    """Return the numbers of positives, judged pairs and conflicts, and for each merged source those of its pairs on the
    queries, of the ones that nothing else in the release has, and of its conflicts. Excluded captions and images do not
    count."""
    kept = contents.positives | contents.conflicts
    sources = {name: pairs & kept for name, pairs in contents.by_source.items()}
    terms = []
    for name, pairs in sources.items():
        others = set().union(*(more for other, more in sources.items() if other != name))
        if name != JUDGED:
            new = pairs - others - contents.conflicts
            disputed = pairs & contents.conflicts
            terms.append({"source": name, "pairs": len(pairs), "new": len(new), "conflicts": len(disputed)})
    return {
        "positives": len(contents.positives),
        "judged": len(contents.verdicts),
        "judged positive": len(sources.get(JUDGED, ())),
        "conflicts": len(contents.conflicts),
        "sources": terms,
    }


def conflicts_of(contents: Contents) -> list[Conflict]:
    """Return the conflicts: those on most votes first."""
    found = []
    for pair in contents.conflicts:
        verdict = contents.verdicts[pair]
        sources = tuple(source for source in contents.sources_of(pair) if source != JUDGED)
        found.append(Conflict(*pair, verdict.level, verdict.votes, verdict.review is not None, sources))
    return sorted(found, key=lambda one: (-one.votes, one.image, one.caption))


def send_to_review(collection: Collection, conflicts: Sequence[Conflict]) -> int:
    """Put conflicts into the reviewers' queue, without pairs that a reviewer has settled; return how many are new."""
    sent = [one for one in conflicts if not one.review]
    images = dict(collection.images.filter(key__in={one.image for one in sent}).values_list("key", "pk"))
    captions = dict(collection.captions.filter(key__in={one.caption for one in sent}).values_list("key", "pk"))
    found = {
        (images[one.image], captions[one.caption]): (
            f"{', '.join(one.sources)} say yes, people level {one.level} ({counted(one.votes, 'vote')})"
        )
        for one in sent
    }
    return open_cases(collection, Case.Reason.CONFLICT, found, replace=False)
