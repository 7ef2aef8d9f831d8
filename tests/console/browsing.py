"""A browser that is logged in to the staff's pages."""

from django.conf import settings
from playwright.sync_api import Page

from tests.conftest import client_of


def log_in(page: Page, site_url: str) -> Page:
    session = client_of("admin").cookies[settings.SESSION_COOKIE_NAME].value
    page.context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": session, "url": site_url}])
    return page
