"""Django settings. docs/operators.md lists every environment variable."""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit

from csp.constants import NONE, SELF
from environs import validate
from kombu import Exchange, Queue

from core.site.environment import (
    at_least_one,
    database,
    env,
    fingerprint,
    folder,
    kept_secrets,
    private_folder,
    scheme_in,
)

BASE_DIR = Path(__file__).resolve().parent.parent
VAR_DIR = folder("VAR_DIR", BASE_DIR / "var")
private_folder(VAR_DIR, ours=VAR_DIR == BASE_DIR / "var")

# numba caches compiled code next to the source; if it cannot write there, importing it fails.
if not os.access(BASE_DIR / "hits", os.W_OK):
    os.environ.setdefault("NUMBA_CACHE_DIR", str(VAR_DIR / "numba"))

DEBUG = env.bool("DEBUG", False)
# Everything is signed with SECRET_KEY; what an older key signed is still valid.
_given = env.str("SECRET_KEY", "")
SECRET_KEY, *SECRET_KEY_FALLBACKS = [_given] if _given else kept_secrets(VAR_DIR / "secret_key")
SECRET_KEY_FALLBACKS += env.list("SECRET_KEY_FALLBACKS", [])
SITE_URL = env.str("SITE_URL", "http://127.0.0.1:8000", validate=scheme_in("http", "https")).rstrip("/")
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", ["127.0.0.1", "localhost"])
CSRF_TRUSTED_ORIGINS: list[str] = env.list("CSRF_TRUSTED_ORIGINS", [])
BEHIND_TLS = env.bool("BEHIND_TLS", SITE_URL.startswith("https://"))
# Number of proxies in front of the site: the visitor's address is read from X-Forwarded-For (core.web.throttles).
PROXY_COUNT = env.int("PROXY_COUNT", 0, validate=validate.Range(min=0, error="must be at least 0"))

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.humanize",
    "django.contrib.messages",
    "django.contrib.sessions",
    "django.contrib.staticfiles",
    "axes",
    "csp",
    "core",
    "integrations",
    "corpus",
    "mitl",
    "hits",
    "annotation",
    "crowd",
    "dataset",
    "evaluation",
    "simulation",
    "console",
    "demo",
]

MIDDLEWARE = [
    "config.probes.probes",
    "django.middleware.security.SecurityMiddleware",
    "core.web.middleware.BodyLimit",
    "core.web.middleware.TextGate",
    "core.web.middleware.judged_pictures",
    "core.web.middleware.CompressText",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "core.web.middleware.api_calls",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "axes.middleware.AxesMiddleware",
    "core.web.middleware.explain_405",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
            "builtins": [
                "django.templatetags.static",
                "django.templatetags.i18n",
                "console.templatetags.console",
                "console.templatetags.charts",
            ],
        },
    },
]

DATABASES = {"default": database(VAR_DIR / "counterpart.sqlite3")}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", "", validate=scheme_in("redis", "rediss", "unix"))
REDIS_PREFIX = env.str("REDIS_PREFIX", "counterpart:")
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": REDIS_PREFIX,
        "KEY_FUNCTION": "core.site.version.cache_key",
    }
    if REDIS_URL
    else {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "OPTIONS": {"MAX_ENTRIES": 100_000}}
}

# Pictures and other stored files. None has a public URL: views check the permissions.
MEDIA_ROOT = folder("MEDIA_ROOT", VAR_DIR / "media")
AWS_STORAGE_BUCKET_NAME = env.str("AWS_STORAGE_BUCKET_NAME", "")
AWS_S3_ENDPOINT_URL = env.str("AWS_S3_ENDPOINT_URL", None, validate=scheme_in("http", "https"))
AWS_S3_SIGNATURE_VERSION = "s3v4"  # The older one signs no checksum of what programs send.
AWS_DEFAULT_ACL = None
FILE_UPLOAD_PERMISSIONS = 0o600
FILE_UPLOAD_DIRECTORY_PERMISSIONS = 0o700
FILE_CACHE = folder("FILE_CACHE", VAR_DIR / "cache")
STORAGES = {
    "default": {
        "BACKEND": "storages.backends.s3.S3Storage"
        if AWS_STORAGE_BUCKET_NAME
        else "core.files.stored_files.WholeFileStorage"
    },
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
# Browsers keep style sheets and scripts for ever, as a change of any of them changes the addresses of all.
STATIC_URL = "static/" if DEBUG else f"static/{fingerprint(BASE_DIR / 'static')}/"
WHITENOISE_IMMUTABLE_FILE_TEST = "^/static/[0-9a-f]{12}/"
STATIC_ROOT = folder("STATIC_ROOT", VAR_DIR / "static")
STATIC_ROOT.mkdir(parents=True, exist_ok=True)
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("ar", "العربية")]  # of the pages of workers
LOCALE_PATHS = [BASE_DIR / "annotation/locale"]
USE_TZ = True
TIME_ZONE = "UTC"

