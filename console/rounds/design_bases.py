"""The basis of the page of designs: a judged round, or priors on a pool, as a job stored it."""

from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cached_property

from django.contrib.auth.models import User
from django.db.models import Exists, Max, OuterRef, QuerySet

from console.charts.plots import state_of
from core import clock
from core.errors import CounterpartError
from core.files.stored_files import read_json, write_json
from core.models import Job
from core.work.jobs import JobProgress, job, open_once
from counterpart_statistics.auditing.plan_basis import PlanBasis, Prior
from evaluation.designing.audit_options import AuditOptions, terms_of
from evaluation.designing.predictions import Prediction, predict
from evaluation.designing.round_bases import AUDITED_TASKS, basis_of, unpacked_round
from evaluation.models import Run
from hits.judge_designs import queries_of
from hits.models import Round, Seat
from hits.rounds.round_parameters import PackParameters
from mitl.models import Pool


@dataclass(frozen=True)
class Source:
    """A judged round, or a pool with a prior in place of judgments."""

    about: Round | Pool
    prior: Prior

    @property
    def kind(self) -> str:
        return "pool" if isinstance(self.about, Pool) else "round"

    @property
    def _stated(self) -> str:
        return f"/{self.prior.match_rate:g}/{self.prior.rank_effect:g}" if self.kind == "pool" else ""

    @property
    def code(self) -> str:
        """Its name in links and jobs; ``source_of`` reads it."""
        return f"{self.kind}/{self.about.name}{self._stated}"

    @property
    def query(self) -> dict[str, str]:
        """The fields of the form of designs that choose it."""
        prior = {name: f"{value:g}" for name, value in asdict(self.prior).items()} if self.kind == "pool" else {}
        return {"source": f"{self.kind}/{self.about.name}"} | prior

    @cached_property
    def round(self) -> Round:
        return unpacked_round(self.about) if isinstance(self.about, Pool) else self.about

    @property
    def path(self) -> str:
        """Where its basis is in the storage."""
        return f"plan_bases/{self.kind}-{self.about.pk}{self._stated.replace('/', '-')}.json"

    @property
    def state(self) -> str:
        """A key of the data behind it."""
        runs = Run.objects.filter(collection=self.round.pool.collection_id)
        kind = "estimates" if self.kind == "round" else ""
        return f"{state_of(self.about, kind)}-{runs.aggregate(newest=Max('pk', default=0))['newest']}"


@dataclass(frozen=True)
class StoredBasis:
    """A basis made at the time ``at``; it ``is_current`` while its data are the same."""

    basis: PlanBasis
    at: datetime
    is_current: bool


def judged_rounds() -> QuerySet[Round]:
    """Return the rounds of pairs with answers that count, the latest first."""
    filled = Seat.objects.filter(round=OuterRef("pk"), state=Seat.State.FILLED)
    return Round.objects.filter(Exists(filled), task__in=AUDITED_TASKS).select_related("pool__collection")


def pools_of_pairs() -> QuerySet[Pool]:
    return Pool.objects.filter(n_pairs__gt=0).select_related("collection")


def usual_source() -> str:
    """Return kind and name of the latest judged round, else of the latest pool; empty without either."""
    if judged := judged_rounds().order_by("-pk").first():
        return f"round/{judged.name}"
    pool = pools_of_pairs().order_by("-pk").first()
    return f"pool/{pool.name}" if pool else ""


def find_about(kind: str, name: str) -> Round | Pool:
    """Return a judged round or a pool. Raises CounterpartError for anything else."""
    about: Round | Pool | None = None
    if kind == "round":
        about = judged_rounds().filter(name=name).first()
    elif kind == "pool":
        about = pools_of_pairs().filter(name=name).first()
    if about:
        return about
    raise CounterpartError(f"Cannot plan from {name}. Choose a judged round or a pool.")


def source_of(code: str) -> Source:
    """Return what ``Source.code`` names. Raises CounterpartError for anything else."""
    kind, name, *stated = [*code.split("/"), "", ""][: 4 if code.startswith("pool/") else 2]
    try:
        prior = Prior(*map(float, stated)) if stated else usual_prior()
    except (TypeError, ValueError) as error:
        raise CounterpartError(f"Invalid priors {'/'.join(stated)}: use two numbers.") from error
    return Source(find_about(kind, name), prior)


def usual_prior() -> Prior:
    return AuditOptions().prior


def stored_basis(source: Source) -> StoredBasis | None:
    """Return the newest stored basis; None without one, or where it has the fields of another release."""
    kept = read_json(source.path)
    if kept is None:
        return None
    try:
        basis = PlanBasis.from_json(kept["basis"])
    except (KeyError, TypeError):
        return None
    return StoredBasis(basis, datetime.fromisoformat(kept["at"]), kept["state"] == source.state)


@job("console.tasks.design", needs=("hits.launch_round",))
def design(job: Job, progress: JobProgress) -> str:
    """Make the basis of the plans from a round or pool, and store it."""
    source = source_of(job.params["source"])
    kept = {"at": clock.now().isoformat(), "state": source.state}
    kept["basis"] = basis_of(source.round, source.prior, progress=progress).as_json()
    write_json(source.path, kept)
    return f"Designs can be planned from {source.kind} {source.about}."


def start_design(source: Source, *, by: User) -> Job:
    """Open a job that makes the basis, or return the unfinished one."""
    title = f"Plan from {source.kind} {source.about}"
    return open_once(title, design.name, {"source": source.code}, lock=source.about, by=by)


def prediction_for(code: str, pool: Pool, parameters: PackParameters) -> Prediction | None:
    """Predict a round of the pool with these parameters from the stored basis; None where it cannot be predicted."""
    try:
        kept = stored_basis(source_of(code))
        if kept is None or parameters.task not in AUDITED_TASKS:
            return None
        design = parameters.judge_design(queries_of(pool))
        return predict(kept.basis, pool, design, terms_of(_planned(pool, parameters)))
    except CounterpartError:
        return None


def _planned(pool: Pool, parameters: PackParameters) -> Round:
    return Round(
        pool=pool,
        task=parameters.task,
        design=parameters.composition.as_json(),
        reward=parameters.pay,
        reasons=parameters.reasons,
        replication=parameters.seats,
    )
