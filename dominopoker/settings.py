"""All settings of the site, flat and from the environment: a value that is missing or wrong stops the start."""

import os
import tomllib
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent


def env(name: str, default: str | None = None) -> str:
    """The variable's text; without one, the default; without a default, a refusal to start."""
    value = os.environ.get(name, default)
    if value is None or value == "":
        if default == "":
            return ""
        raise ImproperlyConfigured(f"{name} must be set (see .env.example)")
    return value


def env_bool(name: str, default: bool) -> bool:
    text = env(name, "1" if default else "0")
    if text not in {"0", "1"}:
        raise ImproperlyConfigured(f"{name} must be 0 or 1, not {text!r}")
    return text == "1"


def env_int(name: str, default: int, low: int, high: int) -> int:
    text = env(name, str(default))
    if not (text.isascii() and text.isdigit()) or not low <= int(text) <= high:
        raise ImproperlyConfigured(f"{name} must be a whole number from {low} to {high}, not {text!r}")
    return int(text)


def env_seconds(name: str, default: float) -> float:
    text = env(name, str(default))
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 365 * 86400:
        raise ImproperlyConfigured(f"{name} must be a number of seconds, not {text!r}")
    return value


def env_list(name: str, default: str) -> list[str]:
    return [item.strip() for item in env(name, default).split(",") if item.strip()]


def database(name: str) -> dict[str, Any]:
    """A DATABASES entry from a postgresql:// address; a socket directory may stand in ?host=."""
    url = urlsplit(env(name))
    if url.scheme not in {"postgresql", "postgres"}:
        raise ImproperlyConfigured(f"{name} must begin with postgresql://")
    query = dict(parse_qsl(url.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": unquote(url.path.lstrip("/")),
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": query.pop("host", None) or url.hostname or "",
        "PORT": query.pop("port", None) or str(url.port or ""),
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            **query,
            "options": "-c lock_timeout=2s -c statement_timeout=5s -c idle_in_transaction_session_timeout=10s",
            "pool": {
                "min_size": 1,
                "max_size": env_int("DATABASE_POOL_SIZE", 10, 1, 200),
                "timeout": 5,
                "max_lifetime": 600,
            },
        },
    }


# Commands that never touch the database (conform, bench, compilemessages) run without one.
WITHOUT_DATABASE = env_bool("WITHOUT_DATABASE", False)
# `migrate` runs as the owner of the tables, the site as a role that cannot change them (docs/operations.md).
DB_ROLE = env("DB_ROLE", "app")
if DB_ROLE not in {"app", "owner"}:
    raise ImproperlyConfigured(f"DB_ROLE must be app or owner, not {DB_ROLE!r}")

DEBUG = env_bool("DEBUG", False)
PRODUCTION = env_bool("PRODUCTION", False)
SECRET_KEY = env("SECRET_KEY", "no-database-no-sessions-no-secret" if WITHOUT_DATABASE else None)
# Keys of before, newest first: what they signed or sealed still holds.
SECRET_KEY_FALLBACKS = env_list("SECRET_KEY_FALLBACKS", "")
SITE_URL = env("SITE_URL", f"http://127.0.0.1:{os.environ.get('PORT', '8000')}").rstrip("/")
ALLOWED_HOSTS = env_list("ALLOWED_HOSTS", "127.0.0.1,localhost,[::1]")
# Full origins (scheme, host, port) that may open sockets and post forms: another port is another site.
ALLOWED_ORIGINS = env_list("ALLOWED_ORIGINS", SITE_URL)
CSRF_TRUSTED_ORIGINS = ALLOWED_ORIGINS if PRODUCTION else []
# Proxies in front of us whose X-Forwarded-For entries are trusted, counted from the right.
TRUSTED_PROXIES = env_int("TRUSTED_PROXIES", 0, 0, 10)
VERSION = tomllib.loads((BASE_DIR / "pyproject.toml").read_text())["project"]["version"]

