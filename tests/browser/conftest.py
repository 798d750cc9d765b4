"""What tests in a browser are given."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.player import Arrive

# Every shift of the page that no click explains; read by `shifts`.
WATCH_SHIFTS = """
window.shifts = [];
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    const rect = (r) => [r.x, r.y, r.width, r.height].join(" ");
    const words = (s) => `${s.node?.className} from ${rect(s.previousRect)} to ${rect(s.currentRect)}`;
    window.shifts.push(entry.sources.map(words));
  }
}).observe({ type: "layout-shift", buffered: true });
"""


@pytest.fixture
def watched() -> Iterator[Callable[[Page], None]]:
    """Watches pages: `watched(page)`. Whatever a test does, none of them throws, and the policy blocks nothing."""
    errors: list[str] = []

    def watch(page: Page) -> None:
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on(
            "console",
            lambda message: errors.append(message.text) if "Content Security Policy" in message.text else None,
        )

    yield watch
    assert errors == []


@pytest.fixture
def no_page_errors(page: Page, watched: Callable[[Page], None]) -> None:
    """The page of the test is watched."""
    watched(page)


@pytest.fixture
def arrive(new_context: Callable[..., BrowserContext], watched: Callable[[Page], None]) -> Arrive:
    """Somebody new: a watched page of a browser context of its own."""

    def make(**context: Any) -> Page:
        context.setdefault("viewport", {"width": 1280, "height": 800})
        page = new_context(**context).new_page()
        watched(page)
        page.add_init_script(WATCH_SHIFTS)
        return page

    return make
