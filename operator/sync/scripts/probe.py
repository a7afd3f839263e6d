"""probe PORT: whether the hub answers HTTP on this port of its own pod.

Any answer counts, also a 403: a hub that has banned the address of a probe is alive. A request without a token to this
path is no failed login.
"""

import socket
import sys

try:
    with socket.create_connection(("localhost", int(sys.argv[1])), 10) as connection:
        connection.sendall(b"GET /manifest.json HTTP/1.0\r\nHost: localhost\r\n\r\n")
        answer = connection.recv(5)
except OSError as error:
    sys.exit("the hub does not answer: " + str(error))
sys.exit(None if answer == b"HTTP/" else "the hub does not answer in HTTP")