INSTALLED_APPS = [
    "daphne",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "channels",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "django_htmx",
    "csp",
    "players",
    "wallet",
    "games",
    "stats",
    "rooms",
]
MIDDLEWARE = [
    "dominopoker.address.ClientAddress",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "dominopoker.headers.PrivacyHeaders",
    "dominopoker.cookies.OwnCookies",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "dominopoker.charset.UnicodeForms",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "dominopoker.unavailable.DatabaseBusy",
    "players.doors.Doors",
]
ROOT_URLCONF = "dominopoker.urls"
ASGI_APPLICATION = "dominopoker.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "rooms.context.purse",
            ]
        },
    }
]

DATABASES: dict[str, Any] = (
    {"default": {"ENGINE": "django.db.backends.dummy"}}
    if WITHOUT_DATABASE
    else {"default": database("DATABASE_OWNER_URL" if DB_ROLE == "owner" else "DATABASE_URL")}
)
if DB_ROLE == "owner" and not WITHOUT_DATABASE:
    DATABASES["default"]["OPTIONS"].pop("options")  # a migration may take longer than a request
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env("REDIS_URL", "redis://unused" if WITHOUT_DATABASE else None)
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": 30}], "prefix": env("CHANNEL_PREFIX", "domino")},
    }
}
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": env("CHANNEL_PREFIX", "domino"),
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
}

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = env("CHANNEL_PREFIX", "domino")
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# A message that waited longer than its period is thrown away: the next beat brings the same work.
CELERY_BEAT_SCHEDULE = {
    "ring_due": {"task": "rooms.tasks.ring_due", "schedule": 1.0, "options": {"expires": 2}},
    "drop_stale_connections": {
        "task": "rooms.tasks.drop_stale_connections",
        "schedule": 5.0,
        "options": {"expires": 10},
    },
    "expire_rooms": {"task": "rooms.tasks.expire_rooms", "schedule": 30.0, "options": {"expires": 60}},
    "close_abandoned": {"task": "rooms.tasks.close_abandoned", "schedule": 5.0, "options": {"expires": 10}},
    "seal_days": {"task": "wallet.tasks.seal_days", "schedule": 900.0, "options": {"expires": 900}},
    "expire_corrections": {"task": "wallet.tasks.expire_corrections", "schedule": 300.0, "options": {"expires": 300}},
    "check_ledger": {"task": "wallet.tasks.check_ledger", "schedule": 3600.0, "options": {"expires": 3600}},
    "shut_out_banned": {"task": "rooms.tasks.shut_out_banned", "schedule": 5.0, "options": {"expires": 10}},
    "lift_bans": {"task": "rooms.tasks.lift_bans", "schedule": 60.0, "options": {"expires": 120}},
    "forget_ended_sessions": {
        "task": "rooms.tasks.forget_ended_sessions",
        "schedule": 3600.0,
        "options": {"expires": 3600},
    },
    "give_missing_bonuses": {
        "task": "rooms.tasks.give_missing_bonuses",
        "schedule": 300.0,
        "options": {"expires": 300},
    },
    "forget_unconfirmed": {"task": "rooms.tasks.forget_unconfirmed", "schedule": 3600.0, "options": {"expires": 3600}},
    "forget_old_visits": {"task": "rooms.tasks.forget_old_visits", "schedule": 3600.0, "options": {"expires": 3600}},
    "rate_matches": {"task": "stats.tasks.rate_matches", "schedule": 5.0, "options": {"expires": 10}},
    "forget_idle_guests": {"task": "rooms.tasks.forget_idle_guests", "schedule": 3600.0, "options": {"expires": 3600}},
}

