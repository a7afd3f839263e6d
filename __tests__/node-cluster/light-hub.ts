import { hub } from '../cluster/home';
import type { NodeHome } from './home';

/** Python that answers at a port with the address under which it sees the client. */
const PROGRAM = `
import http.server, os, signal, sys

# The kernel ignores signals to the first process of a container that has no handler for them.
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = self.client_address[0].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

http.server.ThreadingHTTPServer(("", int(sys.argv[1])), Handler).serve_forever()
`;
/** Returns the command of a container that runs this program at the port. */
export const light = (port = 8123) => ['python3', '-c', PROGRAM, String(port)];

/**
 * Python that closes its port for some seconds after a request for `/down`, and stops to answer after one for
 * `/hang`.
 */
const UNSTEADY = `
import http.server, os, signal, sys, time

signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
down = False

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        global down
        if self.path == "/hang":
            time.sleep(3600)
        down = self.path == "/down"
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

while True:
    with http.server.HTTPServer(("", 8123), Handler) as server:
        while not down:
            server.handle_request()
    time.sleep(int(sys.argv[1]))
    down = False
`;
/** Returns the command of a container whose program is down for these seconds, or hangs, on request. */
export const unsteady = (seconds: number) => ['python3', '-c', UNSTEADY, String(seconds)];
const ASK = 'import sys, urllib.request; urllib.request.urlopen("http://localhost:8123" + sys.argv[1])';
export const askUnsteady = (home: NodeHome, name: string, path: '/down' | '/hang') =>
  home.inHub(name, 'python3', '-c', ASK, path);

type Part = Readonly<Record<string, unknown>>;

/** A Hub whose pod runs a lightweight program in place of the hub. */
export const lightHub = (name: string, spec: Part = {}, container: Part = {}, pod: Part = {}) =>
  hub(name, {
    ...spec,
    podTemplate: { spec: { ...pod, containers: [{ name: 'hub', command: light(), ...container }] } },
  });
