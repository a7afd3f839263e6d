"""probe PORT [live]: whether the hub answers HTTP on this port of its own pod.

Any answer counts, also a 403: a hub that has banned the address of a probe is alive. A request without a token to this
path is no failed login. With `live`, a refused connection counts as well: while the hub restores a backup or migrates
its configuration, no port is open, and a hub that hangs still accepts.
"""

import socket
import sys

port, mode = int(sys.argv[1]), sys.argv[2:]


def answer() -> bytes:
    with socket.create_connection(("localhost", port), 10, all_errors=True) as connection:
        connection.sendall(b"GET /manifest.json HTTP/1.0\r\nHost: localhost\r\n\r\n")
        return connection.recv(5)


try:
    answered = answer() == b"HTTP/"
except OSError as error:
    sys.exit("the hub does not answer: " + str(error))
except ExceptionGroup as group:
    # `localhost` has two addresses. One may not exist here.
    if mode == ["live"] and group.subgroup(ConnectionRefusedError) and not group.subgroup(TimeoutError):
        sys.exit()
    sys.exit("the hub does not answer: " + str(group.exceptions[-1]))
if not answered:
    sys.exit("the hub does not answer in HTTP")
