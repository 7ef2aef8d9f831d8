"""Who works on the staff pages: inviting people, their roles, deactivating them, and links to set a password."""

from collections.abc import Sequence

from celery import shared_task
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.contrib.auth.models import Group, User
from django.contrib.auth.tokens import default_token_generator
from django.core.cache import cache
from django.core.mail import send_mail
from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode

from console.permissions import PERMISSIONS, is_admin
from core.errors import CounterpartError
from core.events import record

ROLES = tuple(PERMISSIONS)
MAIL_PAUSE = 15 * 60  # seconds, against floods of mail


def roles_of(person: User) -> list[str]:
    """Return the names of a person's roles, in the order of ROLES."""
    named = {group.name for group in person.groups.all()}
    return [role for role in ROLES if role in named]


def is_operator(person: User) -> bool:
    """Whether the account was made on the server and may do more than any role: pages do not change it."""
    return person.is_superuser or person.is_staff


def invite(username: str, *, email: str, roles: Sequence[str], by: User) -> User:
    """Make an account without a password; its owner sets one by ``password_link``.

    Raises CounterpartError for a name that another account has, and if ``by`` is not an admin any more.
    """
    taken = CounterpartError(f"The account {username} exists already. Choose another name.")
    try:
        with transaction.atomic():
            _check_admin(by)
            if User.objects.filter(username__iexact=username).exists():
                raise taken
            person = User.objects.create_user(username, email)  # without a password
            person.groups.set(Group.objects.filter(name__in=roles))
            record("invited", person, actor=by.get_username(), roles=list(roles))
    except IntegrityError as error:
        raise taken from error
    return person


def change(person: User, *, roles: Sequence[str], active: bool, by: User) -> bool:
    """Give a person these roles and no others, and let them log in, or log them out at once and for good; return
    whether that changed anything.

    Raises CounterpartError for the own account of ``by``, so that an admin is always left, for accounts that were
    made on the server, and if ``by`` is not an admin any more.
    """
    with transaction.atomic():
        held = roles_of(_locked(person, by))
        wanted = [role for role in ROLES if role in roles]
        if held != wanted:
            person.groups.remove(*Group.objects.filter(name__in=ROLES).exclude(name__in=wanted))
            person.groups.add(*Group.objects.filter(name__in=wanted))
            record("roles changed", person, actor=by.get_username(), before=held, roles=wanted)
        switched = User.objects.filter(pk=person.pk, is_active=not active).update(is_active=active)
        if switched:
            record("activated" if active else "deactivated", person, actor=by.get_username())
    return bool(switched) or held != wanted


def password_link(person: User, *, by: User) -> str:
    """Return an address where the person sets a password, once, within PASSWORD_RESET_TIMEOUT. Their present password
    is valid until they use it (``use_link``).

    Raises as ``change`` does, and for an account that is not active.
    """
    with transaction.atomic():
        fresh = _locked(person, by)
        if not fresh.is_active:
            raise CounterpartError(f"{person} is deactivated. Activate the account first.")
        record("password link made", person, actor=by.get_username())
    return _link_of(fresh)


def use_link(person: User) -> str:
    """Take the person's password away, which makes all of their links void; return the token with which they set the
    next one, empty if a link was used since ``person`` was read."""
    with transaction.atomic():
        unchanged = User.objects.filter(pk=person.pk, password=person.password)
        if not unchanged.update(password=make_password(None)):
            return ""
        record("password link used", person, actor=person.get_username())
    person.refresh_from_db()
    return default_token_generator.make_token(person)


@shared_task(name="console.tasks.mail_forgotten", ignore_result=True)
def mail_forgotten(email: str) -> None:
    """Mail a password link to the account with this address, to the address as it is stored, at most one in 15 minutes.
    Accounts that are deactivated or were made on the server get none.

    Not a job: it would show whether there is an account.
    """
    for person in User.objects.filter(email__iexact=email, is_active=True, is_superuser=False, is_staff=False):
        if cache.add(f"password-mailed:{person.pk}", True, timeout=MAIL_PAUSE) and mail_link(person, _link_of(person)):
            with transaction.atomic():
                record("password link mailed", person, actor=person.get_username())


def mail_link(person: User, link: str) -> bool:
    """Send a password link to the person's address; return whether it was sent. Not without EMAIL_HOST."""
    if not settings.EMAIL_HOST or not person.email:
        return False
    words = f"Set your password for {settings.SITE_URL}. User name: {person}.\n\n{link}\n\nIt works once.\n"
    try:
        return bool(send_mail("Counterpart: set your password", words, None, [person.email]))
    except OSError:  # of the mail server; the link is on the page
        return False


def _link_of(person: User) -> str:
    token = {
        "uidb64": urlsafe_base64_encode(force_bytes(person.pk)),
        "token": default_token_generator.make_token(person),
    }
    return f"{settings.SITE_URL}{reverse('password_set', kwargs=token)}"


def _locked(person: User, by: User) -> User:
    """Lock both accounts and return the person's, or refuse: two admins cannot remove each other's role at once."""
    if person.pk == by.pk:
        raise CounterpartError("You cannot change your own account here. Ask another admin.")
    found = {one.pk: one for one in User.objects.select_for_update().filter(pk__in=[person.pk, by.pk]).order_by("pk")}
    _check_admin(found[by.pk])
    if person.pk not in found:
        raise CounterpartError(f"The account {person} was removed.")
    if is_operator(found[person.pk]):
        raise CounterpartError(f"{person} was made on the server. Use manage.py changepassword, or the Django admin.")
    return found[person.pk]


def _check_admin(by: User) -> None:
    if not is_admin(by):
        raise CounterpartError("You are no admin any more.")
