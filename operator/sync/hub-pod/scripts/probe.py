"""probe PORT [live CONFIG]: whether the hub answers HTTP on this port of its own pod.

Any answer counts, also a 403: a hub that has banned the address of a probe is alive. A request without a token to this
path is no failed login. With `live`, a refused connection counts as well: while the hub restores a backup or migrates
its configuration, no port is open, and a hub that hangs still accepts. A hub that listens elsewhere, as after a backup
of another installation was restored, is not alive: its settings in CONFIG are set back, and it starts again.
"""

import socket
import sys
from pathlib import Path

from stored_http import heal, listens_elsewhere

port, live = int(sys.argv[1]), sys.argv[2:3] == ["live"]


def answer() -> bytes:
    with socket.create_connection(("localhost", port), 10, all_errors=True) as connection:
        connection.sendall(b"GET /manifest.json HTTP/1.0\r\nHost: localhost\r\n\r\n")
        return connection.recv(5)


def problem() -> str | None:
    try:
        return None if answer() == b"HTTP/" else "the hub does not answer in HTTP"
    except OSError as error:
        return "the hub does not answer: " + str(error)
    except ExceptionGroup as group:
        # `localhost` has two addresses. One may not exist here.
        is_refused = group.subgroup(ConnectionRefusedError) and not group.subgroup(TimeoutError)
        if live and is_refused and not listens_elsewhere(Path(sys.argv[3]), port):
            return None
        return "the hub does not answer: " + str(group.exceptions[-1])


found = problem()
if found and live:
    changed = heal(Path(sys.argv[3]), port)
    found += f"; set back in .storage/http: {', '.join(changed)}" if changed else ""
sys.exit(found)
