"""What pages and commands of a Counterpart site do, from Python."""

from counterpart_client.client import Client, frame
from counterpart_client.http_calls import ApiError, ClientError
from counterpart_client.job_bars import JobFailed

__all__ = ["ApiError", "Client", "ClientError", "JobFailed", "frame"]
