import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { HubClient } from '../operator/client/hub-client';
import { systemClock } from '../operator/base/clock';
import { GROUP_VERSION } from '../operator/kinds/group';
import { objectNames } from '../operator/kinds/object-names';
import { pathOf, type ResourceType } from '../operator/runtime/objects';
import type { CustomResource } from '../operator/kinds/resource';
import { conditionOf } from '../operator/runtime/conditions';
import { ApiClient } from '../operator/runtime/api-client';
import { ApiError } from '../operator/runtime/api-errors';
import { builtin } from '../operator/runtime/types';
import { silentLog } from '../__tests__/cluster/silent-log';
import { type Sandbox, startSandbox } from '../sandbox';
import { bundleOperator } from '../sandbox/image/bundle';
import {
  installOperator,
  type OperatorOptions,
  type OperatorProcess,
  startOperator,
} from '../sandbox/operator-process';
import { clusterWrites, scrapeStarting, sum } from './operator-metrics';
import { typeOf } from './resource-type';

const READY_TIMEOUT = 10 * 60_000;
const POLL = 50;
const CREATES_AT_ONCE = 20;
/** As the operator has by default. */
const WORKERS_PER_HUB = 4;
const SETTLE_DURATION = 3_000; // milliseconds
/** A burst has ended when at most this many writes occur in SETTLE_DURATION. */
const FEW_WRITES = 5;

/** A real hub in its own namespace, which is ready and has finished its start. */
export interface BenchHub {
  readonly namespace: string;
  readonly client: HubClient;
  /** Process id of the hub. */
  readonly pid: number;
}

/** Commands that a hub has received since the count began, according to its events. */
interface Traffic {
  /** Automations that were written, by id, each with its time. */
  readonly writes: { readonly id: string; readonly at: number }[];
  /** Number of reloads of all automations. */
  reloads: number;
  /** Number of reloads of scripts, which make the hub read its files. */
  scriptReloads: number;
}

/** A sandbox with the shipped operator, and hubs on demand. */
export class HubBench {
  private hubs = 0;

  private constructor(
    readonly sandbox: Sandbox,
    readonly cluster: ApiClient,
    public operator: OperatorProcess,
    private readonly options: OperatorOptions,
  ) {}

  static async start(options: OperatorOptions = { settings: { LOG_LEVEL: 'warn' } }): Promise<HubBench> {
    const sandbox = await startSandbox({ progress: 'plain', hubs: true });
    const config = new KubeConfig();
    config.loadFromFile(sandbox.kubeconfig);
    const cluster = new ApiClient(config, { clock: systemClock, timeout: 60_000 });
    await bundleOperator();
    await installOperator(sandbox);
    const operator = await startOperator(sandbox, options);
    while (!(await isLeading(operator))) await sleep(POLL);
    return new HubBench(sandbox, cluster, operator, options);
  }

  async stop(): Promise<void> {
    this.cluster.close();
    await this.sandbox.stop();
  }

  async restartOperator(): Promise<void> {
    await this.withoutOperator(() => Promise.resolve());
  }

  /** Stops the operator for the time of some work. */
  async withoutOperator<T>(work: () => Promise<T>): Promise<T> {
    await this.operator.process.stop();
    const result = await work();
    await this.startOperator();
    return result;
  }

  async startOperator(): Promise<void> {
    this.operator = await startOperator(this.sandbox, this.options);
  }

  /** Starts a fresh hub. Resolves when the hub has finished its start. */
  async hub(configuration = 'logger:\n  default: warning\n', spec: object = {}): Promise<BenchHub> {
    const namespace = `bench-${this.hubs++}`;
    await this.createNamespace(namespace);
    await this.create(namespace, 'HubConfiguration', 'hub', {
      hubRef: { name: 'hub' },
      configuration,
    });
    await this.create(namespace, 'Hub', 'hub', { version: '2026.11.0', ...spec });
    await this.untilReady(namespace, 'Hub');
    const hub = await this.read<CustomResource>(namespace, 'Hub', 'hub');
    const url = String(hub.status?.['url']);
    const secret = await this.cluster.request<{ data: { token: string } }>({
      method: 'GET',
      path: pathOf(builtin.Secret, namespace, objectNames('hub').apiToken),
    });
    const token = Buffer.from(secret.data.token, 'base64').toString();
    const client = new HubClient({ url, token, clock: systemClock, log: silentLog });
    while ((await client.rest.get<{ state: string }>('/api/config')).state !== 'RUNNING') await sleep(POLL);
    return { namespace, client, pid: await this.pidOf(namespace, 'hub') };
  }

