from typing import Any

from core.commands import ActCommand
from core.progress import TerminalBar
from corpus.models import Sample
from dataset.releases.release_parameters import ConflictsParameters
from dataset.reviews.conflicts import conflicts_of, merge_counts, preview, send_to_review
from hits.models import Round


class Command(ActCommand):
    step = "review"
    help = "Count what a merge would bring, and list the pairs that people refuse and a merged source has."
    figures = True
    parameters = ConflictsParameters

    def act(self, progress: TerminalBar, *, parameters: ConflictsParameters, **options: Any) -> dict[str, Any]:
        sample = Sample.objects.select_related("collection").named(parameters.sample)
        rounds = [Round.objects.named(name) for name in parameters.rounds]
        contents = preview(sample, rounds=rounds, policies=parameters.policies())
        conflicts = conflicts_of(contents)
        figures = merge_counts(contents) | {"listed": [one.as_json() for one in conflicts]}
        return figures | {"sent": send_to_review(sample.collection, conflicts)} if parameters.send else figures