AUTH_USER_MODEL = "players.Player"
AUTHENTICATION_BACKENDS = ["players.backends.NameOrAddress"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator"},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
LOGIN_URL, LOGIN_REDIRECT_URL, LOGOUT_REDIRECT_URL = "account_login", "home", "home"

# Accounts (docs/accounts.md).
EMAIL_VERIFICATION = env("EMAIL_VERIFICATION", "mandatory" if PRODUCTION else "none")
if EMAIL_VERIFICATION not in {"mandatory", "none"}:
    raise ImproperlyConfigured(f"EMAIL_VERIFICATION must be mandatory or none, not {EMAIL_VERIFICATION!r}")
SIGN_INS_A_MINUTE = env_int("SIGN_INS_A_MINUTE", 30, 1, 1_000_000)
FAILED_SIGN_INS = env_int("FAILED_SIGN_INS", 5, 1, 1_000_000)
SIGN_UPS_AN_HOUR = env_int("SIGN_UPS_AN_HOUR", 5, 1, 1_000_000)
RESETS_AN_HOUR = env_int("RESETS_AN_HOUR", 5, 1, 1_000_000)
NAMES_A_DAY = env_int("NAMES_A_DAY", 5, 1, 1_000_000)
EXPORTS_AN_HOUR = env_int("EXPORTS_AN_HOUR", 5, 1, 1_000_000)
STAFF_IDLE_SECONDS = env_seconds("STAFF_IDLE_SECONDS", 1800)
ACCOUNT_ADAPTER = "rooms.adapter.SiteAdapter"
ACCOUNT_FORMS = {
    "login": "rooms.account_forms.LoginForm",
    "signup": "players.forms.SignupForm",
    "reset_password": "players.forms.ResetPasswordForm",
    "reset_password_from_key": "players.forms.ResetPasswordKeyForm",
    "change_password": "players.forms.ChangePasswordForm",
    "set_password": "players.forms.SetPasswordForm",
    "add_email": "players.forms.AddEmailForm",
    "reauthenticate": "players.forms.ReauthenticateForm",
}
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = EMAIL_VERIFICATION
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_LOGIN_ON_EMAIL_CONFIRMATION = True
ACCOUNT_SESSION_REMEMBER = True
# Guests are signed in, and may sign up or in all the same; `rooms.account_views` sends registered players away.
ACCOUNT_AUTHENTICATED_LOGIN_REDIRECTS = False
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_DEFAULT_HTTP_PROTOCOL = "https" if PRODUCTION else "http"
ACCOUNT_USER_DISPLAY = "players.selectors.shown_name"
ACCOUNT_RATE_LIMITS = {
    "login": f"{SIGN_INS_A_MINUTE}/m/ip",
    "login_failed": f"{FAILED_SIGN_INS}/5m/key",
    "signup": f"{SIGN_INS_A_MINUTE}/m/ip",  # forms sent, with errors or without
    "sign_up": f"{SIGN_UPS_AN_HOUR}/h/ip",  # those without errors
    "reset_password": f"{RESETS_AN_HOUR}/h/key",
}
MFA_ADAPTER = "players.adapter.SecondStepAdapter"
MFA_FORMS = {
    "authenticate": "players.forms.AuthenticateForm",
    "reauthenticate": "players.forms.SecondStepForm",
    "activate_totp": "players.forms.ActivateTOTPForm",
}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "Domino Poker"
MFA_TOTP_TOLERANCE = 1  # a code may be one period old or early: typing takes time, and clocks differ (RFC 6238, 5.2)
# Whether an address must be confirmed first is asked by `players.doors`.
MFA_ALLOW_UNVERIFIED_EMAIL = True

# Mail: to the log unless the site is in production.
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if PRODUCTION else 'console'}.EmailBackend"
EMAIL_HOST = env("EMAIL_HOST", "localhost")
EMAIL_PORT = env_int("EMAIL_PORT", 587 if PRODUCTION else 25, 1, 65535)
EMAIL_HOST_USER = env("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env_bool("EMAIL_USE_TLS", PRODUCTION)
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env("MAIL_FROM", f"Domino Poker <noreply@{urlsplit(SITE_URL).hostname}>")

# Nobody sends us more than a form; a longer one is answered with 400 before it is read.
DATA_UPLOAD_MAX_MEMORY_SIZE = 262_144
SESSION_COOKIE_AGE = 60 * 86400
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SEAT_COOKIE_SECURE = PRODUCTION
SESSION_COOKIE_NAME = "__Host-session" if PRODUCTION else "session"
CSRF_COOKIE_NAME = "__Host-csrf" if PRODUCTION else "csrf"
SEAT_COOKIE_NAME = "__Host-seat" if PRODUCTION else "seat"
NOTICES_COOKIE_NAME = "__Host-notices" if PRODUCTION else "notices"
MESSAGE_STORAGE = "dominopoker.notices.Notices"
if PRODUCTION:
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 365 * 86400
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = True
X_FRAME_OPTIONS = "DENY"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English")]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_TZ = True
TIME_ZONE = "UTC"

STATIC_URL = "/static/"
STATIC_ROOT = Path(env("STATIC_ROOT", str(BASE_DIR / ".local" / "static")))
STATICFILES_DIRS = [BASE_DIR / "static"]
# Production serves hashed names from STATIC_ROOT (collectstatic); elsewhere files are found where they lie.
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = not PRODUCTION
STORAGES = {
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    }
}

