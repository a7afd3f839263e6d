import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { readCluster, writeKubeconfig } from '../../sandbox/kubeconfig';
import { kubeconfig, sandboxDirectory } from '.';

/** A request on its way to the API server. */
export interface Crossing {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** The parsed body; undefined for a request without one. */
  readonly body: unknown;
}

/**
 * Called before a request reaches the API server, and after the API server has answered. The operator waits
 * in the meantime.
 */
type Gate = (moment: 'before' | 'after', crossing: Crossing) => Promise<'on' | 'drop'>;

/**
 * Holds the events of watches back until the test delivers them. Events are distinguished by the resource in
 * the path of their watch, such as `hubareas`.
 */
class WatchBuffer {
  private isKeeping = false;
  private readonly delivered = new Set<string>();
  private readonly waiting = new Map<string, (() => void)[]>();

  keep(): void {
    this.isKeeping = true;
    this.delivered.clear();
  }

  deliver(resource: string): void {
    this.delivered.add(resource);
    for (const resume of this.waiting.get(resource) ?? []) resume();
    this.waiting.delete(resource);
  }

  deliverAll(): void {
    this.isKeeping = false;
    for (const resource of [...this.waiting.keys()]) this.deliver(resource);
  }

  /** Resolves when the events of this resource may reach the operator. */
  delivery(resource: string): Promise<void> {
    if (!this.isKeeping || this.delivered.has(resource)) return Promise.resolve();
    return new Promise((resume) => {
      this.waiting.set(resource, [...(this.waiting.get(resource) ?? []), resume]);
    });
  }
}

/** A proxy between an operator and the API server, which lets a test interfere with exactly one request. */
export class ApiProxy {
  private constructor(
    /** Holds the events of watches back, and delivers them. */
    readonly watches: WatchBuffer,
    private readonly server: https.Server,
    /** Path of a kubeconfig that leads through the proxy, with the operator's service account. */
    readonly kubeconfig: string,
    private readonly pending: Set<Crossing>,
  ) {}

  static async start(gate: Gate): Promise<ApiProxy> {
    const cluster = await readCluster(kubeconfig());
    // The agent drops idle connections earlier than the server, which closes them after 90 s.
    const agent = new https.Agent({
      keepAlive: true,
      timeout: 30_000,
      ca: cluster.certificateAuthority,
    });
    // The proxy has the API server's own certificate: it is valid for this address, and the operator trusts
    // it already.
    const identity = (name: string) => readFile(join(sandboxDirectory(), 'cluster', 'identities', name));
    const tls = { cert: await identity('apiserver.crt'), key: await identity('apiserver.key') };
    const pending = new Set<Crossing>();
    const watches = new WatchBuffer();
    const server = https.createServer(tls, (request, response) => {
      pass(request, response, cluster.apiServer, agent, gate, pending, watches).catch(() =>
        response.destroy(),
      );
    });
    // Without a time limit, no connection is closed while the operator sends a request, which would be an
    // unintended fault.
    server.keepAliveTimeout = 0;
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const path = join(sandboxDirectory(), `proxy-${port}.kubeconfig`);
    const apiServer = `https://127.0.0.1:${port}`;
    await writeKubeconfig(path, { ...cluster, apiServer, credentials: { token: await operatorToken() } });
    return new ApiProxy(watches, server, path, pending);
  }

  /**
   * Number of writes that may be visible in the cluster although their gate has not been called with `after`
   * yet.
   */
  get pendingWrites(): number {
    return [...this.pending].filter(({ method }) => method !== 'GET').length;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

async function pass(
  request: http.IncomingMessage,
  response: http.ServerResponse,
  apiServer: string,
  agent: https.Agent,
  gate: Gate,
  pending: Set<Crossing>,
  watches: WatchBuffer,
): Promise<void> {
  const { method = 'GET', url = '/', headers } = request;
  const content = await buffer(request);
  const body: unknown = content.length > 0 ? JSON.parse(content.toString()) : undefined;
  const crossing = { method, path: url.replace(/\?.*/, ''), body };
  if ((await gate('before', crossing)) === 'drop') return void response.destroy();
  const onward = https.request(`${apiServer}${url}`, { method, headers, agent });
  response.on('close', () => onward.destroy()); // closes the watch when the operator closes its connection
  pending.add(crossing);
  let answer: http.IncomingMessage;
  try {
    onward.end(content);
    [answer] = (await once(onward, 'response')) as [http.IncomingMessage];
    if ((await gate('after', crossing)) === 'drop') return void response.destroy();
  } finally {
    pending.delete(crossing);
  }
  response.writeHead(answer.statusCode ?? 502, answer.headers);
  if (!/[?&]watch=(true|1)/.test(url)) return void answer.pipe(response);
  const resource = crossing.path.split('/').at(-1)!;
  answer.pipe(inTime(() => watches.delivery(resource))).pipe(response);
}

/** Returns a stream that passes each part on after `moment` has resolved. */
const inTime = (moment: () => Promise<void>): Transform =>
  new Transform({
    transform: (part, _, done) => void moment().then(() => done(null, part)),
  });

async function operatorToken(): Promise<string> {
  const config = JSON.parse(await readFile(process.env['HUB_SANDBOX_OPERATOR_KUBECONFIG']!, 'utf8')) as {
    users: [{ user: { token: string } }];
  };
  return config.users[0].user.token;
}
