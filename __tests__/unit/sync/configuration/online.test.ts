import type { ReloadStrategy } from '../../../../operator/sync/configuration/reload-decision';
import type { Wanted } from '../../../../operator/sync/configuration/loads';
import { ManualClock } from '../../manual-clock';
import { FakeHub } from './fake-hub';

const BASE = 'input_boolean:\n  first:\n';
const HOT = 'input_boolean:\n  second:\n';
const RESTART = `${BASE}counter:\n  visits:\n`;
const BROKEN = 'input_boolean:\n  broken: 5\n';

async function started() {
  const hub = new FakeHub(new ManualClock());
  hub.check = (text) => (text.includes('broken') ? "Invalid config for 'input_boolean'" : null);
  const base = hub.wanted(BASE);
  hub.begin(base);
  expect(await hub.settle(base)).toBe('ConfigurationLoaded');
  hub.events.length = 0;
  return hub;
}

const changesOf = (events: readonly string[]) => events.filter((event) => event !== 'refresh');

describe('OnlineConfigurations', () => {
  test('reloads a section that has a service, after the marker was seen', async () => {
    const hub = await started();
    expect(await hub.settle(hub.wanted(HOT))).toBe('ConfigurationLoaded');
    expect(changesOf(hub.events)).toEqual([
      'write villa-configuration',
      'script/reload',
      // What is about to be reloaded, for the case of a crash.
      'write villa-configuration-accepted',
      'input_boolean/reload',
      'write villa-configuration-last-good',
      'write villa-configuration-accepted',
    ]);
    expect(hub.loaded.get('input_boolean')).toContain('second');
  });

  test('writes nothing once it is loaded', async () => {
    const hub = await started();
    const base = hub.wanted(BASE);
    const online = hub.operator();
    for (let count = 0; count < 100; count++)
      expect(await hub.settle(base, online)).toBe('ConfigurationLoaded');
    expect(hub.events).toEqual([]);
  });

  test('restarts for a section without a service, once it was checked', async () => {
    const hub = await started();
    expect(await hub.settle(hub.wanted(RESTART))).toBe('ConfigurationLoaded');
    expect(hub.events.filter((event) => event === 'restart')).toHaveLength(1);
    expect(hub.loaded.get('counter')).toContain('visits');
  });

  test('puts the accepted content back when the check rejects a change', async () => {
    const hub = await started();
    const before = hub.text;
    expect(await hub.settle(hub.wanted(BROKEN))).toBe('CheckFailed');
    expect(hub.text).toBe(before);
    expect(hub.events).not.toContain('restart');
    expect(hub.events).not.toContain('input_boolean/reload');
  });

  test('goes back to a content that waits for a restart, and the restart is not forgotten', async () => {
    const hub = await started();
    expect(await hub.settle(hub.wanted(RESTART, 'hot-reload'))).toBe('RestartPending');
    expect(await hub.settle(hub.wanted(BROKEN, 'hot-reload'))).toBe('CheckFailed');
    expect(hub.text).toContain('visits');
    expect(await hub.settle(hub.wanted(RESTART))).toBe('ConfigurationLoaded');
    expect(hub.loaded.get('counter')).toContain('visits');
  });

  test('under hot-reload a reload of what is reverted comes also after a partial one', async () => {
    const hub = await started();
    expect(await hub.settle(hub.wanted(`${HOT}counter:\n  visits:\n`, 'hot-reload'))).toBe('RestartPending');
    expect(hub.loaded.get('input_boolean')).toContain('second');
    expect(await hub.settle(hub.wanted(BASE, 'hot-reload'))).toBe('ConfigurationLoaded');
    expect(hub.loaded.get('input_boolean')).toContain('first');
  });

  test('a crash after the reload is remembered by a change back', async () => {
    const hub = await started();
    // Content, refresh, marker, what is about to be reloaded, the reload, and then the result is lost.
    hub.killAfter(6);
    await hub.untilKilled(hub.wanted(HOT));
    expect(hub.loaded.get('input_boolean')).toContain('second');
    expect(await hub.settle(hub.wanted(BASE))).toBe('ConfigurationLoaded');
    expect(hub.loaded.get('input_boolean')).toContain('first');
  });

  test('a rejection is not tried again by the next process, but in the next start of the hub', async () => {
    const hub = await started();
    expect(await hub.settle(hub.wanted(BROKEN))).toBe('CheckFailed');
    const { configuration: configHash } = hub.wanted(BROKEN).content.marker;
    hub.setStatus({
      configHash,
      conditions: [{ type: 'Ready', status: 'False', reason: 'CheckFailed', message: 'Rejected.' }],
    } as never);
    hub.events.length = 0;
    expect(await hub.settle(hub.wanted(BROKEN))).toBe('CheckFailed');
    expect(hub.events).toEqual([]);
  });

  test('restarts also for a content that the pod was started for before', async () => {
    const hub = await started();
    const template = `${BASE}template:\n  - sensor: []\n`;
    expect(await hub.settle(hub.wanted(template))).toBe('ConfigurationLoaded');
    expect(hub.events).not.toContain('restart');
    // A section that goes has no reload, and the hash of this content is that of the first start.
    expect(await hub.settle(hub.wanted(BASE))).toBe('ConfigurationLoaded');
    expect(hub.events.filter((event) => event === 'delete pod')).toHaveLength(1);
    expect(hub.loaded.get('template')).not.toContain('sensor');
  });

  test('restarts for a new file, which is linked at the start of the pod', async () => {
    const hub = await started();
    const files = { 'switches.yaml': 'second:\n' };
    const text = 'input_boolean: !include switches.yaml\n';
    expect(await hub.settle(hub.wanted(text, 'hot-reload', files))).toBe('RestartPending');
    expect(hub.text).toContain('first');
    expect(await hub.settle(hub.wanted(text, 'auto', files))).toBe('ConfigurationLoaded');
    expect(hub.events.filter((event) => event === 'restart')).toHaveLength(1);
    expect(hub.loaded.get('input_boolean')).toContain('switches.yaml');
  });

  test('restarts for what is pending when the strategy allows it', async () => {
    const hub = await started();
    expect(await hub.settle(hub.wanted(RESTART, 'hot-reload'))).toBe('RestartPending');
    expect(await hub.settle(hub.wanted(RESTART, 'auto'))).toBe('ConfigurationLoaded');
    expect(hub.events).toContain('restart');
  });

  describe('a restart that is decided and has not begun', () => {
    /** `RESTART` within its debounce. */
    async function decided() {
      const hub = await started();
      hub.holdsRollouts = true;
      const operator = hub.operator();
      expect(await hub.reconcile(hub.wanted(RESTART), 5, operator)).toMatchObject({
        reason: 'RestartPending',
      });
      return { hub, operator };
    }
    const restartsLater = async (hub: FakeHub, reached: Wanted) => {
      hub.holdsRollouts = false;
      hub.events.length = 0;
      await hub.reconcile(reached, 5);
      return hub.events.includes('restart');
    };

    test('is withdrawn when the change is taken back', async () => {
      const { hub, operator } = await decided();
      expect(await hub.settle(hub.wanted(BASE), operator)).toBe('ConfigurationLoaded');
      expect(await restartsLater(hub, hub.wanted(BASE))).toBe(false);
    });

    test.each([1, 2, 3, 4, 5, 6, 7])('so also by a process that is killed at change %i', async (step) => {
      const { hub, operator } = await decided();
      hub.killAfter(step);
      expect(await hub.settle(hub.wanted(BASE), operator)).toBe('ConfigurationLoaded');
      expect(await restartsLater(hub, hub.wanted(BASE))).toBe(false);
    });

    test('is withdrawn when a new file is taken back, which a hub that runs has never seen', async () => {
      const hub = await started();
      hub.holdsRollouts = true;
      const files = { 'switches.yaml': 'second:\n' };
      const added = hub.wanted('input_boolean: !include switches.yaml\n', 'auto', files);
      const operator = hub.operator();
      expect(await hub.reconcile(added, 5, operator)).toMatchObject({ reason: 'RestartPending' });
      expect(await hub.settle(hub.wanted(BASE), operator)).toBe('ConfigurationLoaded');
      expect(await restartsLater(hub, hub.wanted(BASE))).toBe(false);
    });

    test('is withdrawn when the strategy becomes hot-reload', async () => {
      const { hub, operator } = await decided();
      const wanted = hub.wanted(RESTART, 'hot-reload');
      expect(await hub.settle(wanted, operator)).toBe('RestartPending');
      expect(await restartsLater(hub, wanted)).toBe(false);
    });

    test('stays when another change follows, also one that is rejected', async () => {
      const { hub, operator } = await decided();
      expect(await hub.settle(hub.wanted(BROKEN), operator)).toBe('CheckFailed');
      expect(await hub.reconcile(hub.wanted(RESTART), 5, operator)).toMatchObject({
        reason: 'RestartPending',
      });
      expect(await restartsLater(hub, hub.wanted(RESTART))).toBe(true);
    });
  });

  test('a restart by a person loads what is pending, and is reported as a restart', async () => {
    const hub = await started();
    const operator = hub.operator();
    expect(await hub.settle(hub.wanted(RESTART, 'hot-reload'), operator)).toBe('RestartPending');
    hub.restart();
    expect(await hub.settle(hub.wanted(RESTART, 'hot-reload'), operator)).toBe('ConfigurationLoaded');
    expect(hub.loaded.get('counter')).toContain('visits');
    expect(hub.reported).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
  });

  const ends: readonly [string, string, ReloadStrategy, string][] = [
    ['a hot reload', HOT, 'auto', 'ConfigurationLoaded'],
    ['a restart', RESTART, 'auto', 'ConfigurationLoaded'],
    ['a restart that is forbidden', RESTART, 'hot-reload', 'RestartPending'],
    ['a rejected change', BROKEN, 'auto', 'CheckFailed'],
  ];
  const crashes = ends.flatMap((end) => [1, 2, 3, 4, 5, 6, 7, 8].map((step) => [...end, step] as const));
  test.each(crashes)(
    '%s (%j, %s) ends as %s when the operator is killed at change %i',
    async (_, text, strategy, reason, step) => {
      const hub = await started();
      const before = hub.text;
      hub.killAfter(step);
      const wanted = hub.wanted(text, strategy);
      expect(await hub.settle(wanted)).toBe(reason);
      if (reason === 'CheckFailed') {
        expect(hub.text).toBe(before);
        expect(hub.events).not.toContain('restart');
      } else expect(hub.text).toBe(wanted.content.files['configuration.yaml']);
      if (text === HOT) expect(hub.loaded.get('input_boolean')).toContain('second');
      if (text === RESTART && strategy === 'auto') expect(hub.loaded.get('counter')).toContain('visits');
      if (strategy === 'hot-reload') expect(hub.events).not.toContain('restart');
      expect(hub.events.filter((event) => event === 'restart').length).toBeLessThanOrEqual(1);
    },
  );
});
