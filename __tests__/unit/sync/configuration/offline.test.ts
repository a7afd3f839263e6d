import type { Hub, HubConfiguration } from '../../../../operator/kinds';
import { waiting } from '../../../../operator/runtime/outcome';
import type { Accepted } from '../../../../operator/sync/configuration/record/accepted-configuration';
import type { ReloadStrategy } from '../../../../operator/sync/configuration/load/reload-decision';
import { HubReturn } from '../../../../operator/sync/configuration/hub-return';
import { OfflineConfigurations } from '../../../../operator/sync/configuration/offline';
import { ManualClock } from '../../manual-clock';
import { aHub, services } from '../fixtures';
import { FakeHub } from './fake-hub';

interface Given {
  readonly accepted?: Partial<Accepted> | undefined;
  readonly hub?: Hub;
  readonly pod?: object;
  readonly strategy?: ReloadStrategy;
  /** Annotations of the ConfigMap that exists. */
  readonly published?: Readonly<Record<string, string>>;
}

const GROUP = 'hub-operator.dev';
const away = waiting('HubNotReady', 'Waiting for the Hub villa.', 300_000);
const KNOWN: Partial<Accepted> = {
  files: { 'configuration.yaml': 'input_boolean:\n' },
  marker: { configuration: 'sha256:before' },
  loaded: new Map(),
  pending: [],
};
/** The hub runs with what it accepted. */
const RUNS = { [`${GROUP}/content-hash`]: 'sha256:before', [`${GROUP}/restart-hash`]: 'sha256:before' };

function setup(given: Given = {}) {
  const { hub = aHub(), pod, strategy = 'auto', published } = given;
  const accepted = 'accepted' in given ? given.accepted : KNOWN;
  const clock = new ManualClock();
  const { content, resource } = new FakeHub(clock).desired('input_boolean:\n  second:\n');
  const written: (string | undefined)[] = [];
  const writtenSecrets: (string | undefined)[] = [];
  const offered = services({
    clock,
    cache: {
      get: (kind: string) => {
        if (kind === 'ConfigMap') return (published && { metadata: { annotations: published } }) as never;
        return (kind === 'Hub' ? hub : kind === 'Pod' ? pod : undefined) as never;
      },
    },
    secrets: { get: () => Promise.resolve(undefined) },
    applier: {
      apply: (_type, { metadata }) => {
        written.push(metadata.annotations?.[`${GROUP}/restart-hash`]);
        writtenSecrets.push(metadata.annotations?.[`${GROUP}/restart-secrets-hash`]);
        return Promise.resolve(undefined as never);
      },
    },
  });
  const known = { current: () => Promise.resolve(accepted) };
  const offline = new OfflineConfigurations(
    offered,
    known as never,
    { replace: () => Promise.resolve(true) } as never,
    { handle: () => Promise.resolve(undefined) } as never,
    new HubReturn(offered),
  );
  const hash = content.marker.configuration;
  return {
    clock,
    content,
    hash,
    written,
    writtenSecrets,
    sync: (status?: HubConfiguration['status'], forced = false) =>
      offline.sync(
        {
          resource: { ...resource, ...(status && { status }) },
          content,
          policy: { strategy, autoRestart: true },
        },
        hub,
        away,
        forced,
      ),
  };
}

describe('OfflineConfigurations', () => {
  test('a hub that never ran with a configuration gets it at once', async () => {
    const { hash, sync, written } = setup({ accepted: undefined });
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

  describe('while the pod starts', () => {
    const hubContainer = { name: 'hub', started: false, state: { running: {} } };
    const pod = { metadata: {}, status: { containerStatuses: [hubContainer] } };

    test('a hub that starts with what it has run with is not interrupted for ten minutes', async () => {
      const { clock, hash, sync, written } = setup({ pod, published: RUNS });
      expect(await sync()).toMatchObject({
        type: 'Waiting',
        after: 5_000,
        message: expect.stringMatching(/waits for up to 10 minutes.*reconcile-requested-at/),
      });
      await clock.advance(10 * 60_000 - 1);
      await sync();
      expect(written).toEqual([]);
      await clock.advance(1);
      await sync();
      expect(written).toEqual([hash]);
    });

    test.each([
      ['has not accepted', { ...KNOWN, marker: { configuration: 'sha256:older' } }],
      ['has not started with', { ...KNOWN, pending: ['recorder'], mustRestart: true }],
    ])('one that starts with what it %s gets the correction after a minute', async (_, accepted) => {
      const { clock, hash, sync, written } = setup({ pod, published: RUNS, accepted });
      await sync();
      await clock.advance(60_000);
      await sync();
      expect(written).toEqual([hash]);
    });

    test('a request of a person restarts it at once', async () => {
      const { hash, sync, written } = setup({ pod, published: RUNS });
      await sync(undefined, true);
      expect(written).toEqual([hash]);
    });
  });

  test.each<[string, Partial<Accepted>, ReloadStrategy, boolean]>([
    ['a value that a section uses', { loaded: new Map() }, 'auto', true],
    ['a value that a section uses, under hot-reload', { loaded: new Map() }, 'hot-reload', false],
    ['a value that nothing uses', {}, 'auto', false],
  ])('%s has changed since the hub was restarted for the files', async (_, fields, strategy, restarts) => {
    const { content } = setup();
    const { configuration } = content.marker;
    const published = {
      [`${GROUP}/content-hash`]: configuration,
      [`${GROUP}/restart-hash`]: configuration,
      [`${GROUP}/restart-secrets-hash`]: 'sha256:former',
    };
    const accepted = { ...KNOWN, marker: content.marker, loaded: content.sections, ...fields };
    const { clock, sync, writtenSecrets } = setup({ accepted, published, strategy });
    await sync();
    expect(writtenSecrets.every((hash) => hash === 'sha256:former')).toBe(true);
    await clock.advance(60_000);
    await sync();
    expect(writtenSecrets.at(-1)).toBe(restarts ? undefined : 'sha256:former');
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
    // Soon again: a hub that did not answer cannot have said that it is in recovery mode.
    expect(await sync()).toMatchObject({ reason: 'HubNotReady', after: 30_000 });
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
