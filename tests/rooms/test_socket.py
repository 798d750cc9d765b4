"""The live edge with real sockets: a whole match, coming back, who may come in, what is refused, what survives."""

import json
import time
import urllib.request
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus

from games.models import Match, MatchEvent
from rooms.models import Room, Seat
from tests.rooms.stage import stake
from tests.support.site import LiveSite
from tests.support.visitor import Visitor


def test_a_whole_match_with_a_reconnect_in_the_middle(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play(rounds="2")
    socket = ana.sit(code)
    socket.play_out(answers=5)
    before = socket.asked()
    assert before is not None
    hand = socket.update["view"]["hand"]
    socket.drop()
    again = ana.sit(code)
    prompt = again.asked()
    assert prompt == before and again.update["view"]["hand"] == hand
    again.play_out()
    assert again.update["room"]["status"] == "finished" and again.update["view"]["result"]
    match = Match.objects.get()
    assert match.status == "finished"
    ids = MatchEvent.objects.filter(by="seat").values_list("action_id", flat=True)
    assert len(ids) == 16 and len(set(ids)) == 16
    status, page = ana.get(f"/matches/{match.pk}/")
    assert status == 200 and "West" in page


def test_an_update_tells_each_event_once_and_in_order(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    socket = ana.sit(ana.play())
    socket.play_out()
    updates = [json.loads(text) for text in socket.received if text.startswith('{"t":"update"')]
    numbers = [event["n"] for update in updates for event in update["events"]]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    versions = [update["v"] for update in updates]
    assert versions == sorted(set(versions))


def test_the_same_act_twice_is_acknowledged_twice_and_applied_once(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    socket = ana.sit(ana.play())
    prompt = socket.asked()
    assert prompt is not None
    do = prompt["choices"][0]["do"]
    assert socket.act(prompt, do, "same")["t"] == "ack"
    assert socket.act(prompt, do, "same")["t"] == "ack"
    assert socket.act(prompt, prompt["choices"][1]["do"], "same")["code"] == "action_reused"
    assert MatchEvent.objects.filter(action_id="same").count() == 1


def test_two_tabs_both_stay_live_and_either_may_act(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    one, two = ana.sit(code), ana.sit(code)
    prompt = one.asked()
    assert prompt is not None and two.asked() == prompt
    assert two.act(prompt)["t"] == "ack"
    assert one.act(prompt)["code"] in {"stale", "not_your_turn"}


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1.evil.example"]
)
def test_another_origin_is_refused(live_site: LiveSite, origin: str) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    with pytest.raises(InvalidStatus):
        ana.sit(code, origin=origin)


def test_strangers_learn_nothing(live_site: LiveSite) -> None:
    ana, eve, nobody = (Visitor(live_site.url) for _i in range(3))
    code = ana.play()
    eve.play()
    for other in (code, "ZZZZZZZZ"):
        assert eve.get(f"/tables/{other}/")[0] == 404
        socket = eve.sit(other)
        assert socket.closed() == 4404
        assert len(socket.received) == 1 and json.loads(socket.received[0])["code"] == 4404
    assert nobody.get(f"/tables/{code}/")[0] == 404
    assert nobody.sit(code).closed() == 4401


def test_the_session_without_the_seat_token_is_not_enough(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    session = "; ".join(part for part in ana.cookies.split("; ") if not part.startswith("seat="))
    assert ana.sit(code, cookies=session).closed() == 4404
    assert ana.sit(code, cookies=session + "; seat=wrong").closed() == 4404


def test_a_get_makes_no_guest(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    for path in ("/", "/rules/", "/tables/ZZZZZZZZ/", "/healthz", "/jsi18n/"):
        ana.get(path)
    assert not any(cookie.name == "session" for cookie in ana.jar)
    assert not Seat.objects.exists()


def test_malformed_frames_are_refused_and_change_nothing(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    socket = ana.sit(ana.play())
    prompt = socket.asked()
    assert prompt is not None
    version = Room.objects.get().version
    for text in ("", "{", '{"t":"act"}', '{"t":"ping","v":true}', '{"t":"bogus"}', "[[[["):
        socket.send(text)
        assert socket.until(lambda f: f["t"] == "refused")["code"] == "malformed"
    for do in ("bid 8", "bid -1", "bid 1e3", "bid ٣", "play 0-0", "bid 1 "):
        assert socket.act(prompt, do)["code"] in {"illegal", "malformed"}
    assert Room.objects.get().version == version
    assert socket.act(prompt)["t"] == "ack"


@pytest.mark.parametrize("text", ["x" * 4097, '{"t":"ping","v":' + "1" * 5000 + "}"])
def test_an_oversized_frame_closes_the_socket(live_site: LiveSite, text: str) -> None:
    ana = Visitor(live_site.url)
    socket = ana.sit(ana.play())
    socket.asked()
    socket.send(text)
    assert socket.closed() == 4400


def test_a_pong_carries_the_newest_version_and_sync_brings_it(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    socket = ana.sit(ana.play())
    socket.asked()
    version = socket.update["v"]
    socket.send({"t": "ping", "v": 1})
    assert socket.until(lambda f: f["t"] == "pong")["v"] >= version
    socket.send({"t": "sync", "v": 1})
    assert socket.until(lambda f: f["t"] == "update")["v"] >= version


def test_logging_out_elsewhere_closes_the_socket(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    socket = ana.sit(ana.play())
    socket.asked()
    from django.contrib.sessions.models import Session

    Session.objects.all().delete()
    assert socket.closed() == 4403


def test_leaving_by_the_page_frees_the_player(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    status, page = ana.post("/play/", rounds="1", level="medium")
    assert status == 409 and code in page
    assert ana.post(f"/tables/{code}/leave/")[0] == 200
    assert ana.play() != code


def test_a_lost_seat_cookie_is_given_anew_to_the_same_session(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    for cookie in list(ana.jar):
        if cookie.name == "seat":
            ana.jar.clear(cookie.domain, cookie.path, cookie.name)
    assert ana.get(f"/tables/{code}/")[0] == 200 and ana.where == live_site.url + "/"
    assert ana.sit(code).closed() == 4404
    assert ana.post(f"/tables/{code}/return/")[0] == 200 and code in ana.where
    assert ana.sit(code).asked() is not None
    eve = Visitor(live_site.url)
    eve.play()
    eve.post(f"/tables/{code}/return/")
    assert code not in eve.where and ana.sit(code).asked() is not None


def test_too_many_new_tables_cost_no_running_match(other_site: Any) -> None:
    site = other_site(ROOMS_IN_TEN_MINUTES="2")
    ana = Visitor(site.url)
    ana.play()
    code = ana.play(give_up=stake(Room.objects.get()))
    agreed = stake(Room.objects.get(code=code))
    assert ana.post("/play/", rounds="1", level="medium", give_up=agreed)[0] == 429
    assert Room.objects.get(code=code).status != "destroyed"


def test_leaving_a_table_that_is_not_ones_own_keeps_the_seat(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    ana.post("/tables/ZZZZZZZZ/leave/")
    assert ana.sit(code).asked() is not None


@pytest.mark.parametrize("strange", ['prefs={"a": 1}', "a/b=1", "path=x", "name=\u00e9", "x"])
def test_strange_cookies_of_others_do_no_harm(live_site: LiveSite, strange: str) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    assert ana.sit(code, cookies=f"{strange}; {ana.cookies}").asked() is not None


def test_a_session_cookie_that_is_none_is_nobody(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    nul = r'session="' + r"\000" * 9 + '"'
    assert ana.sit(code, cookies=nul).closed() == 4401
    request = urllib.request.Request(live_site.url + "/", headers={"Cookie": nul})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 200


@pytest.mark.parametrize("path", ["/tables/%00/", "/tables/abc/", "/tables/" + "Z" * 300 + "/", "/matches/0/", "/%00"])
def test_strange_addresses_are_not_found(live_site: LiveSite, path: str) -> None:
    assert Visitor(live_site.url).get(path)[0] == 404


@pytest.mark.parametrize("code", ["%00", "nope", "ZZZZZZZZZ"])
def test_a_socket_to_nowhere_is_refused(live_site: LiveSite, code: str) -> None:
    with pytest.raises(InvalidStatus):
        Visitor(live_site.url).sit(code)


def test_monitors_may_ask_with_head(live_site: LiveSite) -> None:
    for path in ("/", "/healthz", "/rules/"):
        request = urllib.request.Request(live_site.url + path, method="HEAD")
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200


def test_giving_up_starts_another_match_in_one_step(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    assert ana.play(give_up=stake(Room.objects.get())) != code
    assert Room.objects.get(code=code).status == "destroyed"


@pytest.mark.parametrize("rounds", ["0", "51", "-1", "1.5", "1e1", "", "٣", "seven", "9" * 40, " 7"])
def test_bad_rounds_get_one_clear_error(live_site: LiveSite, rounds: str) -> None:
    ana = Visitor(live_site.url)
    status, page = ana.post("/play/", rounds=rounds, level="medium")
    assert status == 400 and "1 to 50" in page and not Room.objects.exists()


def test_a_level_that_is_still_coming_cannot_be_chosen(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    assert ana.post("/play/", rounds="1", level="epic")[0] == 400


def test_a_killed_web_process_loses_nothing(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    socket = ana.sit(code)
    socket.play_out(answers=3)
    prompt = socket.asked()
    assert prompt is not None
    before = list(MatchEvent.objects.order_by("number").values_list("number", "body"))
    live_site.kill()
    assert socket.closed() == 1006
    live_site.start()
    started = time.monotonic()
    again = ana.sit(code)
    assert again.asked() == prompt
    assert time.monotonic() - started < 5
    assert list(MatchEvent.objects.order_by("number").values_list("number", "body")) == before
    again.play_out()
    assert again.update["room"]["status"] == "finished"


def test_a_deploy_sends_the_sockets_elsewhere(live_site: LiveSite) -> None:
    ana = Visitor(live_site.url)
    code = ana.play()
    socket = ana.sit(code)
    prompt = socket.asked()
    live_site.terminate()
    assert socket.closed() == 4000
    live_site.start()
    assert ana.sit(code).asked() == prompt


def test_valkey_and_postgresql_may_restart_in_mid_match(lone_site: LiveSite) -> None:
    ana = Visitor(lone_site.url)
    code = ana.play()
    socket = ana.sit(code)
    socket.play_out(answers=2)
    lone_site.restart_valkey()
    socket.play_out(answers=2)
    assert socket.asked() is not None
    lone_site.restart_postgres()
    number = 0
    while (prompt := socket.asked()) is not None:
        number += 1
        for _try in range(50):  # as the page does: the same action again until it is acknowledged
            answer = socket.act(prompt, action_id=f"m{number}")
            if answer["t"] == "ack":
                break
            assert answer["code"] == "try_again", answer
            time.sleep(0.2)
    assert number > 3 and socket.update["room"]["status"] == "finished"
