import type { Pod } from '../../../../../operator/sync/hub-pod/owned-objects';
import type { HubConfiguration } from '../../../../../operator/kinds';
import { operatorAnnotations } from '../../../../../operator/kinds/annotations';
import { observeUnusable, restartHeldBy } from '../../../../../operator/sync/configuration/record/observe';
import type { HubStart } from '../../../../../operator/sync/configuration/record/record';
import { prepareMessage } from '../../../stand-in-hub/pod';
import { aHub, services } from '../../fixtures';

const MARKER = { configuration: 'sha256:a' };
const resource = {
  metadata: { namespace: 'home', name: 'villa' },
  spec: { hubRef: { name: 'villa' } },
} as HubConfiguration;

interface Container {
  readonly started?: boolean;
  readonly restartCount?: number;
  readonly isRunning?: boolean;
  /** The last end of the hub's process. */
  readonly end?: {
    readonly exitCode: number;
    readonly reason?: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
  };
  readonly limits?: Readonly<Record<string, string>>;
  readonly podLimits?: Readonly<Record<string, string>>;
  readonly version?: string;
  readonly image?: string;
  readonly nodeName?: string;
  readonly community?: string;
}

function podWith({
  started = true,
  restartCount = 0,
  isRunning = true,
  end,
  limits = {},
  podLimits = {},
  version = '2026.11.0',
  image = 'home-assistant:1',
  nodeName = 'node-1',
  community,
}: Container): Pod {
  const waiting = end ? { waiting: { reason: 'CrashLoopBackOff' } } : {};
  return {
    metadata: {
      name: 'villa-0',
      namespace: 'home',
      uid: 'pod-1',
      annotations: { ...(community && { [operatorAnnotations.communityHash]: community }) },
    },
    spec: {
      nodeName,
      resources: { limits: podLimits },
      containers: [{ name: 'hub', image, resources: { limits } }],
    },
    status: {
      initContainerStatuses: [
        {
          name: 'prepare-config',
          state: { terminated: { message: prepareMessage('loaded', MARKER).replace('2026.11.0', version) } },
        },
      ],
      containerStatuses: [
        {
          name: 'hub',
          started,
          restartCount,
          state: isRunning ? { running: { startedAt: '2026-01-01T00:00:00Z' } } : waiting,
          ...(end && { lastState: { terminated: end } }),
        },
      ],
    },
  };
}

/** Observes a hub that cannot be used, with this state of its Hub and its pod. */
function observe(reason: string, container: Container = {}, lastSeen?: HubStart) {
  const conditions = [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: '' }];
  const hub = aHub({ status: { conditions } as never });
  const pod = podWith(container);
  const given = services({
    cache: { get: (kind: string) => (kind === 'Pod' ? pod : undefined) as never },
    secrets: { get: () => Promise.resolve(new Map([['secrets.yaml', 'password: hunter22\n']])) },
  });
  const hubs = { contact: () => Promise.reject(new Error('not asked')) };
  return observeUnusable(given, hubs, resource, hub, lastSeen);
}

