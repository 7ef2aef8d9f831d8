from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from annotation.models import Assignment, Rejection
from annotation.review.decisions import decide
from core.command_groups import CommandGroup
from core.commands import ActCommand, argument, person_named
from core.errors import CounterpartError
from core.progress import TerminalBar
from corpus.models import Collection, Sample
from corpus.samples import read_ids
from dataset.models import Review, Subject
from dataset.releases.release_parameters import ConflictsParameters
from dataset.reviews.cases import check_queue, refresh_queue
from dataset.reviews.cleanup import CleanupParameters, suggest_clean_up
from dataset.reviews.conflicts import conflicts_of, merge_counts, preview, send_to_review
from dataset.reviews.reviews import Conclusion, conclude
from dataset.versions.review_rows import known_keys
from hits.models import Round
from hits.round_commands import RoundCommand


class Queue(RoundCommand):
    help = (
        "Bring the reviewers' queue of a round's collection up to date and print its counts. Fails if a pair of the "
        "round without a majority is missing from the queue."
    )

    def act(self, *, round: Round, **options: Any) -> dict[str, Any]:
        counts = refresh_queue(round.pool.collection)
        if not check_queue(round):
            raise CounterpartError(
                f"The queue does not show every pair of {round} without a majority. Do not rely on it; report this "
                "with the round's events."
            )
        return counts


class Decide(ActCommand):
    help = "Decide whether the votes of an assignment count and whether it is paid; not to pay it is a rejection."
    arguments = (
        argument("assignment", type=int, help="the assignment's number, as its page shows it"),
        argument("--votes", choices=["count", "exclude"], required=True, help="whether its votes count"),
        argument("--pay", choices=["yes", "no"], required=True, help="whether it is paid"),
        argument("--reason", required=True, help="why; the worker reads it if they are not paid"),
        argument(
            "--grounds", default="", choices=["", *Rejection.Grounds.values], help="of a rejection; not a control"
        ),
        argument("--evidence", default="", help="of a rejection: what a second person can check"),
        argument("--by", required=True, metavar="USER", help="the member of staff who decides"),
    )

    def act(self, **options: Any) -> str:
        work = Assignment.objects.numbered(options["assignment"])
        decision = decide(
            work,
            votes_count=options["votes"] == "count",
            paid=options["pay"] == "yes",
            reason=options["reason"],
            grounds=options["grounds"],
            evidence=options["evidence"],
            by=person_named(options["by"]),
        )
        return f"Assignment {work.pk}: {decision or 'will be rejected if a second person agrees'}."


class Cleanup(ActCommand):
    help = (
        "Look for meaningless captions, suspicious originals and repeated pictures, put them into the reviewers' "
        "queue, and print its counts. Nothing is excluded."
    )

    def act(self, progress: TerminalBar, *, parameters: CleanupParameters, **options: Any) -> dict[str, Any]:
        return {**suggest_clean_up(parameters, progress=progress)}


class Exclude(ActCommand):
    help = "Exclude captions or images from a collection's dataset, as one person's decision: a review for each."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("collection", help="name of the collection")
        listed = parser.add_mutually_exclusive_group(required=True)
        listed.add_argument("--captions", type=Path, metavar="FILE", help="file of caption ids, one per line")
        listed.add_argument("--images", type=Path, metavar="FILE", help="file of image ids, one per line")
        parser.add_argument("--grounds", choices=Review.Grounds.values, required=True, help="why they are excluded")
        parser.add_argument("--reason", required=True, help="a sentence; recorded with every review")
        parser.add_argument("--by", required=True, metavar="USER", help="the reviewer who decides it")

    def act(self, **options: Any) -> dict[str, Any]:
        collection = Collection.objects.named(options["collection"])
        person = person_named(options["by"])
        if not person.has_perm("annotation.decide_assignment"):
            raise CounterpartError(f"{person} may not review. Ask an admin for the reviewer role.")
        side = "captions" if options["captions"] else "images"
        found = known_keys(collection, side, read_ids(options[side], side)).values()
        subjects: list[Subject] = [(None, pk) if side == "captions" else (pk, None) for pk in found]
        conclusion = Conclusion(Review.Conclusion.EXCLUDED, grounds=options["grounds"], reason=options["reason"])
        reviews = conclude(collection, subjects, conclusion, by=person)
        waiting = sum(not review.is_settled for review in reviews)
        return {f"{side} reviewed": len(reviews), "waiting for a second person": waiting}


class Conflicts(ActCommand):
    help = "Count what a merge would bring, and list the pairs that people refuse and a merged source has."

    def act(self, *, parameters: ConflictsParameters, **options: Any) -> dict[str, Any]:
        sample = Sample.objects.select_related("collection").named(parameters.sample)
        rounds = [Round.objects.named(name) for name in parameters.rounds]
        contents = preview(sample, rounds=rounds, policies=parameters.policies())
        conflicts = conflicts_of(contents)
        figures = merge_counts(contents) | {"listed": [one.as_json() for one in conflicts]}
        return figures | {"sent": send_to_review(sample.collection, conflicts)} if parameters.send else figures


class Command(CommandGroup):
    step = "review"
    help = "Show reviewers what needs a person, and decide: the queue, flagged work, clean-up, conflicts of a merge."
    acts = {"queue": Queue, "decide": Decide, "cleanup": Cleanup, "exclude": Exclude, "conflicts": Conflicts}