  async createNamespace(name: string): Promise<void> {
    await this.cluster.request({ method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name } } });
  }

  /** Creates the Secret with the token of a stand-in. */
  async createToken(
    namespace: string,
    name: string,
    labels: Readonly<Record<string, string>> = {},
  ): Promise<void> {
    await this.cluster.request({
      method: 'POST',
      path: pathOf(builtin.Secret, namespace),
      body: {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name, namespace, labels },
        stringData: { token: 'a token that a stand-in takes' },
      },
    });
  }

  /** The API server cannot list kinds until a moment after they were installed. */
  private async list(namespace: string, kind: string): Promise<readonly CustomResource[]> {
    try {
      const path = pathOf(typeOf(kind), namespace);
      return (await this.cluster.request<{ items: CustomResource[] }>({ method: 'GET', path })).items;
    } catch (error) {
      if (error instanceof ApiError && error.status === 429) return [];
      throw error;
    }
  }

  /** Returns the process id of the hub's container. */
  async pidOf(namespace: string, hub: string): Promise<number> {
    const path = `/api/v1/namespaces/${namespace}/pods/${hub}-0`;
    const { metadata } = await this.cluster.request<CustomResource>({ method: 'GET', path });
    const pods = join(this.sandbox.directory, 'node', 'pods');
    const directory = (await readdir(pods)).find((name) => name.endsWith(metadata.uid))!;
    return Number(await readFile(join(pods, directory, 'hub.pid'), 'utf8'));
  }

  /** Removes a hub with its namespace, so that it does not disturb the next measurement. */
  async remove({ namespace, client }: BenchHub): Promise<void> {
    client.close();
    await this.removeNamespace(namespace);
  }

  private async removeNamespace(namespace: string): Promise<void> {
    const path = `/api/v1/namespaces/${namespace}`;
    await this.cluster.request({ method: 'DELETE', path });
    const isThere = () =>
      this.cluster.request({ method: 'GET', path }).then(
        () => true,
        () => false,
      );
    while (await isThere()) await sleep(500);
  }

  /** Number of the operator's writes to the cluster since its start, except those of the lease. */
  async writes(): Promise<number> {
    return clusterWrites(await scrapeStarting(this.operator));
  }

  /** Waits until there are few writes: the events of a burst are written after the statuses. */
  async untilQuiet(): Promise<void> {
    let before: number;
    let now = await this.writes();
    do {
      await sleep(SETTLE_DURATION);
      [before, now] = [now, await this.writes()];
    } while (now - before > FEW_WRITES);
  }

  async create(namespace: string, kind: string, name: string, spec: object): Promise<void> {
    const body = { apiVersion: GROUP_VERSION, kind, metadata: { name, namespace }, spec };
    await this.cluster.request({ method: 'POST', path: pathOf(typeOf(kind), namespace), body });
  }

  /** Creates `n-0`, `n-1`, … as fast as the API server accepts them. */
  async createMany(
    namespace: string,
    kind: string,
    count: number,
    spec: (index: number) => object,
  ): Promise<void> {
    await atOnce(CREATES_AT_ONCE, count, (index) => this.create(namespace, kind, `n-${index}`, spec(index)));
  }

  /**
   * Milliseconds in which resources are created and get the two writes that each costs at least, its finalizer and its status, by a
   * plain client with as many requests at the same time as the operator has for a hub.
   */
  async clusterFloor(kind: string, count: number, spec: (index: number) => object): Promise<number> {
    const namespace = `floor-${count}`;
    return this.withoutOperator(async () => {
      await this.createNamespace(namespace);
      const began = Date.now();
      await this.createMany(namespace, kind, count, spec);
      await atOnce(WORKERS_PER_HUB, count, (index) => this.applyBare(namespace, kind, `n-${index}`));
      const took = Date.now() - began;
      await this.removeNamespace(namespace);
      return took;
    });
  }

  /** An annotation stands for the finalizer: the namespace has to go without an operator. */
  private async applyBare(namespace: string, kind: string, name: string): Promise<void> {
    const write = async (subresource: string | undefined, content: object) => {
      await this.cluster.request({
        method: 'PATCH',
        path: pathOf(typeOf(kind), namespace, name, subresource),
        query: { fieldManager: 'bench', force: true },
        contentType: 'application/apply-patch+yaml',
        body: { apiVersion: GROUP_VERSION, kind, ...content },
      });
    };
    const metadata = { name, namespace };
    await write(undefined, { metadata: { ...metadata, annotations: { floor: 'finalizer' } } });
    const lastTransitionTime = new Date().toISOString();
    const ready = { type: 'Ready', status: 'True', reason: 'Bench', message: 'Written once.' };
    await write('status', {
      metadata,
      status: { conditions: [{ ...ready, lastTransitionTime, observedGeneration: 1 }] },
    });
  }

  async patch(namespace: string, kind: string, name: string, spec: object): Promise<void> {
    await this.cluster.request({
      method: 'PATCH',
      path: pathOf(typeOf(kind), namespace, name),
      contentType: 'application/merge-patch+json',
      body: { spec },
    });
  }

  /** Creates or changes an object that does not belong to the operator. */
  async apply(type: ResourceType, namespace: string, name: string, content: object): Promise<void> {
    await this.cluster.request({
      method: 'PATCH',
      path: pathOf(type, namespace, name),
      query: { fieldManager: 'bench', force: true },
      contentType: 'application/apply-patch+yaml',
      body: { apiVersion: 'v1', kind: type.kind, metadata: { name, namespace }, ...content },
    });
  }

  read<T>(namespace: string, kind: string, name: string): Promise<T> {
    return this.cluster.request<T>({ method: 'GET', path: pathOf(typeOf(kind), namespace, name) });
  }

  /** Resolves with the time at which the last resource of a kind became Ready for its current generation. */
  untilReady(namespace: string, kind: string, timeout = READY_TIMEOUT): Promise<number> {
    return this.untilAll(namespace, kind, isReadyNow, 'are not Ready', timeout);
  }

  /** Waits until the hub has settled after its start and the references of all resources of a kind were checked. */
  async untilReferencesChecked(namespace: string, kind: string): Promise<void> {
    await this.untilAll(namespace, kind, isChecked, 'have references that were not checked', READY_TIMEOUT);
  }

  private async untilAll(
    namespace: string,
    kind: string,
    isDone: (resource: CustomResource) => boolean,
    problem: string,
    timeout: number,
  ): Promise<number> {
    const deadline = Date.now() + timeout;
    for (;;) {
      const items = await this.list(namespace, kind);
      const waiting = items.filter((item) => !isDone(item));
      if (items.length > 0 && waiting.length === 0) return Date.now();
      if (Date.now() > deadline) throw new Error(`${kind}: ${waiting.length} of ${items.length} ${problem}`);
      // A list of thousands takes half a core of the API server, so only one of the resources is polled until
      // it is done.
      const one = waiting.at(-1)?.metadata.name;
      do await sleep(POLL);
      while (one && Date.now() < deadline && !isDone(await this.read(namespace, kind, one)));
    }
  }
}

