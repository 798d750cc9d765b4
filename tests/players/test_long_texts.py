"""No form does work for texts without end."""

import unicodedata
from typing import Any

import pytest
from django import forms
from django.conf import settings as site
from django.core.validators import MaxLengthValidator
from django.utils.module_loading import import_string

from players.models import Player, normal_address
from players.names import login_name
from rooms import account_forms, staff_forms
from tests.players.accounts import PASSWORD, account, browser, second_step, sign_in, sign_up, signed_in

# One such character is eighteen in the form that names are compared in.
LONG = "\ufdfa" * 20_000
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("quick_hashes")]


def test_long_texts_are_cut_before_they_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    normalize = unicodedata.normalize

    def counting(form: Any, text: str) -> str:
        looked_at.append(len(text))
        return normalize(form, text)

    monkeypatch.setattr(unicodedata, "normalize", counting)
    assert len(login_name(LONG * 20)) <= 200 * 18 * 2
    assert looked_at[0] == 200 and max(looked_at) <= 200 * 18 * 2
    looked_at.clear()
    assert len(normal_address(LONG * 20)) <= 320 * 18
    assert looked_at == [320]


def test_signing_in_with_a_long_name_is_an_error_of_the_form(settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 2**22
    for login in (LONG, f"@{LONG}"):
        answer = sign_in(browser(), login)
        assert answer.status_code == 200 and "login" in answer.context["form"].errors
    ana = account()
    answer = sign_in(browser(), ana.username, "x" * 257)
    assert "at most 256" in str(answer.context["form"].errors["password"])


def test_a_long_password_is_refused_wherever_one_is_set() -> None:
    long = "Zq" + "ab3" * 100
    answer = sign_up(browser(), "Bo", password=long)
    assert "password1" in answer.context["form"].errors and not Player.objects.exists()
    client = signed_in(account())
    new = {"oldpassword": PASSWORD, "password1": long, "password2": long}
    answer = client.post("/accounts/password/change/", new)
    assert {"password1", "password2"} <= set(answer.context["form"].errors)


def test_the_code_of_the_second_step_is_bounded() -> None:
    ana = account()
    second_step(ana)
    client = browser()
    assert sign_in(client, "ana").status_code == 302
    answer = client.post("/accounts/2fa/authenticate/", {"code": "1" * 300})
    assert "at most 254" in str(answer.context["form"].errors["code"])


def test_a_body_that_is_no_form_of_ours_is_not_read() -> None:
    assert sign_in(browser(), "x" * 300_000).status_code == 400


def ends(field: forms.CharField) -> bool:
    return any(isinstance(one, MaxLengthValidator) for one in field.validators)


def test_every_text_of_our_forms_has_an_end() -> None:
    ours = [one for module in (account_forms, staff_forms) for one in vars(module).values() if isinstance(one, type)]
    found = [one for one in ours if issubclass(one, forms.Form) and one.__module__.startswith("rooms.")]
    assert len(found) > 8
    for form in found:
        for name, field in form.base_fields.items():
            assert type(field) is not forms.CharField or ends(field), (form, name)


def test_every_form_of_accounts_is_bounded() -> None:
    names = {*site.ACCOUNT_FORMS.values(), *site.MFA_FORMS.values()}
    for name in names:
        assert any(base.__name__ == "Bounded" for base in import_string(name).__mro__), name
