"""Acts on a round: pause, resume, close, count its votes, and begin its next turn."""

from django import forms
from django.contrib.auth.models import User
from django.http import QueryDict

from annotation.work.standing import standing_of
from console.acts import Chosen, Landing, acts_of
from console.fields import ParametersForm, choose
from console.money.platform_status import is_on_platform
from console.permissions import researchers_only
from console.places import page_of
from console.rounds.forms import AggregateForm
from console.rounds.schemas import round_or_404
from core.models import Job
from core.text import counted
from core.work.jobs import open_once
from crowd.posting.halts import pauses_of
from crowd.posting.pauses import can_pause, pause_round, resume_round
from crowd.posting.publication import can_close, close_round
from dataset.jobs import close, start_aggregation, start_turn
from dataset.releases.release_parameters import AggregateParameters
from dataset.reviews.cases import update_queue
from dataset.turns import TurnParameters, next_name, version_of
from hits.models import Round, Seat
from hits.task_types import task_type_of
from mitl.models import Annotator

round_act = acts_of(Round, "rounds/<slug:name>/", round_or_404, researchers_only)


@round_act("pause", "Pause {}?", offered=lambda round: can_pause(round) and not round.paused_at)
def round_pause(round: Round, chosen: Chosen, by: User) -> str:
    """No worker gets a new HIT until you resume the round. Workers who have a HIT go on."""
    pause_round(round, actor=by.get_username())
    return f"Round {round} is paused."


@round_act("resume", "Resume {}?", offered=lambda round: can_pause(round) and bool(pauses_of([round])[round.pk]))
def round_resume(round: Round, chosen: Chosen, by: User) -> str:
    """HITs are given out again."""
    resume_round(round, actor=by.get_username())
    return f"Round {round} is resumed."


def _effect_of_closing(round: Round) -> list[str]:
    """Return what follows from closing the round, and how many workers still judge."""
    standing = standing_of(round)
    sentences = [
        "The draft was judged elsewhere. Once closed, it cannot be published any more."
        if round.state == "draft"
        else "No more HITs are given out, and a closed round cannot be reopened.",
        f"{standing.filled:,} of {counted(standing.wanted, 'seat')} are filled.",
    ]
    if not standing.is_complete:
        sentences.append("Seats that stay empty are missing for good: a version includes the round only as unfinished.")
    if judging := standing.work["leased"]:
        sentences.append(f"{counted(judging, 'worker is', 'workers are')} judging now and may still submit.")
    if is_on_platform(round):
        sentences.append("Its postings end. Accepted HITs may still be submitted, and are stored and paid.")
    return sentences


@round_act("close", "Close {}?", button="Close the round", asks=_effect_of_closing, offered=can_close)
def round_close(round: Round, chosen: Chosen, by: User) -> Landing | Job:
    """Close a round, as a job if it is on a platform. Its page then leads to the release."""
    if is_on_platform(round):
        return open_once(f"Close {round}", close.name, {"round": round.name}, lock=round, by=by)
    close_round(round, actor=by.get_username())
    update_queue(round)
    return Landing(f"Round {round} is closed.", page_of(round))


def is_judged(round: Round) -> bool:
    """Whether the round asks about pairs and has answers that count."""
    return task_type_of(round).on_pairs and round.seats.filter(state=Seat.State.FILLED).exists()


@round_act(
    "aggregate",
    "Count the votes of {}",
    label="Count the votes",
    form=lambda data, round: AggregateForm(data),
    offered=is_judged,
    template="console/rounds/aggregate.html",
)
def round_aggregate(round: Round, chosen: Chosen, by: User) -> Job:
    """Every judged pair gets a verdict from the votes that count. Pages show those of the last count; a release counts
    the votes itself, by the method chosen there."""
    return start_aggregation(AggregateParameters(round=round.name, **chosen), by=by)


class TurnForm(ParametersForm):
    """The parameters of a turn, with the versions of the round and all annotators to choose from."""

    act = TurnParameters

    def __init__(self, data: QueryDict | None, round: Round) -> None:
        super().__init__(data, initial={"name": next_name(round)})
        versions = round.versions.order_by("-released_at", "-pk")
        newest = forms.ModelChoiceField(versions, required=False, empty_label=f"The newest: {versions.first()}")
        choose(self, "beyond", newest)
        boxes = forms.CheckboxSelectMultiple
        annotators = forms.ModelMultipleChoiceField(Annotator.objects.all(), required=False, widget=boxes)
        choose(self, "annotators", annotators)

    def clean(self) -> dict[str, object]:
        super().clean()
        return self.chosen()


@round_act(
    "turn",
    "The next turn after {}",
    label="Next turn",
    button="Plan the turn",
    form=TurnForm,
    offered=lambda round: is_judged(round) and task_type_of(round).group == 1 and round.versions.exists(),
)
def round_turn(round: Round, chosen: Chosen, by: User) -> Job:
    """What people judged for the version teaches the annotators: embeddings move towards verified matches and away from
    rejected pairs. They search again for the same queries, and the pairs that the version does not have become a new
    round: an audit of random queries, then likely matches. It is designed and paid as this one, and stays a draft
    until you publish it."""
    version_of(round)
    return start_turn(TurnParameters(round=round.name, **chosen), by=by)