# Times of the tables (docs/operations.md); trials shorten them.
TURN_SECONDS = env_seconds("TURN_SECONDS", 10)
COUNTDOWN_SECONDS = env_seconds("COUNTDOWN_SECONDS", 10)
SOLO_COUNTDOWN_SECONDS = env_seconds("SOLO_COUNTDOWN_SECONDS", 1.5)
BOT_PACE_SECONDS = env_seconds("BOT_PACE_SECONDS", 0.8)
TRICK_PAUSE_SECONDS = env_seconds("TRICK_PAUSE_SECONDS", 1.0)
ROUND_PAUSE_SECONDS = env_seconds("ROUND_PAUSE_SECONDS", 6)
GRACE_SECONDS = env_seconds("GRACE_SECONDS", 60)
SOLO_GRACE_SECONDS = env_seconds("SOLO_GRACE_SECONDS", 3600)
ROOM_TTL_SECONDS = env_seconds("ROOM_TTL_SECONDS", 3600)
RESULT_SECONDS = env_seconds("RESULT_SECONDS", 60)
TIMEOUT_LEEWAY_SECONDS = env_seconds("TIMEOUT_LEEWAY_SECONDS", 0.1)
HEARTBEAT_SECONDS = env_seconds("HEARTBEAT_SECONDS", 2)
LOBBY_HEARTBEAT_SECONDS = env_seconds("LOBBY_HEARTBEAT_SECONDS", 10)
LOBBY_LOOK_SECONDS = env_seconds("LOBBY_LOOK_SECONDS", 1)
OUTAGE_SECONDS = env_seconds("OUTAGE_SECONDS", 2)
CLOCK_DRIFT_SECONDS = env_seconds("CLOCK_DRIFT_SECONDS", 0.25)
GUEST_IDLE_SECONDS = env_seconds("GUEST_IDLE_SECONDS", 30 * 86400)
NAME_KEPT_DAYS = env_int("NAME_KEPT_DAYS", 30, 0, 3650)
UNCONFIRMED_DAYS = env_int("UNCONFIRMED_DAYS", 7, 4, 3650)  # a link that confirms works for three days
VISIT_DAYS = env_int("VISIT_DAYS", 90, 1, 3650)
SOCKET_LIFETIME_SECONDS = env_seconds("SOCKET_LIFETIME_SECONDS", 12 * 3600)
SLOW_READER_SECONDS = env_seconds("SLOW_READER_SECONDS", 15)