describe('observeUnusable', () => {
  test.each<[string, Container, string]>([
    ['ApiNotLoaded', {}, 'starting'],
    ['HubNotReady', { started: false }, 'starting'],
    ['HubUnreachable', {}, 'away'],
    ['ApiNotLoaded', { isRunning: false }, 'away'],
    ['TokenRejected', {}, 'locked'],
    ['TokenNotAvailable', { started: false }, 'locked'],
    ['Bootstrapping', {}, 'locked'],
  ])('a Hub that reports %s, with a container %j, is %s', async (reason, container, mode) => {
    expect(await observe(reason, container)).toMatchObject({ mode });
  });

  test('the content with which a pod began is not that of another start in it', async () => {
    expect((await observe('HubUnreachable')).pod).toMatchObject({ begunWith: MARKER });
    expect((await observe('HubUnreachable', { restartCount: 1 })).pod?.begunWith).toBeUndefined();
    expect((await observe('HubUnreachable', { restartCount: 1 })).pod).toMatchObject({
      preparedWith: MARKER,
    });
  });

  describe('a process that ends repeatedly', () => {
    const crash = { started: false, isRunning: false, restartCount: 3 };
    const memory = { memory: '1Gi' };

    test.each<[string, Container, string]>([
      ['with its own code', { end: { exitCode: 1, reason: 'Error' } }, 'exit code 1'],
      ['by a native crash', { end: { exitCode: 139, reason: 'Error' } }, 'exit code 139'],
      [
        'at its memory limit',
        { end: { exitCode: 137, reason: 'OOMKilled' }, limits: memory },
        'OOMKilled, exit code 137',
      ],
      [
        'at the memory limit of its pod',
        { end: { exitCode: 137, reason: 'OOMKilled' }, podLimits: memory },
        'OOMKilled, exit code 137',
      ],
    ])('%s is crashing', async (_, container, last) => {
      const observed = await observe('PodNotReady', { ...crash, ...container });
      expect(observed).toMatchObject({ mode: 'crashing', pod: { ends: { times: 4, last, words: '' } } });
    });

    test.each<[string, Container]>([
      ['that was asked to stop, as by a probe', { end: { exitCode: 0, reason: 'Completed' } }],
      ['that asked for a restart', { end: { exitCode: 100, reason: 'Error' } }],
      ['that was killed', { end: { exitCode: 137, reason: 'Error' } }],
      ['that ended by the signal of a stop', { end: { exitCode: 143, reason: 'Error' } }],
      ['on a node without memory', { end: { exitCode: 137, reason: 'OOMKilled' }, limits: {} }],
      ['that has ended three times', { end: { exitCode: 139 }, restartCount: 2 }],
      ['that runs again', { end: { exitCode: 139 }, isRunning: true }],
      [
        'that has run for ten minutes',
        { end: { exitCode: 1, startedAt: '2026-01-01T00:00:00Z', finishedAt: '2026-01-01T00:10:00Z' } },
      ],
    ])('one %s is not crashing', async (_, container) => {
      const observed = await observe('PodNotReady', { ...crash, limits: memory, ...container });
      expect(observed.mode).not.toBe('crashing');
    });

    test('is counted from the start that was last seen in that pod', async () => {
      const start = { id: 'a', pod: 'pod-1', restarts: 2 };
      const after = (restartCount: number, lastSeen: HubStart) =>
        observe('PodNotReady', { ...crash, restartCount, end: { exitCode: 1 } }, lastSeen);
      expect((await after(5, start)).mode).toBe('away');
      expect(await after(6, start)).toMatchObject({ mode: 'crashing', pod: { ends: { times: 4 } } });
      expect((await after(7, { ...start, restarts: undefined })).mode).toBe('away');
      expect((await after(3, { ...start, pod: 'another' })).mode).toBe('crashing');
    });

    test('is quoted with its last lines, without secrets', async () => {
      const message = `a\nb hunter22\nc\n${'d'.repeat(400)}\n`;
      const { pod } = await observe('PodNotReady', { ...crash, end: { exitCode: 1, message } });
      expect(pod!.ends!.words).toBe(`b ***\nc\n${'d'.repeat(300)}`);
    });
  });

  test('pods differ by everything except their configuration and their node', async () => {
    const workload = async (container: Container) => (await observe('PodNotReady', container)).pod!.workload;
    const same = await workload({});
    expect(await workload({ nodeName: 'node-2' })).toBe(same);
    for (const other of [
      { image: 'home-assistant:2' },
      { limits: { memory: '1Gi' } },
      { community: 'sha256:b' },
      { version: '2026.12.0' },
    ])
      expect(await workload(other)).not.toBe(same);
  });
});

type Conditions = Readonly<Record<string, string>>;

/**
 * Returns the reason that blocks a restart, with these conditions of the Hub and its `status.restartHeld`.
 */
function heldBy(values: Conditions, restartHeld?: string) {
  const conditions = Object.entries(values).map(([type, reason]) => ({ type, reason, message: '' }));
  return restartHeldBy(aHub({ status: { conditions, restartHeld } as never }));
}

describe('restartHeldBy', () => {
  test.each<[string, Conditions, string | undefined, string]>([
    ['a pod template that cannot be applied', { Stalled: 'InvalidSpec' }, 'InvalidSpec', 'InvalidSpec'],
    ['a suspended Hub', { Ready: 'HubRunning', Suspended: 'Suspended' }, undefined, 'Suspended'],
    ['a Hub with dry-run', { Ready: 'DryRun' }, undefined, 'DryRun'],
  ])('names %s', (_, values, restartHeld, reason) => {
    expect(heldBy(values, restartHeld)).toBe(reason);
  });

  test.each<[string, Conditions]>([
    ['nothing', {}],
    ['a mistake that concerns another object', { Stalled: 'InvalidSpec' }],
  ])('ignores %s', (_, values) => {
    expect(heldBy(values)).toBeUndefined();
  });
});