/** Counts the commands to the hub from now on. */
export async function traffic({ client }: BenchHub): Promise<Traffic> {
  const seen: Traffic = { writes: [], reloads: 0, scriptReloads: 0 };
  await client.connection.subscribeEvents('call_service', (data) => {
    if (data.domain === 'script' && data.service === 'reload') seen.scriptReloads += 1;
    if (data.domain !== 'automation' || data.service !== 'reload') return;
    const { id } = data.service_data;
    if (typeof id !== 'string') seen.reloads += 1;
    else seen.writes.push({ id, at: Date.now() });
  });
  return seen;
}

/** Work for each index below `count`, so many at the same time. */
async function atOnce(limit: number, count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const one = async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  };
  await Promise.all(Array.from({ length: limit }, one));
}

async function isLeading(operator: OperatorProcess): Promise<boolean> {
  const metrics = await scrapeStarting(operator);
  return sum(metrics, 'leader_election_master_status') === 1;
}

function isReadyNow(resource: CustomResource): boolean {
  const condition = conditionOf(resource, 'Ready');
  return condition?.status === 'True' && condition.observedGeneration === resource.metadata.generation;
}

function isChecked(resource: CustomResource): boolean {
  const condition = conditionOf(resource, 'ReferencesFound');
  return condition !== undefined && condition.status !== 'Unknown';
}