# Limits of the live edge.
FRAMES_A_SECOND = env_int("FRAMES_A_SECOND", 10, 1, 10_000)
FRAMES_BURST = env_int("FRAMES_BURST", 20, 1, 10_000)
HANDSHAKES_A_MINUTE = env_int("HANDSHAKES_A_MINUTE", 20, 1, 1_000_000)
SOCKETS_AN_IDENTITY = env_int("SOCKETS_AN_IDENTITY", 6, 1, 1000)
ROOMS_IN_TEN_MINUTES = env_int("ROOMS_IN_TEN_MINUTES", 6, 1, 1_000_000)
GUESTS_IN_TEN_MINUTES = env_int("GUESTS_IN_TEN_MINUTES", 30, 1, 1_000_000)
PAID_SEATS_IN_TEN_MINUTES = env_int("PAID_SEATS_IN_TEN_MINUTES", 6, 1, 1_000_000)
GUESSES_A_MINUTE_IDENTITY = env_int("GUESSES_A_MINUTE_IDENTITY", 10, 1, 1_000_000)
GUESSES_A_MINUTE_ADDRESS = env_int("GUESSES_A_MINUTE_ADDRESS", 60, 1, 1_000_000)
WATCHERS_A_ROOM = env_int("WATCHERS_A_ROOM", 50, 0, 100_000)
WATCHERS_AN_ADDRESS = env_int("WATCHERS_AN_ADDRESS", 8, 1, 100_000)
TALK_BURST = env_int("TALK_BURST", 3, 1, 1000)
TALK_SECONDS = env_seconds("TALK_SECONDS", 3)
SOCKET_THREADS = env_int("SOCKET_THREADS", 8, 1, 100)

# Coins (docs/wallet.md).
WELCOME_COINS = env_int("WELCOME_COINS", 5000, 1, 1_000_000)
REWARD_COINS_A_DAY = env_int("REWARD_COINS_A_DAY", 3000, 0, 1_000_000)
# What the first two places of a solo match are worth, by the level of the bots (rules).
REWARDS = {"medium": 50, "hard": 100, "epic": 300}
CORRECTION_COINS = env_int("CORRECTION_COINS", 10_000, 1, 1_000_000_000)
CORRECTION_COINS_A_DAY = env_int("CORRECTION_COINS_A_DAY", 50_000, 1, 1_000_000_000)
CORRECTION_SECONDS = env_seconds("CORRECTION_SECONDS", 86400)
# Further checks of check_ledger, each a function without arguments that gives one line a finding.
LEDGER_CHECKS = ["rooms.audit.escrows"]

# From where on a signal of chip dumping is shown to moderators (docs/moderation.md); nothing follows of itself.
FLAG_DAYS = env_int("FLAG_DAYS", 30, 1, 366)
FLAG_COINS = env_int("FLAG_COINS", 2000, 1, 1_000_000_000)
FLAG_SHARE_PERCENT = env_int("FLAG_SHARE_PERCENT", 70, 1, 100)
FLAG_YOUNG_DAYS = env_int("FLAG_YOUNG_DAYS", 7, 1, 366)
FLAG_YOUNG_ACCOUNTS = env_int("FLAG_YOUNG_ACCOUNTS", 3, 1, 1000)
FLAG_POT_COINS = env_int("FLAG_POT_COINS", 1000, 1, 1_000_000_000)
FLAG_FORFEIT_SECONDS = env_int("FLAG_FORFEIT_SECONDS", 120, 1, 86400)
FLAG_PAIR_MATCHES = env_int("FLAG_PAIR_MATCHES", 20, 1, 1_000_000)


# Matches that a player needs in a period to stand on its leaderboard.
STATS_MIN_MATCHES = env_int("STATS_MIN_MATCHES", 5, 1, 10_000)
# A forced deal for trials, as a JSON list of decks; it exists only where TESTING is set.
TESTING = env_bool("TESTING", False)
FORCED_DEAL = env("FORCED_DEAL", "") if TESTING else ""

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name} {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env("LOG_LEVEL", "INFO")},
    # uvicorn would write the address of every socket, and a private room's is its code.
    "filters": {
        "no_sockets": {
            "()": "django.utils.log.CallbackFilter",
            "callback": lambda record: "WebSocket" not in str(record.msg),
        },
        "without_secrets": {"()": "dominopoker.paths.WithoutSecrets"},
    },
    "loggers": {
        "uvicorn.error": {"filters": ["no_sockets"]},
        "django.server": {"level": "WARNING", "filters": ["without_secrets"]},
        "django.channels.server": {"filters": ["without_secrets"]},
        "django.request": {"filters": ["without_secrets"]},
        "django.security.csrf": {"filters": ["without_secrets"]},
        "httpx": {"level": "WARNING"},
    },
}
