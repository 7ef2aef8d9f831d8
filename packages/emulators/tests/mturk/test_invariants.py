"""Whatever requesters, workers and time do, the money balances and a restart finds the same world."""

from contextlib import suppress
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from counterpart_emulators.marketplace import Refusal
from counterpart_emulators.mturk.errors import TurkError
from counterpart_emulators.mturk.world import World
from counterpart_emulators.world_clock import Clock
from tests.mturk.conftest import NOON, QUESTION, TYPE

picks = st.integers(0, 50)


class Marketplace(RuleBasedStateMachine):
    """A few workers and HITs with little money, so that everything that can be refused is refused at times."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.path = Path(self.folder.name) / "journal.jsonl"
        self.world = World(seed=1, balance="20.00", journal=self.path, clock=Clock(lambda: NOON))
        self.type_id = self.world.call("CreateHITType", TYPE)["HITTypeId"]
        self.workers = [self.world.register_worker() for _ in range(4)]

    def teardown(self) -> None:
        self.folder.cleanup()

    def attempt(self, call, *arguments, **named) -> None:
        with suppress(TurkError, Refusal):
            call(*arguments, **named)

    def some(self, table: str, pick: int) -> str:
        with self.world.looking() as state:
            ids = list(getattr(state, table)) or ["3NOTHING"]
        return ids[pick % len(ids)]

    @rule(places=st.sampled_from([1, 2, 3, 9, 10]), lifetime=st.sampled_from([30, 500, 5000]))
    def post(self, places, lifetime):
        wanted = {"HITTypeId": self.type_id, "Question": QUESTION}
        self.attempt(
            self.world.call,
            "CreateHITWithHITType",
            wanted | {"MaxAssignments": places, "LifetimeInSeconds": lifetime},
        )

    @rule(hit=picks, worker=picks)
    def accept(self, hit, worker):
        self.attempt(self.world.accept, self.some("hits", hit), self.workers[worker % 4])

    @rule(work=picks, give_back=st.booleans())
    def end(self, work, give_back):
        assignment_id = self.some("assignments", work)
        with self.world.looking() as state:
            known = state.assignments.get(assignment_id)
        worker_id = known.worker_id if known else "ANOBODY"
        if give_back:
            self.attempt(self.world.return_assignment, assignment_id, worker_id)
        else:
            self.attempt(self.world.submit, assignment_id, worker_id, {"a": "1"})

    @rule(work=picks, operation=st.sampled_from(["ApproveAssignment", "RejectAssignment", "override", "SendBonus"]))
    def decide(self, work, operation):
        assignment_id = self.some("assignments", work)
        params = {"AssignmentId": assignment_id, "RequesterFeedback": "r"}
        if operation == "SendBonus":
            with self.world.looking() as state:
                known = state.assignments.get(assignment_id)
            worker = known.worker_id if known else "ANOBODY"
            params = {"AssignmentId": assignment_id, "WorkerId": worker, "BonusAmount": "0.33", "Reason": "r"}
        if operation == "override":
            operation, params = "ApproveAssignment", params | {"OverrideRejection": True}
        self.attempt(self.world.call, operation, params)

    @rule(hit=picks, more=st.integers(1, 3))
    def add_places(self, hit, more):
        params = {"HITId": self.some("hits", hit), "NumberOfAdditionalAssignments": more}
        self.attempt(self.world.call, "CreateAdditionalAssignmentsForHIT", params)

    @rule(hit=picks, seconds=st.sampled_from([-1, 100, 5000, 90_000]))
    def move_expiry(self, hit, seconds):
        until = self.world.clock.now() + timedelta(seconds=seconds)
        self.attempt(self.world.call, "UpdateExpirationForHIT", {"HITId": self.some("hits", hit), "ExpireAt": until})

    @rule(hit=picks, operation=st.sampled_from(["DeleteHIT", "UpdateHITReviewStatus"]))
    def review(self, hit, operation):
        self.attempt(self.world.call, operation, {"HITId": self.some("hits", hit)})

    @rule(by=st.sampled_from([1, 300, 1000, 90_000, 8 * 86_400, 121 * 86_400]))
    def wait(self, by):
        self.world.move_clock(by=timedelta(seconds=by))

    @rule()
    def restart(self):
        again = World(seed=1, journal=self.path, clock=Clock(lambda: NOON))
        with self.world.looking() as before, again.looking() as after:
            for table in ("hits", "ledger", "workers", "tokens", "counters"):
                assert repr(getattr(after, table)) == repr(getattr(before, table))
        self.world = again

    @invariant()
    def the_ledger_balances(self):
        with self.world.looking() as state:
            assert sum(entry.available for entry in state.ledger.entries) == state.ledger.available >= 0
            assert sum(entry.on_hold for entry in state.ledger.entries) == state.ledger.on_hold >= 0
            paid = sum((a.hit.type.reward + a.hit.fee for a in approved(state)), Decimal(0))
            bonuses = sum((bonus.amount + Decimal("0.07") for bonus in state.bonuses), Decimal(0))
            assert state.ledger.available + state.ledger.on_hold + paid + bonuses == Decimal("20.00")

    @invariant()
    def just_the_work_that_may_have_to_be_paid_is_held(self):
        with self.world.looking() as state:
            for hit in state.hits.values():
                owed = hit.count("Accepted", "Submitted") + (0 if hit.expired else hit.free)
                assert hit.held == owed
            assert state.ledger.on_hold == sum(hit.held * (hit.type.reward + hit.fee) for hit in state.hits.values())

    @invariant()
    def no_hit_is_done_twice_by_a_worker_and_no_place_is_given_twice(self):
        with self.world.looking() as state:
            for hit in state.hits.values():
                done = [each.worker_id for each in hit.assignments if each.submitted_at]
                assert len(done) == len(set(done))
                assert hit.free >= 0


def approved(state):
    return [each for hit in state.hits.values() for each in hit.assignments if each.status == "Approved"]


TestMarketplace = Marketplace.TestCase
TestMarketplace.settings = settings(max_examples=40, stateful_step_count=50, deadline=None, derandomize=True)
