"""How the site is served, everywhere: gunicorn --config config/gunicorn.py. WEB_CONCURRENCY sets the processes."""

import os
import shutil
import tempfile
from typing import Any

# An invalid variable is reported once, in one line, and not by each worker that fails.
from config import settings

wsgi_app = "config.wsgi"
worker_class = "config.web_worker.WebWorker"
threads = 8
timeout = 30  # seconds for a request to arrive, and for each read of an upload and each write of an answer
keepalive = 10  # seconds of silence after which a connection is closed
graceful_timeout = 30  # seconds that running requests have when the site stops
control_socket_disable = True  # its file would be in the home folder
umask = 0o077  # What it writes into VAR_DIR is for its owner alone.
# The path alone: queries that a platform adds, and referrers, identify workers.
access_log_format = "%(t)s %(m)s %(U)s %(s)s %(B)s %(M)sms"

if settings.LOG_FORMAT == "json":
    levels = {"gunicorn.error": "INFO", "gunicorn.access": "WARNING"}  # config.probes logs the requests
    logconfig_dict = {
        **settings.LOGGING,
        "loggers": {name: {"level": level, "handlers": [], "propagate": True} for name, level in levels.items()},
    }

if settings.METRICS_TOKEN:  # read by prometheus_client: where the processes count
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix="counterpart-metrics-")


def on_exit(server: Any) -> None:
    if settings.METRICS_TOKEN:
        shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)
