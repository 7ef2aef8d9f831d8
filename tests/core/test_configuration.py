import pytest
from django.core.checks import ERROR, WARNING

from core.health import configuration as checks


def test_the_settings_that_come_with_the_house_pass():
    assert checks.messages_at_start(None) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"DEBUG": True, "SITE_URL": "https://judge.example"}, "console.E001"),
        ({"SECRET_KEY": "x"}, "console.E004"),
        ({"SECRET_KEY": "ab" * 40}, "console.E004"),
        ({"SECRET_KEY_FALLBACKS": ["changeme"]}, "console.E004"),
        ({"SITE_URL": "https://judge.example"}, "console.E002"),
        ({"SITE_URL": "https://judge.example/counterpart"}, "console.E005"),
        ({"FORCE_SCRIPT_NAME": "/counterpart"}, "console.E005"),
        ({"BEHIND_TLS": True}, "console.W003"),
        ({"MEDIA_ROOT": "/dev/null/media"}, "console.W004"),
        (
            {"REDIS_URL": "redis://r", "DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3"}}},
            "console.W001",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Overriding setting DATABASES")
def test_settings_that_do_not_work_together_are_named_with_a_hint(settings, change, found):
    for name, value in change.items():
        setattr(settings, name, value)
    named = {message.id: message for message in checks.messages_at_start(None)}
    assert (named[found].level, bool(named[found].hint)) == (ERROR if ".E" in found else WARNING, True)


@pytest.mark.parametrize(
    ("check", "given"),
    [
        ("console.E001", {"DEBUG": True, "SITE_URL": "http://localhost:8000"}),
        ("console.E001", {"DEBUG": False, "SITE_URL": "https://judge.example"}),
        ("console.E002", {"SITE_URL": "https://judge.example:8443", "ALLOWED_HOSTS": ["judge.example"]}),
        ("console.E002", {"SITE_URL": "https://judge.example:8443", "ALLOWED_HOSTS": [".example"]}),
        ("console.E002", {"SITE_URL": "https://judge.example:8443", "ALLOWED_HOSTS": ["*"]}),
        ("console.W004", {"MEDIA_ROOT": "/dev/null/media", "AWS_STORAGE_BUCKET_NAME": "pictures"}),
        ("console.E004", {"SECRET_KEY": "x", "DEBUG": True}),
    ],
)
def test_settings_that_work_together_pass(settings, check, given):
    for name, value in given.items():
        setattr(settings, name, value)
    assert check not in [message.id for message in checks.messages_at_start(None)]


def test_local_state_that_others_may_enter_is_named(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    tmp_path.chmod(0o755)
    (message,) = checks.messages_at_start(None)
    assert (message.id, message.hint) == ("console.W002", f"chmod 700 {tmp_path}")
