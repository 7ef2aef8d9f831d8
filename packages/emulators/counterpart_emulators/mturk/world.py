"""The emulated MTurk behind one lock: the Requester API's operations, and what workers do."""

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from counterpart_emulators.marketplace import Marketplace
from counterpart_emulators.mturk import assignments, balance, hits, qualifications, workers
from counterpart_emulators.mturk.errors import not_emulated
from counterpart_emulators.mturk.lifecycle import MOVES
from counterpart_emulators.mturk.state import State
from counterpart_emulators.mturk.validation import service_model
from counterpart_emulators.world_clock import Clock

OPERATIONS: Mapping[str, Callable[[State, dict[str, Any]], dict[str, Any]]] = {
    "GetAccountBalance": balance.get_account_balance,
    "CreateHITType": hits.create_hit_type,
    "CreateHIT": hits.create_hit,
    "CreateHITWithHITType": hits.create_hit_with_hit_type,
    "GetHIT": hits.get_hit,
    "ListHITs": hits.list_hits,
    "ListReviewableHITs": hits.list_reviewable_hits,
    "UpdateHITReviewStatus": hits.update_review_status,
    "DeleteHIT": hits.delete_hit,
    "CreateAdditionalAssignmentsForHIT": hits.create_additional_assignments,
    "UpdateExpirationForHIT": hits.update_expiration,
    "ListAssignmentsForHIT": assignments.list_assignments_for_hit,
    "GetAssignment": assignments.get_assignment,
    "ApproveAssignment": assignments.approve_assignment,
    "RejectAssignment": assignments.reject_assignment,
    "SendBonus": assignments.send_bonus,
    "ListBonusPayments": assignments.list_bonus_payments,
    "NotifyWorkers": workers.notify_workers,
    "CreateQualificationType": qualifications.create_qualification_type,
    "GetQualificationType": qualifications.get_qualification_type,
    "ListQualificationTypes": qualifications.list_qualification_types,
    "ListQualificationRequests": qualifications.list_qualification_requests,
    "AcceptQualificationRequest": qualifications.accept_qualification_request,
    "RejectQualificationRequest": qualifications.reject_qualification_request,
    "AssociateQualificationWithWorker": qualifications.associate_qualification,
    "DisassociateQualificationFromWorker": qualifications.disassociate_qualification,
    "GetQualificationScore": qualifications.get_qualification_score,
}


class World(Marketplace[State]):
    """MTurk with one requester. In the ``sandbox`` money never runs out. Raises JournalError.

    Methods named like acts do what those do.
    """

    acts = {
        **Marketplace.acts,
        "register_worker": workers.register_worker,
        "accept": workers.accept,
        "submit": workers.submit,
        "return_assignment": workers.return_assignment,
        "request_qualification": qualifications.request_qualification,
        "set_premium_fee": balance.set_premium_fee,
        "set_reissue": workers.set_reissue,
    }
    moves = MOVES

    def __init__(
        self,
        *,
        seed: int = 0,
        sandbox: bool = False,
        balance: str = "10000.00",
        journal: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        state = State(seed=seed, sandbox=sandbox)
        settings = {"seed": seed, "sandbox": sandbox}
        super().__init__(state, settings, balance=balance, journal=journal, clock=clock)

    def call(self, operation: str, params: dict[str, Any]) -> dict[str, Any]:
        """Do an operation of the Requester API whose parameters fit the model. Raises TurkError."""
        if operation not in OPERATIONS:
            known = len(service_model().operation_names)
            raise not_emulated(
                f"{operation} is not emulated; the emulator has {len(OPERATIONS)} of the {known} operations."
            )
        if operation.startswith(("Get", "List")):  # changes nothing, so the journal does not need it
            with self.looking():
                return self._do(operation, params)
        return self.act(operation, **params)

    def register_worker(self, worker_id: str | None = None, **profile: Any) -> str:
        return str(self.act("register_worker", worker_id=worker_id, **profile)["WorkerId"])

    def accept(self, hit_id: str, worker_id: str) -> dict[str, Any]:
        return self.act("accept", hit_id=hit_id, worker_id=worker_id)

    def submit(
        self, assignment_id: str, worker_id: str, fields: dict[str, str], *, answer: str | None = None
    ) -> dict[str, Any]:
        return self.act("submit", assignment_id=assignment_id, worker_id=worker_id, fields=fields, answer=answer)

    def return_assignment(self, assignment_id: str, worker_id: str) -> dict[str, Any]:
        return self.act("return_assignment", assignment_id=assignment_id, worker_id=worker_id)

    def request_qualification(self, type_id: str, worker_id: str) -> dict[str, Any]:
        return self.act("request_qualification", type_id=type_id, worker_id=worker_id)

    def counts(self) -> dict[str, Any]:
        with self.looking() as state:
            hits = state.hits.values()
            assignments = Counter(each.status for hit in hits for each in hit.assignments)
            statuses = Counter(hit.status for hit in hits)
            return {"HITs": dict(statuses), "assignments": dict(assignments), "workers": len(state.workers)}

    def _do(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if name in OPERATIONS:
            return OPERATIONS[name](self._state, arguments)
        return super()._do(name, arguments)
