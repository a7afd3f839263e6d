import { ManualClock } from '../../../manual-clock';
import { FakeHub, prepareMessage } from '../fake-hub';

const BASE = 'input_boolean:\n  first:\n    name: !secret name\n';
const HOT = 'input_boolean:\n  second:\n    name: !secret name\n';
const RESTART = `${BASE}counter:\n  visits:\n    name: !secret name\n`;

async function started(text = BASE) {
  const clock = new ManualClock();
  const hub = new FakeHub(clock);
  hub.setSecrets({ name: 'one' });
  const base = hub.desired(text);
  hub.begin(base);
  expect(await hub.settle(base)).toBe('ConfigurationLoaded');
  hub.events.length = 0;
  return { hub, clock };
}

const count = (events: readonly string[], name: string) => events.filter((event) => event === name).length;

describe('LoadJobs', () => {
  test('a changed secret is loaded by the sections that use it, and reported with its time', async () => {
    const { hub, clock } = await started();
    await clock.advance(3_600_000);
    hub.setSecrets({ name: 'two' });
    expect(await hub.settle(hub.desired(BASE))).toBe('ConfigurationLoaded');
    expect(count(hub.events, 'input_boolean/reload')).toBe(1);
    const { lastReloadTime } = hub.reported;
    expect(hub.reported).toMatchObject({ lastReloadMethod: 'hot-reload', changedSections: [] });
    expect(Date.parse(String(lastReloadTime))).toBeGreaterThanOrEqual(3_600_000);
    // A new process of the operator reports the same method and time.
    await clock.advance(3_600_000);
    expect(await hub.settle(hub.desired(BASE))).toBe('ConfigurationLoaded');
    expect(hub.reported).toMatchObject({ lastReloadMethod: 'hot-reload', lastReloadTime });
  });

  test('the sections for which a changed secret needs a restart are named', async () => {
    const { hub } = await started(RESTART);
    hub.setSecrets({ name: 'two' });
    expect(await hub.settle(hub.desired(RESTART, 'hot-reload'))).toBe('RestartPending');
    expect(hub.reported).toMatchObject({ changedSections: ['counter'] });
  });

  test('the differences are named while the content is rejected', async () => {
    const { hub } = await started();
    hub.check = (text) => (text.includes('second') ? 'no' : null);
    expect(await hub.settle(hub.desired(HOT))).toBe('CheckFailed');
    expect(hub.reported).toMatchObject({ changedSections: ['input_boolean'] });
  });

  describe('when a secret changes beneath a load', () => {
    /**
     * Returns the milliseconds until the text is loaded or rejected. The secret changes at the first check of
     * the text.
     */
    async function duration(text: string, check: (text: string) => string | null, reason: string) {
      const { hub, clock } = await started();
      let checks = 0;
      hub.check = (each) => {
        if (++checks === 1) hub.setSecrets({ name: 'two' });
        return check(each);
      };
      const operator = hub.operator();
      const began = clock.monotonic();
      await operator.sync(hub.desired(text));
      await clock.advance(1_000);
      expect(await hub.settle(hub.desired(text), operator)).toBe(reason);
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
    const { hub } = await started();
    let checks = 0;
    hub.check = () => (++checks <= 3 ? "got 'former'" : null);
    hub.setSecrets({ name: 'two' });
    expect(await hub.settle(hub.desired(BASE))).toBe('ConfigurationLoaded');
  });

  test('the verdict of the start applies only to its secrets', async () => {
    const { hub } = await started();
    hub.verdict = prepareMessage('replaced', hub.desired(BASE).content.marker, 'no');
    expect(await hub.operator().sync(hub.desired(BASE))).toMatchObject({ reason: 'CheckFailed' });
    hub.setSecrets({ name: 'two' });
    expect(await hub.operator().sync(hub.desired(BASE))).toMatchObject({ reason: 'ConfigurationGenerated' });
  });

  test('a marker in a new start proves nothing for a pod that was started for other files', async () => {
    const { hub } = await started();
    const before = hub.text;
    // The content is published, and then the operator is killed.
    hub.killAfter(2);
    await hub.untilKilled(hub.desired(HOT));
    hub.restartProcess();
    hub.loaded.set('input_boolean', before);
    expect(await hub.settle(hub.desired(HOT))).toBe('ConfigurationLoaded');
    expect(hub.loaded.get('input_boolean')).toContain('second');
  });

  test('automations that another client loaded from rejected files are loaded again', async () => {
    const { hub } = await started();
    const { entities } = hub.client;
    hub.check = (text) => {
      if (!text.includes('broken')) return null;
      void entities.reload('automation');
      return 'no';
    };
    expect(await hub.settle(hub.desired(`${BASE}automation:\n  - broken\n`))).toBe('CheckFailed');
    expect(hub.loaded.get('automation')).not.toContain('broken');
  });

  test('a hub that never shows the marker of the files with which its pod has started gets no new pod', async () => {
    const clock = new ManualClock();
    const hub = new FakeHub(clock);
    hub.hidesMarker = true;
    const base = hub.desired('input_boolean:\n');
    hub.begin(base);
    const operator = hub.operator();
    expect(await hub.reconcile(base, 200, operator)).toMatchObject({ reason: 'ReloadFailed' });
    expect(hub.events).not.toContain('delete pod');
    expect(count(hub.events, 'restart')).toBe(0);
  });

  test('each backup that restores old files is followed by a new pod', async () => {
    const { hub } = await started();
    const operator = hub.operator();
    for (const text of [HOT, BASE]) {
      hub.readsOldFiles = true;
      expect(await hub.reconcile(hub.desired(text), 60, operator)).toMatchObject({
        reason: 'ConfigurationLoaded',
      });
    }
    expect(count(hub.events, 'restart')).toBe(2);
  });

  test.each([
    ['suspended', { suspend: true }, '1'],
    ['deleted, and another one has its name', {}, '2'],
  ])('a resource that is %s in the meantime loads nothing', async (_, spec, uid) => {
    const { hub, clock } = await started();
    const desired = hub.desired(HOT);
    const { resource } = desired;
    hub.check = () => {
      hub.latest = {
        ...resource,
        metadata: { ...resource.metadata, uid },
        spec: { ...resource.spec, ...spec },
      };
      return null;
    };
    await hub.operator().sync(desired);
    await clock.advance(30_000);
    expect(hub.events).not.toContain('input_boolean/reload');
    expect(hub.events).not.toContain('write villa-configuration-accepted');
  });
});
