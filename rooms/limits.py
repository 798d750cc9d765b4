"""How often codes may be guessed: counted for an identity first, then for an address, all processes together.

A try is counted before the code is looked at, so that fifty at once are no way around the limit. One that fails counts
for a minute; one that succeeds is forgotten after PENDING_SECONDS. A try that is refused counts nowhere: an identity
that is over its limit uses up nothing of its address, and a friend behind the same address still gets in. Browsers
without a player have the address's limit for themselves, and so have players: those who throw their cookies away to
guess anew do not lock out people who already play."""

import functools
import logging
import uuid

import redis
from django.conf import settings
from django.core.cache import cache
from redis.backoff import NoBackoff
from redis.retry import Retry

from players.address import limit_key

__all__ = ["guess_allowed", "guess_failed"]

log = logging.getLogger(__name__)
FAILED_SECONDS = 60
PENDING_SECONDS = 10  # longer than looking a code up may take

# Keys: pending and failed tries of the identity, then of the address; each a set ordered by when it runs out.
_TAKE = """
local clock = redis.call('TIME')
local now = clock[1] + clock[2] / 1000000
for _, key in ipairs(KEYS) do redis.call('ZREMRANGEBYSCORE', key, '-inf', now) end
if redis.call('ZCARD', KEYS[1]) + redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[1]) then return 0 end
if redis.call('ZCARD', KEYS[3]) + redis.call('ZCARD', KEYS[4]) >= tonumber(ARGV[2]) then return 0 end
for _, key in ipairs({KEYS[1], KEYS[3]}) do
    redis.call('ZADD', key, now + ARGV[4], ARGV[3])
    redis.call('EXPIRE', key, ARGV[4] + 1)
end
return 1
"""
_FAIL = """
local now = redis.call('TIME')[1]
for at = 1, 3, 2 do
    redis.call('ZPOPMIN', KEYS[at])
    redis.call('ZADD', KEYS[at + 1], now + ARGV[2], ARGV[1])
    redis.call('EXPIRE', KEYS[at + 1], ARGV[2] + 1)
end
"""


def guess_allowed(identity: str, address: str) -> bool:
    """Whether this identity (`player:17`, `browser:9f…`) at this IP address may try a code now; this counts the try.

    At most GUESSES_A_MINUTE_IDENTITY and GUESSES_A_MINUTE_ADDRESS fail in a minute. Without Valkey nobody may: codes
    are all that keeps a private room private."""
    limits = (settings.GUESSES_A_MINUTE_IDENTITY, settings.GUESSES_A_MINUTE_ADDRESS)
    try:
        return bool(_client().eval(_TAKE, 4, *_keys(identity, address), *limits, uuid.uuid4().hex, PENDING_SECONDS))
    except redis.RedisError as error:
        log.warning("codes cannot be tried: %s", type(error).__name__)
        return False


def guess_failed(identity: str, address: str) -> None:
    """The try that was allowed last opened nothing: it counts for a minute."""
    try:
        _client().eval(_FAIL, 4, *_keys(identity, address), uuid.uuid4().hex, FAILED_SECONDS)
    except redis.RedisError as error:
        log.warning("a failed try was not counted: %s", type(error).__name__)


def _keys(identity: str, address: str) -> list[str]:
    kind = identity.partition(":")[0]
    counted = (f"guesses:{identity}", f"guesses:{kind}@{limit_key(address)}")
    return [str(cache.make_key(f"{name}:{state}")) for name in counted for state in ("pending", "failed")]


@functools.cache
def _client() -> redis.Redis:
    # No second try of a command whose answer was lost: it would count twice.
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1, retry=Retry(NoBackoff(), 0)
    )
