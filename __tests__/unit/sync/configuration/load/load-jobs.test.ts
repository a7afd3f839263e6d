import { prepareMessage } from '../../../stand-in-hub/pod';
import { House } from '../house';

const BASE = 'input_boolean:\n  first:\n    name: !secret name\n';
const HOT = 'input_boolean:\n  second:\n    name: !secret name\n';
const RESTART = `${BASE}counter:\n  visits:\n    name: !secret name\n`;

async function started(text = BASE) {
  const house = new House();
  house.setSecrets({ name: 'one' });
  const base = house.desired(text);
  house.begin(base);
  expect(await house.settle(base)).toBe('ConfigurationLoaded');
  house.events.length = 0;
  return { house, clock: house.clock };
}

const count = (events: readonly string[], name: string) => events.filter((event) => event === name).length;

describe('LoadJobs', () => {
  test('a changed secret is loaded by the sections that use it, and reported with its time', async () => {
    const { house, clock } = await started();
    await clock.advance(3_600_000);
    house.setSecrets({ name: 'two' });
    expect(await house.settle(house.desired(BASE))).toBe('ConfigurationLoaded');
    expect(count(house.events, 'reload input_boolean')).toBe(1);
    const { lastReloadTime } = house.reported;
    expect(house.reported).toMatchObject({ lastReloadMethod: 'hot-reload', changedSections: [] });
    expect(Date.parse(String(lastReloadTime))).toBeGreaterThanOrEqual(3_600_000);
    // A new process of the operator reports the same method and time.
    await clock.advance(3_600_000);
    expect(await house.settle(house.desired(BASE))).toBe('ConfigurationLoaded');
    expect(house.reported).toMatchObject({ lastReloadMethod: 'hot-reload', lastReloadTime });
  });

  test('the sections for which a changed secret needs a restart are named', async () => {
    const { house } = await started(RESTART);
    house.setSecrets({ name: 'two' });
    expect(await house.settle(house.desired(RESTART, 'hot-reload'))).toBe('RestartPending');
    expect(house.reported).toMatchObject({ changedSections: ['counter'] });
  });

  test('the differences are named while the content is rejected', async () => {
    const { house } = await started();
    house.configuration.check = (text) => (text.includes('second') ? 'no' : null);
    expect(await house.settle(house.desired(HOT))).toBe('CheckFailed');
    expect(house.reported).toMatchObject({ changedSections: ['input_boolean'] });
  });

  describe('when a secret changes beneath a load', () => {
    /**
     * Returns the milliseconds until the text is loaded or rejected. The secret changes at the first check of
     * the text.
     */
    async function duration(text: string, check: (text: string) => string | null, reason: string) {
      const { house, clock } = await started();
      let checks = 0;
      house.configuration.check = (each) => {
        if (++checks === 1) house.setSecrets({ name: 'two' });
        return check(each);
      };
      const operator = house.operator();
      const began = clock.monotonic();
      await operator.sync(house.desired(text));
      await clock.advance(1_000);
      expect(await house.settle(house.desired(text), operator)).toBe(reason);
      return clock.monotonic() - began;
    }

    test('the hub will never show the content that was being loaded, so the next load begins immediately', async () => {
      expect(await duration(HOT, () => null, 'ConfigurationLoaded')).toBeLessThan(10_000);
    });

    test('a rejection restores the accepted files with the current secrets', async () => {
      const check = (each: string) => (each.includes('second') ? 'no' : null);
      expect(await duration(HOT, check, 'CheckFailed')).toBeLessThan(20_000);
    });
  });

  test('a corrected secret is not rejected for the value that the volume still has', async () => {
    const { house } = await started();
    let checks = 0;
    house.configuration.check = () => (++checks <= 3 ? "got 'former'" : null);
    house.setSecrets({ name: 'two' });
    expect(await house.settle(house.desired(BASE))).toBe('ConfigurationLoaded');
  });

  test('the verdict of the start applies only to its secrets', async () => {
    const { house } = await started();
    house.pod.verdict = prepareMessage('replaced', house.desired(BASE).content.marker, 'no');
    expect(await house.operator().sync(house.desired(BASE))).toMatchObject({ reason: 'CheckFailed' });
    house.setSecrets({ name: 'two' });
    expect(await house.operator().sync(house.desired(BASE))).toMatchObject({
      reason: 'ConfigurationGenerated',
    });
  });

  test('a marker in a new start proves nothing for a pod that was started for other files', async () => {
    const { house } = await started();
    const before = house.text;
    // The content is published, and then the operator is killed.
    house.hub.operators.killAfter(2);
    await house.untilKilled(house.desired(HOT));
    house.hub.restartProcess();
    house.configuration.loaded.set('input_boolean', before);
    expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
    expect(house.configuration.loaded.get('input_boolean')).toContain('second');
  });

  test('automations that another client loaded from rejected files are loaded again', async () => {
    const { house } = await started();
    const { entities } = house.client;
    house.configuration.check = (text) => {
      if (!text.includes('broken')) return null;
      void entities.reload('automation');
      return 'no';
    };
    expect(await house.settle(house.desired(`${BASE}automation:\n  - broken\n`))).toBe('CheckFailed');
    expect(house.configuration.loaded.get('automation')).not.toContain('broken');
  });

  test('a hub that never shows the marker of the files with which its pod has started gets no new pod', async () => {
    const house = new House();
    house.configuration.hidesMarker = true;
    const base = house.desired('input_boolean:\n');
    house.begin(base);
    const operator = house.operator();
    expect(await house.reconcile(base, 200, operator)).toMatchObject({ reason: 'ReloadFailed' });
    expect(house.events).not.toContain('delete pod');
    expect(count(house.events, 'restart')).toBe(0);
  });

  test('each backup that restores old files is followed by a new pod', async () => {
    const { house } = await started();
    const operator = house.operator();
    for (const text of [HOT, BASE]) {
      house.pod.readsOldFiles = true;
      expect(await house.reconcile(house.desired(text), 60, operator)).toMatchObject({
        reason: 'ConfigurationLoaded',
      });
    }
    expect(count(house.events, 'restart')).toBe(2);
  });

  test('a start of the hub in the middle of a load is recorded before anything is reloaded, and the load begins again', async () => {
    const { house } = await started();
    let checks = 0;
    house.configuration.check = (text) => {
      // The second check of the text follows the marker.
      if (text.includes('second') && ++checks === 2) house.hub.restartProcess();
      return null;
    };
    expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
    expect(house.configuration.loaded.get('input_boolean')).toContain('second');
    expect(house.events.filter((event) => event !== 'refresh')).toEqual([
      'write villa-configuration',
      'reload script',
      'restart',
      'write villa-configuration-accepted',
      'reload script',
      'reload input_boolean',
      'write villa-configuration-accepted',
    ]);
  });

  test.each([
    ['suspended', { suspend: true }, '1'],
    ['deleted, and another one has its name', {}, '2'],
  ])('a resource that is %s in the meantime loads nothing', async (_, spec, uid) => {
    const { house, clock } = await started();
    const desired = house.desired(HOT);
    const { resource } = desired;
    house.configuration.check = () => {
      house.latest = {
        ...resource,
        metadata: { ...resource.metadata, uid },
        spec: { ...resource.spec, ...spec },
      };
      return null;
    };
    await house.operator().sync(desired);
    await clock.advance(30_000);
    expect(house.events).not.toContain('reload input_boolean');
    expect(house.events).not.toContain('write villa-configuration-accepted');
  });
});
