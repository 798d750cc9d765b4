"""Where a visitor comes from: one answer for pages and sockets, and the form of it that limits count by."""

from collections.abc import Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any

from django.conf import settings
from django.http import HttpRequest

__all__ = ["client_address", "limit_key"]


def client_address(source: HttpRequest | Mapping[str, Any]) -> str:
    """The visitor's IP address, of a request or of an ASGI scope; "" when the server does not know its peer.

    Behind TRUSTED_PROXIES proxies it is that many entries from the right of X-Forwarded-For: what stands further to
    the left was written by strangers. A header that is too short or malformed there counts as absent."""
    if isinstance(source, HttpRequest):
        peer, forwarded = source.META.get("REMOTE_ADDR") or "", source.META.get("HTTP_X_FORWARDED_FOR", "")
    else:
        peer = (source.get("client") or ("",))[0]
        lines = [value for name, value in source.get("headers", ()) if name.lower() == b"x-forwarded-for"]
        forwarded = b",".join(lines).decode("latin-1")
    own = _parsed(peer)
    entries = forwarded.split(",")
    if 0 < settings.TRUSTED_PROXIES <= len(entries):
        own = _parsed(_without_port(entries[-settings.TRUSTED_PROXIES])) or own
    return str(own) if own is not None else ""


def limit_key(address: str) -> str:
    """What limits count by: an IPv4 address itself, of an IPv6 address its /64 (one household has all of those)."""
    parsed = _parsed(address)
    if parsed is None:
        return "unknown"
    return str(ip_network((parsed, 64), strict=False)) if isinstance(parsed, IPv6Address) else str(parsed)


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        parsed = ip_address(text.strip())
    except ValueError:
        return None
    if isinstance(parsed, IPv6Address):
        return parsed.ipv4_mapped or IPv6Address(int(parsed))  # without a zone, which only this machine understands
    return parsed


def _without_port(entry: str) -> str:
    """Some proxies write 192.0.2.7:4711 or [2001:db8::7]:4711."""
    entry = entry.strip()
    if entry.startswith("["):
        return entry[1:].partition("]")[0]
    return entry.partition(":")[0] if entry.count(":") == 1 else entry
