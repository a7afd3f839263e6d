import { ManualClock } from '../../manual-clock';
import { FakeHub } from './fake-hub';

const BASE = 'input_boolean:\n  first:\n';
const HOT = 'input_boolean:\n  second:\n';
/** The check accepts it, and the hub does not start with it. */
const UNKNOWN = `${HOT}homeassistant:\n  auth_providers:\n    - type: unknown\n`;
const CORRECTED = `${HOT}homeassistant:\n  name: Villa\n`;

/** A hub that has hot-reloaded `HOT` since its start with `BASE`. */
async function started() {
  const hub = new FakeHub(new ManualClock());
  hub.cannotStartWith = (text) => text.includes('unknown');
  const base = hub.wanted(BASE);
  hub.begin(base);
  expect(await hub.settle(base)).toBe('ConfigurationLoaded');
  expect(await hub.settle(hub.wanted(HOT))).toBe('ConfigurationLoaded');
  hub.events.length = 0;
  return hub;
}

const restartsOf = (events: readonly string[]) => events.filter((event) => event === 'restart').length;

describe('FailedStarts', () => {
  test('a start into recovery mode brings back what ran before, by one restart', async () => {
    const hub = await started();
    const wanted = hub.wanted(UNKNOWN);
    const outcome = await hub.reconcile(wanted, 30);
    expect(outcome).toMatchObject({
      type: 'Stalled',
      reason: 'CheckFailed',
      message: expect.stringMatching(/recovery mode .* log of the pod villa-0 .*reconcile-requested-at/),
      status: {
        configHash: wanted.content.marker.configuration,
        appliedHash: hub.wanted(HOT).content.marker.configuration,
        changedSections: ['homeassistant', 'homeassistant.auth_providers'],
      },
    });
    expect(hub.text).toContain('second');
    expect(hub.text).not.toContain('unknown');
    expect(restartsOf(hub.events)).toBe(2);
  });

  test('what failed is not tried again, by no process and in no start', async () => {
    const hub = await started();
    const wanted = hub.wanted(UNKNOWN);
    await hub.reconcile(wanted, 30);
    hub.events.length = 0;
    await hub.reconcile(wanted, 40);
    hub.restart();
    await hub.reconcile(wanted, 40);
    expect(hub.events).toEqual(['restart']);
  });

  test('is tried again on request, once', async () => {
    const hub = await started();
    const wanted = hub.wanted(UNKNOWN);
    await hub.reconcile(wanted, 30);
    hub.events.length = 0;
    const operator = hub.operator();
    await operator.sync(wanted, true);
    expect(await hub.reconcile(wanted, 60, operator)).toMatchObject({ reason: 'CheckFailed' });
    expect(hub.text).not.toContain('unknown');
    expect(restartsOf(hub.events)).toBe(2);
  });

  test('a corrected configuration is loaded, also while the hub is in recovery mode', async () => {
    const hub = await started();
    await hub.reconcile(hub.wanted(UNKNOWN), 30);
    expect(await hub.settle(hub.wanted(CORRECTED))).toBe('ConfigurationLoaded');
    const broken = hub.wanted(UNKNOWN);
    const operator = hub.operator();
    await operator.sync(broken, true);
    // Until the hub is in recovery mode.
    for (let round = 0; round < 10 && restartsOf(hub.events) < 4; round++)
      await hub.reconcile(broken, 1, operator);
    expect(await hub.settle(hub.wanted(CORRECTED))).toBe('ConfigurationLoaded');
    expect(hub.text).toContain('Villa');
  });

  test('a corrected secret is tried, also while the hub cannot start with what ran before', async () => {
    const hub = await started();
    const text = `${HOT}counter:\n  visits:\n    name: !secret name\n`;
    hub.setSecrets({ name: 'wrong' });
    let isWrong = true;
    hub.cannotStartWith = () => isWrong;
    const wrong = hub.wanted(text);
    const { status } = await hub.reconcile(wrong, 30);
    const Ready = { type: 'Ready', status: 'False', reason: 'CheckFailed', message: 'recovery mode' };
    hub.setStatus({ ...status, conditions: [{ ...Ready, lastTransitionTime: '' }] } as never);
    hub.setSecrets({ name: 'right' });
    isWrong = false;
    expect(await hub.settle(hub.wanted(text))).toBe('ConfigurationLoaded');
    expect(hub.text).toContain('visits');
  });

  test('a hub that runs with a later change is not restarted when the failed one is written again', async () => {
    const hub = await started();
    await hub.reconcile(hub.wanted(UNKNOWN), 30);
    expect(await hub.settle(hub.wanted(`${HOT}  third:\n`))).toBe('ConfigurationLoaded');
    hub.events.length = 0;
    hub.hangs = true;
    expect(await hub.reconcile(hub.wanted(UNKNOWN), 10)).toMatchObject({ reason: 'CheckFailed' });
    expect(restartsOf(hub.events)).toBe(0);
    expect(hub.text).toContain('third');
  });

  test('under hot-reload the restart of a person is followed by one pod that has what ran before', async () => {
    const hub = await started();
    const wanted = hub.wanted(UNKNOWN, 'hot-reload');
    expect(await hub.settle(wanted)).toBe('RestartPending');
    hub.restart();
    hub.events.length = 0;
    expect(await hub.reconcile(wanted, 40)).toMatchObject({ reason: 'CheckFailed' });
    expect(hub.text).not.toContain('unknown');
    expect(restartsOf(hub.events)).toBe(1);
  });

  test('a hub that never ran with another configuration keeps it', async () => {
    const hub = new FakeHub(new ManualClock());
    hub.cannotStartWith = (text) => text.includes('unknown');
    const wanted = hub.wanted(UNKNOWN);
    hub.begin(wanted);
    expect(await hub.reconcile(wanted, 30)).toMatchObject({ type: 'Waiting', reason: 'HubNotReady' });
    expect(hub.events.filter((event) => event !== 'refresh')).toEqual([]);
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])(
    'ends the same when the operator is killed at change %i',
    async (step) => {
      const hub = await started();
      hub.killAfter(step);
      expect(await hub.reconcile(hub.wanted(UNKNOWN), 60)).toMatchObject({ reason: 'CheckFailed' });
      expect(hub.text).toContain('second');
      expect(hub.text).not.toContain('unknown');
      expect(restartsOf(hub.events)).toBe(2);
    },
  );
});
