import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeConfig } from '@kubernetes/client-node';
import { systemClock } from '../operator/base/clock';
import { GROUP_VERSION } from '../operator/kinds/group';
import type { CustomResource } from '../operator/kinds/resource';
import { ApiClient } from '../operator/runtime/api-client';
import { conditionOf } from '../operator/runtime/conditions';
import { pathOf } from '../operator/runtime/objects';
import { shippedMemory } from '../manifests/memory';
import { startSandbox } from '../sandbox';
import { bundleOperator } from '../sandbox/image/bundle';
import { installOperator, type OperatorProcess, startOperator } from '../sandbox/operator-process';
import { freePort } from '../sandbox/ports';
import type { SandboxProcess } from '../sandbox/process';
import { webhookSettings } from '../sandbox/webhook';
import { ExternalHubs } from './external-hubs';
import { HostileHub, postReviews } from './hostile-peers';
import { median } from './median';
import { MemoryLimit } from './memory-limit';
import { scrapeStarting, sum } from './operator-metrics';
import { typeOf } from './resource-type';
import { startStandIn } from './start-stand-in';
import type { Figures } from './runtime';

/**
 * Runs the operator as it ships, with its lease, its probes and its webhook, while hostile hubs, a pod and a
 * user attack it. Measures whether resources of another hub have to wait. That other hub is a lightweight
 * stand-in.
 */

const NAMESPACE = 'hostile';
const automations = typeOf('HubAutomation');
const OPERATOR_NAMESPACE = 'hub-operator';
const PLACES = ['rest', 'first-frame', 'later-frame'] as const;
/** Number of hostile hubs for each place of attack. */
const HUBS = 10;
const LARGE = 6;
const AUTOMATION = {
  hubRef: { name: 'usual' },
  alias: 'At noon',
  triggers: [{ trigger: 'time', at: '12:00:00' }],
  actions: [{ delay: 1 }],
};
/** Creations before the attack, which show how long one takes on this machine. */
const ROUNDS_BEFORE = 20;
// Intervals in milliseconds.
const POLL = 20;
const PROBE_INTERVAL = 500;
const READY_TIMEOUT = 120_000;
const LONGEST_FLOOD = 150_000;

export async function benchHostileOperator(count: number): Promise<Figures> {
  const sandbox = await startSandbox({ progress: 'plain' });
  const config = new KubeConfig();
  config.loadFromFile(sandbox.kubeconfig);
  const cluster = new ApiClient(config, { clock: systemClock, timeout: 60_000 });
  const hubs: NamedHub[] = [];
  const limit = MemoryLimit.create(`hub-operator-${process.pid}`, shippedMemory());
  let usual: SandboxProcess | undefined;
  try {
    await bundleOperator();
    await installOperator(sandbox);
    const webhookPort = await freePort();
    const operator = await startOperator(sandbox, {
      settings: { LOG_LEVEL: 'warn', ALLOW_LOCAL_HUBS: 'true', ...webhookSettings(webhookPort) },
      ...(limit && { launcher: limit.launcher }),
    });
    const external = new ExternalHubs(cluster, NAMESPACE);
    await external.createNamespace();
    const hubPort = await freePort();
    usual = await startStandIn(sandbox, 'stand-in', hubPort);
    await external.add('usual', `http://127.0.0.1:${hubPort}`);
    while (sum(await scrapeStarting(operator), 'leader_election_master_status') !== 1) await sleep(POLL);
    return {
      ...(await attack(operator, new Load(cluster), external, { hubs, webhookPort, count })),
      'processes that the kernel ended for the memory limit of the container':
        limit?.kills ?? 'no limit here',
      'peak memory of the container, MB': limit ? Math.round(limit.peak / 1e6) : 'no limit here',
      'peak RSS, MB': Math.round((await peakMemory(operator)) / 1e6),
    };
  } finally {
    for (const [, hub] of hubs) hub.stop();
    await usual?.kill();
    cluster.close();
    await sandbox.stop();
    await limit?.remove();
  }
}

type NamedHub = readonly [name: string, hub: HostileHub];

interface Attack {
  /** Receives the hostile hubs. */
  readonly hubs: NamedHub[];
  readonly webhookPort: number;
  /** Number of floods of each place. */
  readonly count: number;
}

async function attack(
  operator: OperatorProcess,
  load: Load,
  external: ExternalHubs,
  { hubs, webhookPort, count }: Attack,
): Promise<Figures> {
  const before: number[] = [];
  for (let round = 0; round < ROUNDS_BEFORE; round++) before.push(await load.creation());

  const transitions = (await load.lease()).leaseTransitions;
  const watch = new Watch(operator, load);
  for (let index = 0; index < LARGE; index++) await load.addLarge(`large-${index}`);
  await startHostileHubs(hubs, external);
  const { during, posts } = await flood(load, external, { hubs, webhookPort, count });
  await watch.stop();
  const { leaseTransitions } = await load.lease();
  const told = await load.largeTold();
  const floods = PLACES.map((place) => floodsOf(hubs, place)).join(', ');
  return {
    'floods (REST, first frames, later frames), POSTs': `${floods}, ${posts}`,
    'a new automation of another hub is Ready before them: median, longest, ms': pair(before),
    'a new automation of another hub is Ready during the floods: median, longest, ms': pair(during),
    'the longest wait for the floods: longest during, less the median before, ms': Math.round(
      Math.max(...during) - median(before),
    ),
    'such automations': during.length,
    'large automations that are InvalidSpec': `${told} of ${LARGE}`,
    'ends of the operator': operator.process.running ? 0 : 1,
    'changes of the leader': (leaseTransitions ?? 0) - (transitions ?? 0),
    'longest time since the lease was renewed, s': round(watch.oldestLease / 1_000),
    'longest answer of a probe, ms': Math.round(watch.longestProbe),
    'probes that failed': `${watch.failed} of ${watch.probes}`,
  };
}