AUTHENTICATION_BACKENDS = ["axes.backends.AxesStandaloneBackend", "django.contrib.auth.backends.ModelBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
AXES_ENABLE_ADMIN = False  # It would delete what is known of logins.
AXES_HANDLER = "console.people.login_lock.LoginLock"
AXES_CLIENT_IP_CALLABLE = "core.web.throttles.client_address"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_FAILURE_LIMIT = 10
LOGIN_FAILURES_OF_ALL = 50  # wrong passwords for one account from all addresses
AXES_COOLOFF_TIME = 0.25  # hours
AXES_RESET_ON_SUCCESS = True
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False  # Nor does a locked address add to the failures of all.
AXES_COOLOFF_MESSAGE = "Too many wrong passwords. Wait 15 minutes, or log in from where you have logged in before."
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "login"

X_FRAME_OPTIONS = "DENY"
# Not no-referrer: with it, browsers send "Origin: null" with a form, which the CSRF check refuses. Either way other
# sites receive no referrer, so the secret parts of worker links stay here.
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = BEHIND_TLS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
# Without a mail server, admins hand out the links that a mail would hold.
EMAIL_HOST = env.str("EMAIL_HOST", "")
EMAIL_PORT = env.int("EMAIL_PORT", 587)
EMAIL_HOST_USER = env.str("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.str("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.bool("EMAIL_USE_TLS", True)
EMAIL_TIMEOUT = 10  # seconds
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", "counterpart@localhost")
SESSION_COOKIE_SECURE = BEHIND_TLS
CSRF_COOKIE_SECURE = BEHIND_TLS
# Browsers give cookies to every port of a host: names of our own, or another site there would log people out.
COOKIES = f"counterpart_{re.sub('[^a-z0-9]+', '_', urlsplit(SITE_URL).netloc.lower())}_"
SESSION_COOKIE_NAME = f"{COOKIES}session"
CSRF_COOKIE_NAME = f"{COOKIES}csrf"
WORKER_COOKIE_NAME = f"{COOKIES}worker"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"  # without a cookie
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "manifest-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
    }
}
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_000

