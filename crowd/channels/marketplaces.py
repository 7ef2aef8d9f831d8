"""What the channels of marketplaces share: near and far addresses, their workers' ids, and the fields of a visit."""

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from annotation.models import Worker, WorkerIdentity
from crowd.channels.base import ChannelError


def invalid(text: str) -> ChannelError:
    """Return the error of a marketplace that is not set up."""
    return ChannelError(text, permanent=True)


def is_near(url: str) -> bool:
    """Whether an address is on this machine, or a neighbour in a private network, such as a compose service: a name
    without a dot."""
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "127.0.0.1", "::1") or ("." not in host and ":" not in host)


def id_on(label: str, worker: Worker, environment: str) -> str:
    """Return the worker's id on a marketplace. Raises ChannelError if there is none, or it was erased."""
    known = WorkerIdentity.objects.filter(worker=worker, channel=label.lower(), environment=environment)
    if external_id := known.values_list("external_id", flat=True).first():
        return str(external_id)
    raise invalid(f"Worker {worker} has no id on {label}'s {environment}. It may have been erased.")


def only_value(label: str, fields: Mapping[str, Sequence[str]], name: str) -> str:
    """Return the one value of a field of a visit, "" where it has none. Raises ChannelError for several."""
    values = set(fields.get(name, ()))
    if len(values) > 1:
        raise foreign_address(label, f"{name} has {len(values)} different values.")
    return values.pop() if values else ""


def foreign_address(label: str, text: str) -> ChannelError:
    """Return the error of a visit at an address that the marketplace does not make."""
    return invalid(f"Not an address that {label} makes: {text}")
