"""The Chromium that browser tests drive: found on this machine, never downloaded by a test."""

import os
import shutil
import sys

# The first is Chromium without its windows: a new page costs it an eighth of the processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = (
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-quic",
    "--disable-component-update",
    "--no-first-run",
)
MISSING = (
    "Browser tests need Chromium. Install it (Debian: apt-get install chromium-headless-shell; Ubuntu: apt-get install "
    "chromium-browser; Fedora: dnf install chromium; macOS: brew install --cask chromium), or set CHROMIUM_PATH to the "
    "program of one you have."
)


def path() -> str | None:
    """The program: CHROMIUM_PATH, else the first of the usual names on the PATH."""
    given = os.environ.get("CHROMIUM_PATH")
    if given:
        return shutil.which(given)
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def arguments() -> list[str]:
    """Command line of a browser that talks to nobody but the site; root may not use its sandbox."""
    return [*ARGUMENTS, *(["--no-sandbox"] if os.geteuid() == 0 else [])]


if __name__ == "__main__":
    found = path()
    print(found or MISSING, file=sys.stdout if found else sys.stderr)
    sys.exit(0 if found else 1)
