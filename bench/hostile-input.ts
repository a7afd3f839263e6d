import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { WebSocketServer } from 'ws';
import { shippedHeapLimit } from '../manifests/memory';
import { operatorCommand } from '../sandbox/operator-process';
import type { Figures } from './runtime';

/**
 * What a hostile hub, pod or user can do to the memory and the time of the operator: the parts that read foreign input, on the
 * Node.js and with the flags of the image, as a process of their own.
 */

const MIB = 1_024 * 1_024;
const AT_ONCE = 10;

export const hostileScenarios = [
  'managed-rest',
  'external-rest',
  'first-frame',
  'later-frame',
  'webhook',
  'objects',
] as const;
export type HostileScenario = (typeof hostileScenarios)[number];

export interface HostileFigures {
  /** Answers that were read, and refused ones. */
  readonly answered: number;
  readonly refused: number;
  /** Milliseconds in which nothing else could run. */
  readonly longestPause: number;
  /** Bytes. */
  readonly peakHeap: number;
}

/** As many values as there can be, and as many as are just read, with keys that differ: they take the most memory. */
const floods = [
  Buffer.from(`[${'{},'.repeat(4 * MIB - 10)}{}]`),
  Buffer.from(
    `[${Array.from({ length: 230_000 }, (_, index) => `{"${index}":"${'x'.repeat(28)}"}`).join(',')}]`,
  ),
];

/** @throws Error the process ended: the message is the end of what it printed */
export async function runHostileInput(scenario: HostileScenario, count: number): Promise<HostileFigures> {
  const directory = await mkdtemp(join(tmpdir(), 'hostile-input-'));
  const hub = await hostileHub(scenario);
  try {
    const program = join(directory, 'process.cjs');
    await build({
      entryPoints: [join(__dirname, 'hostile-input-process.ts')],
      outfile: program,
      bundle: true,
      platform: 'node',
      logLevel: 'error',
    });
    const [node, ...flags] = await operatorCommand();
    const args = [
      ...flags,
      `--max-old-space-size=${shippedHeapLimit()}`,
      program,
      scenario,
      hub.url,
      String(count),
    ];
    const child = spawn(node, args);
    if (scenario === 'webhook') void postReviews(child, count);
    return await figuresOf(child);
  } finally {
    hub.close();
    await rm(directory, { recursive: true });
  }
}

async function figuresOf(child: ChildProcessWithoutNullStreams): Promise<HostileFigures> {
  let printed = '';
  let problem = '';
  child.stdout.on('data', (chunk) => (printed += String(chunk)));
  child.stderr.on('data', (chunk) => (problem += String(chunk)));
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`the process ended with ${code ?? signal}: ${problem.slice(-500)}`);
  return JSON.parse(printed.trim().split('\n').at(-1)!) as HostileFigures;
}

/** Answers as a hub until the operator is to be hurt: its answers, the first message or the one after the authentication. */
async function hostileHub(scenario: HostileScenario) {
  let sent = 0;
  const flood = () => floods[sent++ % floods.length]!;
  const server = createServer((incoming, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(incoming.url === '/manifest.json' ? '{"name":"Home Assistant"}' : flood());
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket) => {
    socket.on('error', () => {});
    const send = (message: object) => socket.send(JSON.stringify(message));
    if (scenario === 'first-frame') socket.send(flood(), { binary: false });
    else send({ type: 'auth_required' });
    socket.on('message', (data) => {
      const { id, type } = JSON.parse((data as Buffer).toString()) as { id?: number; type: string };
      if (type === 'auth') send({ type: 'auth_ok', ha_version: '2026.11.0' });
      else if (type === 'get_config') {
        socket.send(flood(), { binary: false });
        send({ id, type: 'result', success: true, result: {} });
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.close();
      server.closeAllConnections();
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

/** POSTs reviews of 6 MB without a credential, then ends the process. */
async function postReviews(child: ChildProcessWithoutNullStreams, count: number): Promise<void> {
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  const { port } = JSON.parse(line) as { port: number };
  const review = (size: number) => {
    const object = `{"metadata":{"name":"a","namespace":"b"},"spec":{"hubRef":{"name":"h"},"triggers":[${'{},'.repeat(size / 3)}{}]}}`;
    return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"x","kind":{"group":"hub-operator.dev","kind":"HubAutomation"},"operation":"CREATE","object":${object}}}`;
  };
  const bodies = [review(6_000_000), review(4_000_000)];
  let left = count;
  const post = () =>
    new Promise<void>((resolve) => {
      const options = {
        host: '127.0.0.1',
        port,
        path: '/validate',
        method: 'POST',
        rejectUnauthorized: false,
        agent: false,
      };
      const outgoing = request(options, (response) => response.resume().once('close', resolve));
      outgoing.on('error', () => resolve()); // the rest of a body that is too long is not read
      outgoing.end(bodies[left % bodies.length]);
    });
  const one = async () => {
    while (left-- > 0) await post();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  child.kill('SIGTERM');
}

/** @param count how often each is repeated */
export async function benchHostileInput(count: number): Promise<Figures> {
  const figures: Record<string, number | string> = { repetitions: count };
  for (const scenario of hostileScenarios) {
    const { answered, longestPause, peakHeap, refused } = await runHostileInput(scenario, count);
    figures[`${scenario}: read, refused`] = `${answered}, ${refused}`;
    figures[`${scenario}: longest pause, ms`] = Math.round(longestPause);
    figures[`${scenario}: peak heap, MB`] = Math.round(peakHeap / 1e6);
  }
  return figures;
}
