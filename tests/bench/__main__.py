"""`python -m tests.bench` measures what needs a database, on servers of its own that write durably."""

import os
import shutil
import sys
import tempfile
from pathlib import Path

from dominopoker.local import Services
from dominopoker.local.valkey import free_port
from tests.support.services import PREFIX, clone, make_template


def main() -> None:
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir="/tmp"))
    folder.chmod(0o711)
    servers = Services(folder)
    servers.place.write_notes({**servers.place.notes(), "valkey_port": free_port()})
    try:
        servers.start()
        os.environ.update(servers.environment() | {"DATABASE_POOL_SIZE": "20", "TESTING": "1"})
        os.environ.setdefault("SECRET_KEY", "a key for figures alone, which nobody else uses")
        make_template(servers)
        clone(servers, "dominopoker")
        os.environ["DJANGO_SETTINGS_MODULE"] = "dominopoker.settings"
        import django

        django.setup()
        from tests.bench import coins

        coins.measure(float(sys.argv[1]) if len(sys.argv) > 1 else 10.0)
    finally:
        servers.remove()
        shutil.rmtree(folder, ignore_errors=True)


main()
