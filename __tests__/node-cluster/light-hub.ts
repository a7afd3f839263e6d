import { hub } from '../cluster/home';

/** Answers at a port with the address that it sees its client under. */
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
/** The command of a container in which it listens at the port. */
export const light = (port = 8123) => ['python3', '-c', PROGRAM, String(port)];

type Part = Readonly<Record<string, unknown>>;

/** A Hub in whose pod a light program runs in place of the hub. */
export const lightHub = (name: string, spec: Part = {}, container: Part = {}, pod: Part = {}) =>
  hub(name, {
    ...spec,
    podTemplate: { spec: { ...pod, containers: [{ name: 'hub', command: light(), ...container }] } },
  });
