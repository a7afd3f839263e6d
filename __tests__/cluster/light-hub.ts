import { systemClock } from '../../operator/base/clock';
import { withDeadline } from '../../operator/base/deadline';
import { hub, type Manifest } from './home';

// Python that listens on the port of the hub, answers the probes and reports its environment.
const PROGRAM = `
import http.server, json, os, pathlib, time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        shown = {name: pathlib.Path(path) for name, path in os.environ.items() if name.startswith("SHOW_")}
        files = {name: path.read_text() for name, path in shown.items() if path.exists()}
        known = self.path in ("/manifest.json", "/environment")
        body = json.dumps({"env": dict(os.environ), "zone": time.strftime("%z"), "files": files}).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words):
        pass

http.server.ThreadingHTTPServer(("127.0.0.1", int(os.environ["SETUP_PORT"])), Handler).serve_forever()
`;

/** The environment of the program that runs in the container `hub`. */
export interface ProgramEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** UTC offset such as `+0100`. */
  readonly zone: string;
  /** The contents of the files to which the variables `SHOW_…` point, by variable. */
  readonly files: Readonly<Record<string, string>>;
}

type Part = Readonly<Record<string, unknown>>;

/** The container `hub` of a pod template, with a program that starts immediately in place of a hub. */
const lightContainer = (part: Part = {}) => ({
  name: 'hub',
  command: ['python3', '-c', PROGRAM],
  ...part,
});

/** A Hub whose pod is ready but runs no hub, to test the pod and its environment. */
export const lightHub = (name: string, spec: Part = {}, container: Part = {}, pod: Part = {}): Manifest =>
  hub(name, { ...spec, podTemplate: lightPod(container, pod) });

export const lightPod = (container: Part = {}, { containers = [], ...pod }: Part = {}) => ({
  spec: {
    ...pod,
    containers: [lightContainer(container), ...(containers as Part[])],
  },
});

/** Reads the environment of the program. @param url of the Hub's status */
export async function programEnvironment(url: string): Promise<ProgramEnvironment> {
  return withDeadline({ clock: systemClock, delay: 30_000 }, async (signal) => {
    const response = await fetch(`${url}/environment`, { signal });
    return (await response.json()) as ProgramEnvironment;
  });
}
