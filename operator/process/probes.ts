import { createServer, type Server } from 'node:http';
import type { Clock } from '../base/clock';
import { close, listen } from './http-listener';
import type { Logger } from '../base/log';

// Milliseconds.
const READY_POLL_INTERVAL = 100;
const MAX_WAIT = 60_000;

export interface ProbeAnswers {
  /** Why this process must be restarted, one sentence per problem. An empty list means that it is alive. */
  livenessErrors(): readonly string[];
  /** Why this process is not ready, one sentence per cause. An empty list means that it is ready. */
  readinessErrors(): readonly string[];
  metrics(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/**
 * Serves `/healthz`, `/readyz` and `/metrics` over HTTP; the answer of a failing probe contains the causes.
 * `/readyz?wait=8` is answered as soon as the process is ready, or after 8 s. Without the wait, a kubelet
 * writes a Warning event for each failed probe, and probes again only after its period.
 */
export class ProbeServer {
  private constructor(
    private readonly server: Server,
    readonly port: number,
    private readonly closing: AbortController,
  ) {}

  /**
   * @param port 0 selects a free port
   * @throws Error a sentence for the user: the port is in use
   */
  static async listen(
    port: number,
    address: string,
    answers: ProbeAnswers,
    { clock, log }: { readonly clock: Clock; readonly log: Logger },
  ): Promise<ProbeServer> {
    const closing = new AbortController();
    const server = createServer((request, response) => {
      const [path, query] = request.url?.split('?') ?? [];
      const probe = (errors: readonly string[]) =>
        response
          .writeHead(errors.length === 0 ? 200 : 503, { 'Content-Type': 'text/plain; charset=utf-8' })
          .end(errors.length === 0 ? 'ok\n' : `${errors.join('\n')}\n`);
      switch (path) {
        case '/healthz':
          return probe(answers.livenessErrors());
        case '/readyz':
          return void whenReady(answers, clock, waitOf(query), closing.signal).then(probe);
        case '/metrics':
          return void answers.metrics().then(
            ({ contentType, text }) => response.writeHead(200, { 'Content-Type': contentType }).end(text),
            (error: unknown) =>
              response.writeHead(500, { 'Content-Type': 'text/plain' }).end(`${String(error)}\n`),
          );
        default:
          return response
            .writeHead(404, { 'Content-Type': 'text/plain' })
            .end('/healthz, /readyz or /metrics\n');
      }
    });
    const used = await listen(server, { port, address, option: '--http-port', log });
    return new ProbeServer(server, used, closing);
  }

  close(): Promise<void> {
    this.closing.abort();
    return close(this.server);
  }
}

/** Milliseconds of the parameter `wait`; 0 if it is absent or not a number of seconds. */
function waitOf(query = ''): number {
  const seconds = Number(new URLSearchParams(query).get('wait'));
  return seconds > 0 ? Math.min(seconds * 1000, MAX_WAIT) : 0;
}

/**
 * Waits until the process is ready, `wait` milliseconds have passed, or the server closes. @returns why the
 * process is not ready
 */
async function whenReady(
  answers: ProbeAnswers,
  clock: Clock,
  wait: number,
  closing: AbortSignal,
): Promise<readonly string[]> {
  const deadline = clock.monotonic() + wait;
  let errors = answers.readinessErrors();
  while (errors.length > 0 && clock.monotonic() < deadline && !closing.aborted) {
    await clock.sleep(READY_POLL_INTERVAL, closing).catch(() => undefined); // the server closes
    errors = answers.readinessErrors();
  }
  return errors;
}
