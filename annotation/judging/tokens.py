"""The signed links that stand in for a login: one names a worker in a round, one a single assignment, one a turn."""

import secrets
from datetime import timedelta
from typing import Any

from django.core import signing

from annotation.models import Assignment, Worker
from crowd.models import PlatformAssignment
from hits.models import Round

WORKER_SALT = "counterpart.judging.worker"
ASSIGNMENT_SALT = "counterpart.judging.assignment"
VISIT_SALT = "counterpart.judging.visit"
TURN_SALT = "counterpart.judging.turn"

WORKER_LIFE = timedelta(days=180)
ASSIGNMENT_LIFE = timedelta(days=7)
VISIT_LIFE = timedelta(days=1)
TURN_LIFE = timedelta(days=7)  # longer than any offer lets a worker keep a HIT


def worker_token(worker: Worker, round: Round) -> str:
    return signing.dumps([worker.pseudonym, round.pk], salt=WORKER_SALT)


def assignment_token(assignment: Assignment) -> str:
    return signing.dumps(assignment.pk, salt=ASSIGNMENT_SALT)


def visit_token() -> str:
    """Name one showing of the consent form, so that sending it twice makes one worker."""
    return signing.dumps(secrets.token_hex(16), salt=VISIT_SALT)


def turn_token(turn: PlatformAssignment, submit_url: str) -> str:
    """Name a turn at a posted HIT, and where its form has to be sent."""
    return signing.dumps([turn.pk, submit_url], salt=TURN_SALT)


def read_worker_token(token: str) -> tuple[str, int]:
    """Return the worker's pseudonym and the round's key. Raises BadSignature, SignatureExpired among them."""
    pseudonym, round_id = _read(token, WORKER_SALT, WORKER_LIFE)
    return pseudonym, round_id


def read_assignment_token(token: str) -> int:
    """Return the assignment's key. Raises BadSignature, SignatureExpired among them."""
    return int(_read(token, ASSIGNMENT_SALT, ASSIGNMENT_LIFE))


def read_turn_token(token: str) -> tuple[int, str]:
    """Return the turn's key and the address for its form. Raises BadSignature, SignatureExpired among them."""
    key, submit_url = _read(token, TURN_SALT, TURN_LIFE)
    return key, submit_url


def read_visit_token(token: str) -> str:
    """Return the visit's random name. Raises BadSignature, SignatureExpired among them."""
    return str(_read(token, VISIT_SALT, VISIT_LIFE))


def _read(token: str, salt: str, life: timedelta) -> Any:
    return signing.loads(token, salt=salt, max_age=life)
