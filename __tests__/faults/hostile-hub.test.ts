import { createServer, type Server } from 'node:http';
import { readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { HEAP_PERCENTAGE, shippedHeapLimit } from '../../manifests/memory';
import { freshNamespace } from '../cluster';
import { automation, Home } from '../cluster/home';
import { startTestOperator, type TestOperator } from '../cluster/operator';
import { applyExternalHub, StandInHub } from '../cluster/stand-in-hub';
import { readManifests } from '../../manifests/read-manifests';

// External hubs are hosts of other people. One of them answers with as much as it can, one is very large: the operator,
// with the memory that it ships with, goes on with the others.

const MIB = 2 ** 20;
const ANSWER_SIZE = 64 * MIB;
const ENTITIES = 10_000;

interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly resources: { readonly limits: { readonly memory: string } };
}

/** The container of the operator in `dist/`. */
function shippedContainer(): Container {
  const objects = readManifests('dist/install.yaml') as {
    kind: string;
    spec: { template: { spec: { containers: [Container] } } };
  }[];
  return objects.find(({ kind }) => kind === 'Deployment')!.spec.template.spec.containers[0];
}

/** Answers every authenticated request with 64 MiB of JSON, as fast as it is read. Counts the answers. */
class FloodingHub {
  answers = 0;
  /** Bytes that were read of all answers. */
  sent = 0;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<FloodingHub> {
    const server = createServer();
    const hub = new FloodingHub(server);
    const chunk = Buffer.alloc(MIB, ' ');
    server.on('request', (request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      if (request.url === '/manifest.json') return response.end('{"name":"Home Assistant"}');
      hub.answers += 1;
      let left = ANSWER_SIZE / chunk.length;
      const write = () => {
        while (left-- > 0) {
          hub.sent += chunk.length;
          if (!response.write(chunk)) return response.once('drain', write);
        }
        return response.end('{}');
      };
      return write();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return hub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.close();
    this.server.closeAllConnections();
  }
}

let home: Home;
let operator: TestOperator;
let flooding: FloodingHub;

beforeAll(async () => {
  home = new Home(await freshNamespace('hostile'));
  flooding = await FloodingHub.start();
  const [huge, usual] = await Promise.all([
    StandInHub.start({ ENTITIES: String(ENTITIES) }),
    StandInHub.start(),
  ]);
  // A process without a container has no memory limit that a percentage could be of.
  const NODE_OPTIONS = `--max-old-space-size=${shippedHeapLimit()}`;
  operator = await startTestOperator(home.namespace, {
    settings: { NODE_OPTIONS, ALLOW_LOCAL_HUBS: 'true', LOG_LEVEL: 'info', FREEZE_CACHE: 'false' },
  });
  await applyExternalHub(home, 'flooding', flooding.url);
  await applyExternalHub(home, 'huge', huge.url);
  await applyExternalHub(home, 'usual', usual.url);
  await home.apply(
    automation('flooding', 'in-flooding'),
    automation('huge', 'in-huge'),
    automation('usual', 'in-usual'),
  );
});
afterAll(() => flooding.stop());

/** The most memory that the process had so far, in bytes (Linux). */
async function peakMemory(): Promise<number> {
  const status = await readFile(`/proc/${operator.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) * 1024;
}

describe('the memory of the operator', () => {
  test('the limit that ships leaves room beside the heap', () => {
    const { env, resources } = shippedContainer();
    const options = env.find(({ name }) => name === 'NODE_OPTIONS')!.value!;
    expect(options).toBe(`--max-old-space-size-percentage=${HEAP_PERCENTAGE}`);
    expect(resources.limits.memory).toBe('256Mi');
    expect(shippedHeapLimit()).toBeLessThanOrEqual(192);
  });

  test(`suffices for a hub that answers with 64 MiB beside one with ${ENTITIES} entities, and the others are served`, async () => {
    await home.ready('hubautomation', 'in-huge');
    await home.ready('hubautomation', 'in-usual');
    const { message } = await home.ready('hub', 'flooding', { status: 'False' });
    expect(message.length).toBeLessThan(500);
    const enough = flooding.answers + 3;
    for (let edit = 0; flooding.answers < enough; edit++) {
      const at = `hub-operator.dev/reconcile-requested-at=${edit}`;
      await home.annotate('hub', 'flooding', at);
      for (const name of ['in-huge', 'in-usual']) {
        await home.change('hubautomation', name, { description: `edit ${edit}` });
        await home.ready('hubautomation', name);
      }
    }
    expect(flooding.answers).toBeGreaterThanOrEqual(enough);
    if (process.platform === 'linux') expect(await peakMemory()).toBeLessThan(256 * MIB);
    expect(await operator.page('/healthz')).toBe('ok\n');
    expect(await operator.failures()).toEqual([]);
  });
});
