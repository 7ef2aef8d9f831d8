"""Who signed a request: AWS Signature Version 4, worked out again by botocore's own signer."""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from emulators.mturk.errors import TurkError

REGION = "us-east-1"
SIGNING_NAMES = {"mturk": "mturk-requester", "sqs": "sqs"}
VALID_FOR = timedelta(minutes=15)

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 +Credential=(?P<key>[^/,]+)/(?P<date>\d{8})/(?P<region>[^/,]+)/(?P<service>[^/,]+)/aws4_request"
    r", *SignedHeaders=(?P<headers>[^,]+), *Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class Credential:
    """A key that may sign. ``linked``: its account is linked to the marketplace's requester."""

    access_key: str
    secret_key: str
    linked: bool = True


# These open nothing but an emulator; they are printed by the command and used by its tests.
REQUESTER = Credential("AKIAEMULATEDREQUESTR", "emulated-secret-of-the-requester")
OTHER_ACCOUNT = Credential("AKIAEMULATEDSTRANGER", "emulated-secret-of-another-account", linked=False)


def verify(
    request: Mapping[str, str],
    *,
    method: str,
    url: str,
    body: bytes,
    credentials: Mapping[str, Credential],
    service: str = "mturk",
) -> Credential:
    """Return the credential that signed a request with these headers. Raises TurkError as AWS words it."""
    headers = {name.lower(): value for name, value in request.items()}
    claim = _claim(headers)
    known = credentials.get(claim["key"])
    if known is None:
        raise TurkError("The security token included in the request is invalid.", code="UnrecognizedClientException")
    _check_scope(claim, SIGNING_NAMES[service])
    _check_time(headers.get("x-amz-date", ""), claim["date"])
    if not hmac.compare_digest(_signature(known, claim, headers, method, url, body), claim["signature"]):
        raise _invalid(
            "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
            "Access Key and signing method. Consult the service documentation for details."
        )
    return known


def require_linked(credential: Credential) -> None:
    """Raise the error of an account that is valid and has nothing to do with this requester."""
    if not credential.linked:
        raise TurkError("Your AWS account must be linked to your Amazon Mechanical Turk Account.")


def _claim(headers: Mapping[str, str]) -> dict[str, str]:
    authorization = headers.get("authorization", "")
    if not authorization:
        raise TurkError("Missing Authentication Token", code="MissingAuthenticationTokenException")
    found = _AUTHORIZATION.fullmatch(authorization)
    if found is None:
        raise TurkError(
            "Authorization header requires 'Credential', 'SignedHeaders' and 'Signature' parameters of "
            "AWS4-HMAC-SHA256.",
            code="IncompleteSignatureException",
        )
    return found.groupdict()


def _check_scope(claim: dict[str, str], service: str) -> None:
    if claim["region"] != REGION:
        raise _invalid(f"Credential should be scoped to a valid region, not '{claim['region']}'.")
    if claim["service"] != service:
        raise _invalid(f"Credential should be scoped to correct service: '{service}'.")


def _check_time(stamp: str, date: str) -> None:
    """The signature counts for a quarter of an hour of real time, wherever the emulator's clock stands."""
    try:
        at = datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise _invalid("X-Amz-Date must be in ISO8601 basic format.") from None
    if abs(datetime.now(UTC) - at) > VALID_FOR or not stamp.startswith(date):
        raise _invalid(f"Signature expired: {stamp} is not within {VALID_FOR} of {datetime.now(UTC):%Y%m%dT%H%M%SZ}.")


def _signature(
    known: Credential, claim: dict[str, str], headers: Mapping[str, str], method: str, url: str, body: bytes
) -> str:
    signed = {name: headers[name] for name in claim["headers"].split(";") if name in headers}
    request = AWSRequest(method=method, url=url, headers=signed, data=body)
    request.context["timestamp"] = headers["x-amz-date"]
    signer = SigV4Auth(Credentials(known.access_key, known.secret_key), claim["service"], claim["region"])
    canonical = signer.canonical_request(request)
    return signer.signature(signer.string_to_sign(request, canonical), request)


def _invalid(text: str) -> TurkError:
    return TurkError(text, code="InvalidSignatureException")
