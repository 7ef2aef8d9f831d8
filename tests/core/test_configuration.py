import pytest

from core.health import configuration as checks


def test_the_settings_that_come_with_the_house_pass():
    assert checks.messages_at_start(None) == []


@pytest.mark.parametrize(
    ("check", "change", "found"),
    [
        (checks.no_debug_in_public, {"DEBUG": True, "SITE_URL": "https://judge.example"}, "console.E001"),
        (checks.secret_keys_are_strong, {"SECRET_KEY": "x"}, "console.E004"),
        (checks.secret_keys_are_strong, {"SECRET_KEY": "ab" * 40}, "console.E004"),
        (checks.secret_keys_are_strong, {"SECRET_KEY_FALLBACKS": ["changeme"]}, "console.E004"),
        (checks.hosts_include_the_site, {"SITE_URL": "https://judge.example"}, "console.E002"),
        (checks.site_is_at_the_root, {"SITE_URL": "https://judge.example/counterpart"}, "console.E005"),
        (checks.site_is_at_the_root, {"FORCE_SCRIPT_NAME": "/counterpart"}, "console.E005"),
        (checks.proxies_are_counted, {"BEHIND_TLS": True}, "console.W003"),
        (checks.storage_is_writable, {"MEDIA_ROOT": "/dev/null/media"}, "console.W004"),
        (
            checks.redis_needs_postgresql,
            {"REDIS_URL": "redis://r", "DATABASES": {"default": {"ENGINE": "django.db.backends.sqlite3"}}},
            "console.W001",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:Overriding setting DATABASES")
def test_settings_that_do_not_work_together_are_named_with_a_hint(settings, check, change, found):
    for name, value in change.items():
        setattr(settings, name, value)
    assert checks.AT_START[found] == check
    ((_, hint),) = check()
    assert hint


@pytest.mark.parametrize(
    ("check", "given"),
    [
        (checks.no_debug_in_public, {"DEBUG": True, "SITE_URL": "http://localhost:8000"}),
        (checks.no_debug_in_public, {"DEBUG": False, "SITE_URL": "https://judge.example"}),
        (checks.hosts_include_the_site, {"SITE_URL": "https://judge.example:8443", "ALLOWED_HOSTS": ["judge.example"]}),
        (checks.hosts_include_the_site, {"SITE_URL": "https://judge.example:8443", "ALLOWED_HOSTS": [".example"]}),
        (checks.hosts_include_the_site, {"SITE_URL": "https://judge.example:8443", "ALLOWED_HOSTS": ["*"]}),
        (checks.storage_is_writable, {"MEDIA_ROOT": "/dev/null/media", "AWS_STORAGE_BUCKET_NAME": "pictures"}),
        (checks.secret_keys_are_strong, {"SECRET_KEY": "x", "DEBUG": True}),
    ],
)
def test_settings_that_work_together_pass(settings, check, given):
    for name, value in given.items():
        setattr(settings, name, value)
    assert [*check()] == []


def test_local_state_that_others_may_enter_is_named(settings, tmp_path):
    settings.VAR_DIR = tmp_path
    tmp_path.chmod(0o755)
    (message,) = checks.messages_at_start(None)
    assert (message.id, message.hint) == ("console.W002", f"chmod 700 {tmp_path}")