async function startHostileHubs(hubs: NamedHub[], external: ExternalHubs): Promise<void> {
  for (const place of PLACES)
    for (let index = 0; index < HUBS; index++) {
      const hub = await HostileHub.start(place);
      hubs.push([`${place}-${index}`, hub]);
      await external.add(`${place}-${index}`, hub.url);
    }
}

const floodsOf = (hubs: readonly NamedHub[], place: string): number =>
  hubs.filter(([name]) => name.startsWith(place)).reduce((all, [, { floods }]) => all + floods, 0);

/** Creates automations of the well-behaved hub until all floods and reviews were sent. */
async function flood(
  load: Load,
  external: ExternalHubs,
  { hubs, webhookPort, count }: Attack,
): Promise<{ readonly during: readonly number[]; readonly posts: number }> {
  let posted = false;
  const end = Date.now() + LONGEST_FLOOD;
  const posting = postReviews(webhookPort, count, end).finally(() => (posted = true));
  const floods = () => PLACES.map((place) => floodsOf(hubs, place));
  const during: number[] = [];
  const isThrough = () => posted && floods().every((sent) => sent >= count);
  while (Date.now() < end && !isThrough()) {
    console.log(
      `floods: ${floods().join(', ')} of ${count}; ${Math.ceil((end - Date.now()) / 1_000)} s left`,
    );
    await Promise.all(hubs.map(([name]) => external.askAgain(name)));
    during.push(await load.creation());
  }
  return { during, posts: await posting };
}

const round = (value: number): number => Math.round(value * 10) / 10;

const pair = (times: readonly number[]): string =>
  `${Math.round(median(times))}, ${Math.round(Math.max(...times))}`;

/** Highest memory use of the process so far, in bytes (Linux). */
async function peakMemory(operator: OperatorProcess): Promise<number> {
  const status = await readFile(`/proc/${operator.process.pid}/status`, 'utf8');
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)![1]) * 1_024;
}

interface LeaseSpec {
  readonly leaseTransitions?: number;
  readonly renewTime: string;
}

/** Creates objects in the cluster, and reads their state. */
class Load {
  private created = 0;

  constructor(private readonly cluster: ApiClient) {}

  /** Adds an object of 1.4 MiB with the content that takes the most memory. */
  async addLarge(name: string): Promise<void> {
    const actions = [{ x: Array.from({ length: 450_000 }, () => ({})) }];
    await this.create(name, { ...AUTOMATION, actions });
  }

  /** Returns the milliseconds until a new automation of the well-behaved hub is Ready. */
  async creation(): Promise<number> {
    const name = `usual-${this.created++}`;
    const began = performance.now();
    await this.create(name, AUTOMATION);
    while ((await this.ready(name))?.status !== 'True') {
      if (performance.now() - began > READY_TIMEOUT)
        throw new Error(`${name}: ${JSON.stringify(await this.ready(name))}`);
      await sleep(POLL);
    }
    return performance.now() - began;
  }

  async lease(): Promise<LeaseSpec> {
    const path = `/apis/coordination.k8s.io/v1/namespaces/${OPERATOR_NAMESPACE}/leases/${OPERATOR_NAMESPACE}`;
    return (await this.cluster.request<{ spec: LeaseSpec }>({ method: 'GET', path })).spec;
  }

  /** Counts the large objects whose condition says that they cannot be processed. */
  async largeTold(): Promise<number> {
    const names = Array.from({ length: LARGE }, (_, index) => `large-${index}`);
    const conditions = await Promise.all(names.map((name) => this.ready(name)));
    return conditions.filter((condition) => condition?.reason === 'InvalidSpec').length;
  }

  private async ready(name: string) {
    const path = pathOf(automations, NAMESPACE, name);
    return conditionOf(await this.cluster.request<CustomResource>({ method: 'GET', path }), 'Ready');
  }

  private async create(name: string, spec: object): Promise<void> {
    const metadata = { name, namespace: NAMESPACE };
    const body = { apiVersion: GROUP_VERSION, kind: automations.kind, metadata, spec };
    await this.cluster.request({ method: 'POST', path: pathOf(automations, NAMESPACE), body });
  }
}

/** Polls the probes as a kubelet does, and reads the lease, until it is stopped. */
class Watch {
  probes = 0;
  failed = 0;
  /** In milliseconds. */
  longestProbe = 0;
  oldestLease = 0;
  private isStopped = false;
  private readonly ended: Promise<void>;

  constructor(
    private readonly operator: OperatorProcess,
    private readonly load: Load,
  ) {
    this.ended = this.run();
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    await this.ended;
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      for (const path of ['/healthz', '/readyz']) await this.probe(path);
      const { renewTime } = await this.load.lease();
      this.oldestLease = Math.max(this.oldestLease, Date.now() - Date.parse(renewTime));
      await sleep(PROBE_INTERVAL);
    }
  }

  private async probe(path: string): Promise<void> {
    const began = performance.now();
    const isOk = await fetch(`${this.operator.url}${path}`).then(
      ({ ok }) => ok,
      () => false,
    );
    this.probes += 1;
    if (!isOk) this.failed += 1;
    this.longestProbe = Math.max(this.longestProbe, performance.now() - began);
  }
}
