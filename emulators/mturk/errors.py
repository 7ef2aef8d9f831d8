"""What the marketplace says when it refuses: codes and texts as they were seen live."""

from datetime import UTC, datetime


class TurkError(Exception):
    """A refused call. ``code`` is the exception's name on the wire, ``turk_code`` the marketplace's own code.

    ``stamped`` texts end in the epoch milliseconds in parentheses, and in the sandbox " s", as live ones do.
    """

    def __init__(
        self, message: str, *, code: str = "RequestError", turk_code: str | None = None, status: int = 400
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.turk_code = f"AWS.MechanicalTurk.{turk_code}" if turk_code else None
        self.status = status

    @property
    def stamped(self) -> bool:
        return self.code in ("RequestError", "ServiceFault", "ParameterValidationError")

    def text(self, at: datetime, *, sandbox: bool) -> str:
        """Return the message as it travels, at an instant."""
        if not self.stamped:
            return self.message
        return f"{self.message} ({int(at.astimezone(UTC).timestamp() * 1000)}{' s' if sandbox else ''})"


class Refusal(Exception):  # noqa: N818 - an ordinary outcome for a worker, not an error of anybody's
    """A worker may not do this. The text is one clear sentence for their page."""


def does_not_exist(kind: str, id: str) -> TurkError:
    """An id that names nothing here. ``kind``: Hit, Assignment, QualificationType, Qualification, …"""
    turk_kind = "HIT" if kind == "Hit" else kind.replace(" ", "")
    return TurkError(f"{kind} {id} does not exist.", turk_code=f"{turk_kind}DoesNotExist")


def wrong_assignment_state(*allowed: str) -> TurkError:
    """An assignment in a state in which the call makes no sense."""
    return TurkError(
        f"This operation can be called with a status of: {','.join(allowed)}", turk_code="InvalidAssignmentState"
    )


def wrong_hit_state(status: str, *allowed: str) -> TurkError:
    """A HIT in a state in which the call makes no sense."""
    return TurkError(
        f"This HIT is currently in the state '{status}'.  "
        f"This operation can be called with a status of: {', '.join(allowed)}",
        turk_code="InvalidHITState",
    )


def insufficient_funds() -> TurkError:
    return TurkError(
        "This Requester has insufficient funds in their account to complete this transaction.",
        turk_code="InsufficientFunds",
    )


def already_processed(token: str) -> TurkError:
    # The code of this one was never seen written out; clients have to go by the message.
    return TurkError(
        f'The idempotency token "{token}" has already been processed.', turk_code="IdempotencyTokenAlreadyProcessed"
    )


def xml_parse_error(what: str) -> TurkError:
    return TurkError(
        f"There was an error parsing the XML question or answer data in your request. {what}", turk_code="XMLParseError"
    )


def invalid_value(parameter: str, value: object) -> TurkError:
    return TurkError(
        f'The value "{value}" is not valid for the parameter {parameter}.', code="ParameterValidationError"
    )


def out_of_range(parameter: str, value: object, least: object, most: object) -> TurkError:
    return TurkError(
        f"The value {value} is invalid for {parameter}. Valid values range from {least} to {most}.",
        code="ParameterValidationError",
    )


def validation_error(faults: list[str]) -> TurkError:
    """A request that does not fit the service's model: all that is wrong with it in one text."""
    count = f"{len(faults)} validation error{'s' if len(faults) > 1 else ''}"
    return TurkError(f"{count} detected: {'; '.join(faults)}", code="ValidationException")
