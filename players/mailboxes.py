"""Whose mailbox an address leads to, in however many ways the address may be written."""

from contextlib import suppress

from players.models import normal_address

__all__ = ["mailbox"]

_GMAIL = ("gmail.com", "googlemail.com")


def mailbox(address: str) -> str:
    """One form for all addresses that lead to one mailbox: without +tag and quotes, the host in ASCII; of Gmail's
    two hosts one, and without dots before it. For comparing: people are written to at the address that they gave."""
    name, _at, host = normal_address(address).rpartition("@")
    if len(name) > 2 and name.startswith('"') and name.endswith('"'):
        name = name[1:-1].replace("\\", "")
    name = name.partition("+")[0] or name
    with suppress(UnicodeError):  # no host that a mail could go to
        host = host.rstrip(".").encode("idna").decode().lower()
    if host in _GMAIL:
        host, name = _GMAIL[0], name.replace(".", "") or name
    return f"{name}@{host}"
