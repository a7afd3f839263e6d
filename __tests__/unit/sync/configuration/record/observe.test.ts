import type { Pod } from '../../../../../operator/sync/hub-workload/owned-objects';
import type { HubConfiguration } from '../../../../../operator/kinds';
import { observeUnusable, restartHeldBy } from '../../../../../operator/sync/configuration/record/observe';
import { prepareMessage } from '../fake-hub';
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
}

function podWith({ started = true, restartCount = 0, isRunning = true }: Container): Pod {
  return {
    metadata: { name: 'villa-0', namespace: 'home', uid: 'pod-1' },
    status: {
      initContainerStatuses: [
        { name: 'prepare-config', state: { terminated: { message: prepareMessage('loaded', MARKER) } } },
      ],
      containerStatuses: [
        {
          name: 'hub',
          started,
          restartCount,
          state: isRunning ? { running: { startedAt: '2026-01-01T00:00:00Z' } } : {},
        },
      ],
    },
  };
}

/** A hub that cannot be used, as its Hub and its pod show it. */
function observe(reason: string, container: Container = {}) {
  const conditions = [{ type: 'Ready', status: 'False', reason, message: '', lastTransitionTime: '' }];
  const hub = aHub({ status: { conditions } as never });
  const pod = podWith(container);
  const given = services({
    cache: { get: (kind: string) => (kind === 'Pod' ? pod : undefined) as never },
    secrets: { get: () => Promise.resolve(undefined) },
  });
  return observeUnusable(given, { contact: () => Promise.reject(new Error('not asked')) }, resource, hub);
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

  test('the content that a pod began with is not that of another start in it', async () => {
    expect((await observe('HubUnreachable')).pod).toMatchObject({ begunWith: MARKER });
    expect((await observe('HubUnreachable', { restartCount: 1 })).pod?.begunWith).toBeUndefined();
  });
});

type Conditions = Readonly<Record<string, string>>;

/** What holds a restart back, beside these conditions of the Hub and its `status.restartHeld`. */
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
  ])('is silent about %s', (_, values) => {
    expect(heldBy(values)).toBeUndefined();
  });
});
