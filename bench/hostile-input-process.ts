import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { HubConnection } from '../operator/client/connection/connection';
import { HubClient } from '../operator/client/hub-client';
import { HubError } from '../operator/client/connection/errors';
import { RestClient } from '../operator/client/connection/rest';
import { systemClock } from '../operator/base/clock';
import { createLogger } from '../operator/base/log';
import { favorMemory } from '../operator/process/favor-memory';
import { BoundedTexts } from '../operator/process/texts/bounded-texts';
import { normalize } from '../operator/runtime/normalize';
import type { ClusterObject } from '../operator/runtime/objects';
import { watchEvents } from '../operator/runtime/watch-stream';
import { secretUsesTask, textsOfHub } from '../operator/sync/configuration/generate/texts';
import { readReview, writeReview } from '../operator/webhook/admission-review';
import { issueCertificate } from '../operator/webhook/certificate/issue';
import { review } from '../operator/webhook/review';
import { AdmissionServer } from '../operator/webhook/server';

// Runs the parts of the operator that read untrusted input, with as much memory in use as in an operator with
// 1,000 resources. Runs as a separate process with the memory settings of the operator:
// `hostile-input-process SCENARIO URL COUNT SECONDS`. Prints figures as JSON.

favorMemory();
const [scenario = '', url = '', count = '0', seconds = '0'] = process.argv.slice(2);
const end = Date.now() + Number(seconds) * 1_000;
const AT_ONCE = 10;
/**
 * Time limit in milliseconds of the child process that parses a text. The figures are those of this process,
 * not of that one.
 */
const TEXT_TIME = 500;
const log = createLogger('error');

/** About 42 MB of objects, like the cache of an operator. */
const held = Array.from({ length: 45 * 10_240 }, (_, index) => ({
  index,
  other: index,
  name: `name ${index}`,
}));

/** Milliseconds of processor time that {@link parsingTime} returns on the machine of the recorded figures. */
const USUAL_PARSING_TIME = 8;
const parsed = JSON.stringify(held.slice(0, 20_000));

/** Returns the milliseconds of processor time in which a fixed text is parsed, the median of nine times. */
function parsingTime(): number {
  const times = Array.from({ length: 9 }, () => {
    const before = process.cpuUsage();
    JSON.parse(parsed);
    const { system, user } = process.cpuUsage(before);
    return (system + user) / 1_000;
  });
  return times.sort((a, b) => a - b)[4]!;
}

/** How many times slower than usual the machine is, at least 1. */
let slowness = 1;
function measureSlowness(): void {
  slowness = Math.max(slowness, parsingTime() / USUAL_PARSING_TIME);
}
measureSlowness();

const TICK = 20;
/**
 * Longest time in milliseconds in which the event loop was blocked. The processor time is an upper bound, so
 * that other load on the machine does not count.
 */
let longestPause = 0;
let peakHeap = 0;
let last = performance.now();
let usage = process.cpuUsage();
setInterval(() => {
  const now = performance.now();
  const { system, user } = process.cpuUsage(usage);
  longestPause = Math.max(longestPause, Math.min(now - last - TICK, (system + user) / 1_000));
  last = now;
  usage = process.cpuUsage();
  peakHeap = Math.max(peakHeap, process.memoryUsage().heapUsed);
}, TICK).unref();

let refused = 0;
let answered = 0;

const restOf = (untrusted: boolean) =>
  new RestClient({
    url,
    untrusted,
    allowLocal: true,
    token: 'token',
    clock: systemClock,
    redact: (text) => text,
  });

/** Counts the outcome of an answer of a hostile hub. Any error except a HubError ends the process. */
async function attempt(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
    answered += 1;
  } catch (error) {
    if (!(error instanceof HubError)) throw error;
    refused += 1;
  }
}

