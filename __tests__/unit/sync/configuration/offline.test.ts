import type { Hub, HubConfiguration } from '../../../../operator/kinds';
import { waiting } from '../../../../operator/runtime/outcome';
import type { Accepted } from '../../../../operator/sync/configuration/accepted';
import type { ReloadStrategy } from '../../../../operator/sync/configuration/reload-decision';
import { OfflineConfigurations } from '../../../../operator/sync/configuration/offline';
import { ManualClock } from '../../manual-clock';
import { aHub, services } from '../fixtures';
import { FakeHub } from './fake-hub';

interface Given {
  readonly accepted?: boolean;
  readonly hub?: Hub;
  readonly pod?: object;
  readonly strategy?: ReloadStrategy;
}

const away = waiting('HubNotReady', 'Waiting for the Hub villa.', 300_000);

function setup({ accepted = true, hub = aHub(), pod, strategy = 'auto' }: Given = {}) {
  const clock = new ManualClock();
  const { content, resource } = new FakeHub(clock).wanted('input_boolean:\n  second:\n');
  const written: (string | undefined)[] = [];
  const given = services({
    clock,
    cache: {
      get: (kind: string) => (kind === 'Hub' ? hub : kind === 'Pod' ? pod : undefined) as never,
    },
    secrets: { get: () => Promise.resolve(undefined) },
    applier: {
      apply: (_type, { metadata }) => {
        written.push(metadata.annotations?.['hub-operator.dev/restart-hash']);
        return Promise.resolve(undefined as never);
      },
    },
  });
  const known = { get: () => Promise.resolve(accepted ? ({} as Accepted) : undefined) };
  const offline = new OfflineConfigurations(
    given,
    known as never,
    { replace: () => Promise.resolve(true) } as never,
  );
  const hash = content.marker.configuration;
  return {
    clock,
    hash,
    written,
    sync: (status?: HubConfiguration['status']) =>
      offline.sync({ ...resource, ...(status && { status }) }, { content, strategy }, hub, away),
  };
}

describe('OfflineConfigurations', () => {
  test('a hub that never ran with a configuration gets it at once', async () => {
    const { hash, sync, written } = setup({ accepted: false });
    expect(await sync()).toMatchObject({ reason: 'HubNotReady', status: { configHash: hash } });
    expect(written).toEqual([hash]);
  });

  test('a hub that may come back is waited for, and for a minute only', async () => {
    const { clock, hash, sync, written } = setup();
    expect(await sync()).toMatchObject({ reason: 'HubNotReady', after: 5_000 });
    await clock.advance(59_000);
    await sync();
    expect(written).toEqual([]);
    await clock.advance(1_000);
    await sync();
    expect(written).toEqual([hash]);
  });

  test('a hub whose pod is starting is not interrupted, however long it takes', async () => {
    const hubContainer = { name: 'hub', started: false, state: { running: {} } };
    const { clock, sync, written } = setup({
      pod: { metadata: {}, status: { containerStatuses: [hubContainer] } },
    });
    await sync();
    await clock.advance(20 * 60_000);
    await sync();
    expect(written).toEqual([]);
  });

  test('with hot-reload nothing restarts: the next start of the pod reads the change', async () => {
    const { clock, hash, sync, written } = setup({ strategy: 'hot-reload' });
    await sync();
    await clock.advance(60_000);
    await sync();
    expect(written).toHaveLength(1);
    // As decided before: here the ConfigMap does not exist yet.
    expect(written).toEqual([hash]);
  });

  test('a hub in recovery mode gets it at once', async () => {
    const condition = {
      type: 'Ready',
      status: 'False',
      reason: 'RecoveryMode',
      message: '',
      lastTransitionTime: '',
    };
    const { hash, sync, written } = setup({ hub: aHub({ status: { conditions: [condition] } as never }) });
    await sync();
    expect(written).toEqual([hash]);
  });

  test('what the hub rejected stays rejected while its pod is replaced for another reason', async () => {
    const { hash, sync, written } = setup();
    const condition = { type: 'Ready', status: 'False', reason: 'CheckFailed', message: 'Rejected.' };
    const outcome = await sync({ configHash: hash, conditions: [condition] } as never);
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'CheckFailed', message: 'Rejected.' });
    expect(written).toEqual([]);
  });
});
