import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { WebSocketServer } from 'ws';

// Programs that attack the operator with the worst possible JSON: content whose cost a byte limit alone does
// not bound.

const MIB = 1_024 * 1_024;
const AT_ONCE = 10;

/** Many objects with different keys, which take the most memory. */
const manyKeys = (count: number, value: string): Buffer =>
  Buffer.from(`[${Array.from({ length: count }, (_, index) => `{"${index}":"${value}"}`).join(',')}]`);

/** Many events that belong to no subscription. */
const manyEvents = Buffer.from(`[${Array(230_000).fill('{"type":"event"}').join(',')}]`);

/**
 * Areas with an additional field of a different name each, which take the most memory. Ten such lists may
 * arrive at the same time.
 */
const manyAreas = Buffer.from(
  `[${Array.from({ length: 15_000 }, (_, index) => `{"area_id":"${index}","name":"${'x'.repeat(80)}","${index}":1}`).join(',')}]`,
);
/** The message that answers a command with this text as its result. */
const resultOf = (id: number, result: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`{"id":${id},"type":"result","success":true,"result":`),
    result,
    Buffer.from('}'),
  ]);

const tooMany = Buffer.from(`[${'{},'.repeat(4 * MIB - 30)}{}]`);
const UNASKED = 1_000_000;
/** One message with more values than the operator reads, and two that contain many messages. */
const frames = [resultOf(UNASKED, tooMany), manyKeys(230_000, 'x'.repeat(28)), manyEvents];
/** A message with the largest number of values that the operator still reads. */
const largest = resultOf(UNASKED, manyKeys(230_000, 'x'.repeat(28)));
/** Answers with more values than the operator reads, and with the largest number that it still reads. */
const answers = [tooMany, manyKeys(33_000, 'x'.repeat(100))];

const core = {
  version: '2026.11.0',
  state: 'RUNNING',
  recovery_mode: false,
  safe_mode: false,
  components: [],
  config_source: 'storage',
  unit_system: {},
};

/**
 * Answers as a normal hub except at the place of the attack: answers over REST, the first message, or each
 * message after the authentication.
 */
export class HostileHub {
  /** Number of hostile answers and messages that were sent. */
  floods = 0;

  private constructor(
    private readonly server: Server,
    private readonly sockets: WebSocketServer,
  ) {}

  /**
   * @param place `first-frame`, `later-frame` or `kept-lists`; any other value attacks with the answers over
   * REST
   */
  static async start(place: string, { withLargest = false } = {}): Promise<HostileHub> {
    const sent = withLargest ? [...frames, largest] : frames;
    const inFrames = place.endsWith('-frame') || place === 'kept-lists';
    const server = createServer((incoming, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      if (incoming.url === '/manifest.json') response.end('{"name":"Home Assistant"}');
      else response.end(inFrames ? JSON.stringify(core) : hub.next(answers));
    });
    const sockets = new WebSocketServer({ server });
    const hub = new HostileHub(server, sockets);
    sockets.on('connection', (socket) => {
      socket.on('error', () => {});
      const send = (message: object) => socket.send(JSON.stringify(message));
      if (place === 'first-frame') socket.send(hub.next(sent), { binary: false });
      else send({ type: 'auth_required' });
      socket.on('message', (data) => {
        const { id, type } = JSON.parse((data as Buffer).toString()) as { id?: number; type: string };
        if (type === 'auth') send({ type: 'auth_ok', ha_version: core.version });
        else if (type === 'config/area_registry/list')
          socket.send(resultOf(id!, manyAreas), { binary: false });
        else if (place === 'kept-lists') send({ id, type: 'result', success: true, result: null });
        else if (type !== 'supported_features') {
          socket.send(hub.next(sent), { binary: false });
          send({ id, type: 'result', success: true, result: type === 'get_config' ? core : {} });
        }
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
    for (const socket of this.sockets.clients) socket.terminate();
  }

  private next(floods: readonly Buffer[]): Buffer {
    return floods[this.floods++ % floods.length]!;
  }
}

function reviewOf(size: number): string {
  const object = `{"metadata":{"name":"a","namespace":"b"},"spec":{"hubRef":{"name":"h"},"triggers":[${'{},'.repeat(size / 3)}{}]}}`;
  return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"x","kind":{"group":"hub-operator.dev","kind":"HubAutomation"},"operation":"CREATE","object":${object}}}`;
}

/** A body that is longer than the webhook accepts, and one that is just short enough. */
const reviews = [reviewOf(6_000_000), reviewOf(4_000_000)];

/**
 * POSTs `count` reviews of 6 and 4 MB to the webhook at a port of this machine, ten in parallel, without a
 * credential. Returns the number of reviews that were sent, which is smaller when the time ends before.
 */
export async function postReviews(port: number, count: number, end = Infinity): Promise<number> {
  let left = count;
  let posted = 0;
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
      outgoing.on('error', () => resolve()); // the webhook does not read the rest of a body that is too long
      outgoing.end(reviews[left % reviews.length]);
    });
  const one = async () => {
    for (; left-- > 0 && Date.now() < end; posted++) await post();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
  return posted;
}