# Without REDIS_URL messages are files in a folder. That broker does not redeliver the messages of a killed
# worker, so the reconciler sends them again from the Job rows (core.work.jobs).
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://") or "files://localhost"
_messages = VAR_DIR / "messages"
if not REDIS_URL:
    _messages.mkdir(parents=True, exist_ok=True)
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {
        "global_keyprefix": REDIS_PREFIX,
        "visibility_timeout": 600,
        "unacked_restore_throttle": 1,
    }
    if REDIS_URL
    else {
        "data_folder_in": _messages,
        "data_folder_out": _messages,
        "control_folder": _messages / "control",
        "polling_interval": 0.05,  # seconds; the default is to wait one second after every message
    }
)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
# Which tasks wait in which queue; a task's own name goes before a pattern. Old job rows keep names, so that many of the
# console's tasks belong to other apps. Without -Q a worker serves all queues; one that serves some may be busy for
# hours, and the others' work goes on.
QUEUES = {
    # Seconds each: the heartbeat, repair, mail, webhooks.
    "default": (
        "core.tasks.*",
        "crowd.tasks.reconcile",
        "evaluation.tasks.ask_likely_matches",
        "console.tasks.mail_forgotten",
        "integrations.tasks.deliver",
    ),
    # Calls to platforms, among them payments, which people wait for.
    "crowd": (
        "crowd.tasks.*",
        *(f"console.tasks.{act}" for act in ("publish", "sync", "audit", "repair", "close", "top_up")),
    ),
    # Minutes of reading and writing many rows: imports, packing, charts, votes, scores, releases, exports, a demo.
    "exports": (
        "console.tasks.*",
        "evaluation.tasks.*",
        "simulation.tasks.*",
        "demo.tasks.*",
        "dataset.tasks.aggregate",
    ),
    # Minutes or hours of computing: searches, training, and plans of rounds, which search.
    "retrieval": ("mitl.tasks.*", "hits.tasks.*", "dataset.tasks.turn"),
}
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in QUEUES]
CELERY_TASK_DEFAULT_QUEUE = "default"
CELERY_TASK_CREATE_MISSING_QUEUES = False  # a worker of a misspelt queue does not start
CELERY_TASK_ROUTES = {pattern: {"queue": name} for name, patterns in QUEUES.items() for pattern in patterns}
RECONCILE_SECONDS = env.int("RECONCILE_SECONDS", 30, validate=at_least_one)
# How often open rounds are synced with their platform, and how long its lists may be out of date.
SYNC_SECONDS = env.int("SYNC_SECONDS", 60, validate=at_least_one)
SYNC_LAG_SECONDS = env.int("SYNC_LAG_SECONDS", 120, validate=validate.Range(min=0))
CHART_SECONDS = 300  # between two looks for charts that are due
CELERY_BEAT_SCHEDULER = "core.work.scheduler:Clock"
CELERY_BEAT_SCHEDULE = {
    "heartbeat": {"task": "core.tasks.heartbeat", "schedule": RECONCILE_SECONDS},
    "reconcile": {"task": "crowd.tasks.reconcile", "schedule": RECONCILE_SECONDS},
    "sync": {"task": "crowd.tasks.sync_rounds", "schedule": SYNC_SECONDS},
    "charts": {"task": "console.tasks.keep_charts", "schedule": CHART_SECONDS},
    "likely matches": {"task": "evaluation.tasks.ask_likely_matches", "schedule": RECONCILE_SECONDS},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(VAR_DIR / "celerybeat-schedule")

# What workers read before they agree: how they reach the researchers (a mail address or a page), who those are and why
# they ask, and how and when they pay. A change makes a new version of the consent sheet.
CONTACT = env.str("CONTACT", "")
RESEARCHERS = env.str("RESEARCHERS", "")
PAYMENT_TERMS = env.str("PAYMENT_TERMS", "")

# How long a worker may keep a HIT before its seat is offered to another worker.
LEASE_MINUTES = env.int("LEASE_MINUTES", 45, validate=at_least_one)
# Mean seconds a pair below which the pair cannot have been read: a person looks at such work. 0: no such limit.
LEAST_SECONDS_A_PAIR = env.float("LEAST_SECONDS_A_PAIR", 1.0, validate=validate.Range(min=0))
# What one address may do in a round within an hour (core.web.throttles).
JOINS_PER_HOUR = env.int("JOINS_PER_HOUR", 10, validate=at_least_one)
TAKES_PER_HOUR = env.int("TAKES_PER_HOUR", 120, validate=at_least_one)
ARRIVALS_PER_HOUR = env.int("ARRIVALS_PER_HOUR", 120, validate=at_least_one)
RESULTS_PER_HOUR = env.int("RESULTS_PER_HOUR", 600, validate=at_least_one)
API_CALLS_PER_MINUTE = env.int("API_CALLS_PER_MINUTE", 600, validate=at_least_one)  # of one token
PASSWORD_MAILS_PER_HOUR = env.int("PASSWORD_MAILS_PER_HOUR", 10, validate=at_least_one)

# A scraper of /metrics has to send it; if it is empty, the page does not exist.
METRICS_TOKEN = env.str("METRICS_TOKEN", "")

LOG_FORMAT = env.str("LOG_FORMAT", "plain", validate=validate.OneOf(["plain", "json"]))
LOG_LEVEL = env.str("LOG_LEVEL", "WARNING", validate=validate.OneOf(["DEBUG", "INFO", "WARNING", "ERROR"]))
# One line per request and per job, in JSON at any level.
_each = {"level": "INFO" if LOG_FORMAT == "json" else LOG_LEVEL}
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "plain": {"()": "config.logs.MaskedFormatter", "fmt": "%(asctime)s %(levelname)s %(name)s %(message)s"},
        "json": {"()": "config.logs.JsonFormatter"},
    },
    "filters": {
        "refusals": {"()": "config.logs.RefusalFilter"},
        "outages": {"()": "config.logs.OutageFilter"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["refusals", "outages"]}
    },
    "loggers": {
        "django": {"handlers": []},  # Its own handlers would write unmasked addresses.
        "django.server": {"handlers": ["stderr"], "propagate": False},
        "requests": _each,
        "core.work.jobs": _each,
    },
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
}
