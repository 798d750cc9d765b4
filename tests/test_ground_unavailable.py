"""A database that does not answer in time is a calm 503, and a fault of ours stays a 500."""

import pytest
from django.db import IntegrityError, OperationalError
from django.test import Client, RequestFactory

from dominopoker.unavailable import DatabaseBusy
from rooms import lobby_rows


def test_a_lock_that_is_not_to_be_had_is_a_503(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def held(*_arguments: object) -> None:
        raise OperationalError("canceling statement due to lock timeout")

    monkeypatch.setattr(lobby_rows, "read", held)
    answer = Client().get("/lobby/")
    assert answer.status_code == 503 and answer["Retry-After"] == "2"
    assert b"Nothing was changed" in answer.content


def test_a_broken_rule_is_not_hidden_as_a_503() -> None:
    busy = DatabaseBusy(lambda _request: pytest.fail("not asked"))
    assert busy.process_exception(RequestFactory().get("/"), IntegrityError("duplicate key")) is None
    assert busy.process_exception(RequestFactory().get("/"), ValueError("ours")) is None