async function repeated(work: () => Promise<void>): Promise<void> {
  let left = Number(count);
  const one = async () => {
    while (left-- > 0 && Date.now() < end) await work();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function overConnection(): Promise<void> {
  const rest = restOf(true);
  const connection = new HubConnection({ rest, token: 'token', clock: systemClock, log });
  await attempt(() => connection.command('get_config', {}, { timeout: 30_000 }));
  connection.close();
  rest.close();
}

/** Each client belongs to another hub, and stays open. */
async function keptList(): Promise<void> {
  const client = new HubClient({
    url,
    untrusted: true,
    allowLocal: true,
    token: 'token',
    clock: systemClock,
    log,
  });
  await attempt(() => client.registries.area.entries());
}

/** Prints the port, and serves until a signal ends the process. */
async function webhook(): Promise<void> {
  const state = { othersWithIdentity: () => [], secretsOf: () => undefined };
  const server = await AdmissionServer.listen(0, '127.0.0.1', {
    answer: (body) => {
      const request = readReview(body);
      return writeReview(request, review(request, state));
    },
    onAnswer: (status) => (status === 200 ? (answered += 1) : (refused += 1)),
    onError: (error) => log.error({ error }, 'bug'),
    log,
  });
  server.use(issueCertificate('127.0.0.1', Date.now()));
  process.stdout.write(`${JSON.stringify({ port: server.port satisfies AddressInfo['port'] })}\n`);
  await new Promise((resolve) => process.once('SIGTERM', resolve));
  await server.close();
}

/** Objects of 1.4 MiB, as a watch sends them. The cache keeps the last state of six objects. */
async function objects(): Promise<void> {
  const kept = new Map<string, ClusterObject>();
  const type = { group: 'hub-operator.dev', version: 'v1', plural: 'hubautomations', kind: 'HubAutomation' };
  const stream = new PassThrough();
  const actions = `[${'{},'.repeat(490_000)}{}]`;
  const send = async () => {
    for (let index = 0; index < Number(count); index++) {
      const metadata = {
        name: `large-${index % 6}`,
        namespace: 'home',
        uid: 'uid',
        resourceVersion: String(index + 1),
      };
      const object = `{"metadata":${JSON.stringify(metadata)},"spec":{"hubRef":{"name":"home"},"triggers":${actions}}}`;
      stream.write(`{"type":"MODIFIED","object":${object}}\n`);
      await new Promise(setImmediate);
    }
    stream.end();
  };
  void send();
  for await (const { object } of watchEvents<ClusterObject>(stream, systemClock, () => {})) {
    const normalized = normalize(object, { type });
    kept.set(normalized.metadata.name, normalized);
    answered += 1;
  }
  if (kept.size !== Math.min(6, Number(count))) throw new Error(`${kept.size} objects were kept`);
}

/** Highest cost of one text for this process: processor time in milliseconds, and heap in bytes. */
const costOfText = { time: 0, heap: 0 };

/** Configurations of random shapes, each of a different hub. */
async function foreignTexts(): Promise<void> {
  const texts = new BoundedTexts({
    clock: systemClock,
    log,
    program: () => readFile(join(__dirname, 'text-program.cjs'), 'utf8'),
    limit: TEXT_TIME,
  });
  for (let index = 0; Date.now() < end; index++) {
    const path = join(__dirname, `text-${index}`);
    if (!existsSync(path)) break;
    const [, shape = '', text = ''] = /^(\d+) ([^]*)$/.exec(await readFile(path, 'utf8'))!;
    const before = { usage: process.cpuUsage(), heap: process.memoryUsage().heapUsed };
    peakHeap = 0;
    const hub = textsOfHub({ texts }, 'home', shape);
    const generated = await hub.generate({ configuration: text, hasSecrets: true });
    if (generated.type === 'done') answered += 1;
    else refused += 1;
    secretUsesTask.inPlace?.({ 'configuration.yaml': text }); // the webhook parses in place
    const { system, user } = process.cpuUsage(before.usage);
    costOfText.time = Math.max(costOfText.time, (system + user) / 1_000);
    const heap = Math.max(peakHeap, process.memoryUsage().heapUsed) - before.heap;
    costOfText.heap = Math.max(costOfText.heap, heap);
  }
  texts.close();
}

const scenarios: Readonly<Record<string, () => Promise<void>>> = {
  'managed-rest': () => {
    const rest = restOf(false);
    return repeated(() => attempt(() => rest.get('/api/config')));
  },
  'external-rest': () => {
    const rest = restOf(true);
    return repeated(() => attempt(() => rest.get('/api/config')));
  },
  'first-frame': () => repeated(overConnection),
  'later-frame': () => repeated(overConnection),
  'kept-lists': () => repeated(keptList),
  webhook,
  objects,
  texts: foreignTexts,
};

scenarios[scenario]!().then(
  () => {
    measureSlowness();
    const figures = {
      slowness,
      answered,
      refused,
      longestPause,
      peakHeap,
      held: held.length,
      ...(costOfText.time && { costOfText }),
    };
    process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit());
  },
  (error: unknown) => {
    process.stderr.write(String(error));
    process.exit(2);
  },
);
