import { operatorAnnotations } from '../../../../operator/kinds/annotations';
import type { DesiredContent } from '../../../../operator/sync/configuration/load/running-content';
import { ManualClock } from '../../manual-clock';
import { FakeHub, prepareMessage } from './fake-hub';

const BASE = 'input_boolean:\n  first:\n';
const HOT = 'input_boolean:\n  second:\n';
/** The check accepts this content, but the hub cannot start with it. */
const UNKNOWN = `${HOT}homeassistant:\n  auth_providers:\n    - type: unknown\n`;
const CORRECTED = `${HOT}homeassistant:\n  name: Villa\n`;

/** A hub that has hot-reloaded `HOT` since its start with `BASE`. */
async function started() {
  const hub = new FakeHub(new ManualClock());
  hub.cannotStartWith = (text) => text.includes('unknown');
  const base = hub.desired(BASE);
  hub.begin(base);
  expect(await hub.settle(base)).toBe('ConfigurationLoaded');
  expect(await hub.settle(hub.desired(HOT))).toBe('ConfigurationLoaded');
  hub.events.length = 0;
  return hub;
}

const restartsOf = (events: readonly string[]) => events.filter((event) => event === 'restart').length;

describe('ConfigurationReconciler', () => {
  test('a start into recovery mode restores the former content, by one restart', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN);
    const outcome = await hub.reconcile(desired, 30);
    expect(outcome).toMatchObject({
      type: 'Stalled',
      reason: 'CheckFailed',
      message: expect.stringMatching(
        /recovery mode .*The last good one is loaded again\. .*reconcile-requested-at/,
      ),
      status: {
        configHash: desired.content.marker.configuration,
        appliedHash: hub.desired(HOT).content.marker.configuration,
        changedSections: ['homeassistant', 'homeassistant.auth_providers'],
      },
    });
    expect(hub.text).toContain('second');
    expect(hub.text).not.toContain('unknown');
    expect(restartsOf(hub.events)).toBe(2);
  });

  test('definitions in the restored content stay known to the resources of the hub', async () => {
    const hub = await started();
    const own = `${HOT}automation own: [{id: a}]\n`;
    expect(await hub.settle(hub.desired(own))).toBe('ConfigurationLoaded');
    expect((await hub.reconcile(hub.desired(UNKNOWN), 30)).reason).toBe('CheckFailed');
    expect(hub.text).toContain('automation own');
    const { annotations } = hub.configMaps.get('villa-configuration-accepted')!.metadata;
    expect(annotations[operatorAnnotations.definitions]).toBe('{"automation":["a"]}');
  });

  test('a recovery mode with a content that ran before gets one new pod, and no more', async () => {
    const hub = await started();
    const desired = hub.desired(HOT);
    hub.cannotStartWith = () => true;
    hub.restart();
    hub.events.length = 0;
    expect(await hub.reconcile(desired, 600)).toMatchObject({
      type: 'Stalled',
      reason: 'CheckFailed',
      message: expect.stringMatching(/also after its pod was replaced/),
    });
    expect(hub.events.filter((event) => event === 'delete pod')).toHaveLength(1);
    hub.cannotStartWith = () => false;
    hub.restart();
    expect(await hub.settle(desired)).toBe('ConfigurationLoaded');
  });

  test('a recovery mode with a temporary cause is healed by the new pod, once in each start', async () => {
    const hub = await started();
    const desired = hub.desired(HOT);
    for (const round of [1, 2]) {
      let starts = 0;
      hub.cannotStartWith = () => ++starts === 1;
      hub.restart();
      expect(await hub.settle(desired)).toBe('ConfigurationLoaded');
      expect(hub.events.filter((event) => event === 'delete pod')).toHaveLength(round);
    }
  });

  test('a recovery mode with a temporary cause is healed while the desired content is rejected by its check', async () => {
    const hub = await started();
    hub.check = (text) => (text.includes('typo') ? 'Invalid config.' : null);
    const desired = hub.desired(`${HOT}typo:\n`);
    expect(await hub.settle(desired)).toBe('CheckFailed');
    let starts = 0;
    hub.cannotStartWith = () => ++starts === 1;
    hub.restart();
    hub.events.length = 0;
    expect(await hub.operator().sync(desired)).toMatchObject({
      type: 'Waiting',
      reason: 'RestartPending',
      message: expect.stringMatching(
        /recovery mode with a configuration that it has run with\. Its pod is replaced once\.\nThat is not this one, which the hub rejects: .*Invalid config\./,
      ),
    });
    expect(hub.events.filter((event) => event !== 'refresh')).toEqual([
      'write villa-configuration-accepted',
      'delete pod',
      'restart',
    ]);
    expect(await hub.settle(desired)).toBe('CheckFailed');
    expect(hub.text).toContain('second');
    expect(hub.text).not.toContain('typo');
  });

  test('a pod that fell back and is in recovery mode is replaced by one with the former content, and its verdict stays', async () => {
    const hub = await started();
    const desired = hub.desired(`${HOT}typo:\n`);
    hub.cannotStartWith = () => true;
    hub.hangs = true;
    await hub.operator().sync(desired, true);
    await hub.reconcile(desired, 1);
    expect(hub.text).toContain('typo');
    hub.hangs = false;
    hub.verdict = prepareMessage('replaced', desired.content.marker, 'Integration typo not found.');
    hub.cannotStartWith = () => false;
    const operator = hub.operator();
    expect(await operator.sync(desired)).toMatchObject({
      message: expect.stringContaining('which the hub rejects: Integration typo not found.'),
    });
    expect(hub.text).toContain('second');
    expect(hub.text).not.toContain('typo');
    hub.hangs = true;
    expect(await operator.sync(desired)).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringContaining('Integration typo not found.'),
    });
  });

  test('a recovery mode with the former content is healed, even if a content failed in an earlier pod', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN);
    await hub.reconcile(desired, 30);
    let starts = 0;
    hub.cannotStartWith = (text) => text.includes('unknown') || ++starts === 1;
    hub.restart();
    hub.events.length = 0;
    expect(await hub.operator().sync(desired)).toMatchObject({
      type: 'Waiting',
      message: expect.stringMatching(
        /Its pod is replaced once\.\nThat is not this one\. The hub came up in its recovery mode with this configuration\.$/,
      ),
    });
    expect(await hub.reconcile(desired, 30)).toMatchObject({ type: 'Stalled', reason: 'CheckFailed' });
    expect(hub.text).not.toContain('unknown');
    expect(hub.events.filter((event) => event === 'delete pod')).toHaveLength(1);
  });

  test('a recovery mode is healed again in a later start, even if a content failed before both', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN);
    await hub.reconcile(desired, 30);
    for (const round of [1, 2]) {
      let starts = 0;
      hub.cannotStartWith = (text) => text.includes('unknown') || ++starts === 1;
      hub.restart();
      expect(await hub.reconcile(desired, 30)).toMatchObject({
        reason: 'CheckFailed',
        status: { appliedHash: hub.desired(HOT).content.marker.configuration },
      });
      expect(hub.events.filter((event) => event === 'delete pod')).toHaveLength(round);
    }
  });

  test('a recovery mode of a hub that is suspended is not healed, and the status says why', async () => {
    const hub = await started();
    const desired = hub.desired(HOT);
    hub.cannotStartWith = () => true;
    hub.restart();
    hub.suspend();
    expect(await hub.reconcile(desired, 30)).toMatchObject({
      type: 'Waiting',
      reason: 'RestartPending',
      message: expect.stringContaining('That has not begun: the Hub villa reports Suspended.'),
    });
    expect(hub.events).not.toContain('delete pod');
  });

  test('a recovery mode with sections that waited for the start is healed with the complete former content', async () => {
    const hub = await started();
    expect(await hub.settle(hub.desired(CORRECTED, 'hot-reload'))).toBe('RestartPending');
    hub.check = (text) => (text.includes('typo') ? 'Invalid config.' : null);
    const desired = hub.desired(`${CORRECTED}typo:\n`, 'hot-reload');
    expect(await hub.settle(desired)).toBe('CheckFailed');
    hub.cannotStartWith = (text) => text.includes('Villa');
    hub.restart();
    expect(await hub.settle(desired)).toBe('CheckFailed');
    expect(hub.text).toContain('second');
    expect(hub.text).not.toContain('Villa');
  });

  test('the failed content does not stay published beside a running hub', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN);
    for (let round = 0; round < 10 && restartsOf(hub.events) < 1; round++) await hub.reconcile(desired, 1);
    const written = hub.configMaps.get('villa-configuration')!;
    await hub.reconcile(desired, 30);
    hub.holdsRollouts = true;
    hub.configMaps.set('villa-configuration', written);
    expect(hub.text).toContain('unknown');
    expect(await hub.operator().sync(desired)).toMatchObject({ reason: 'CheckFailed' });
    expect(hub.text).not.toContain('unknown');
  });

  test('the failed content does not stay published after a crash of the operator, even while the hub is down', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN);
    for (let round = 0; round < 10 && restartsOf(hub.events) < 1; round++) await hub.reconcile(desired, 1);
    // The record is written, the publication is not.
    hub.killAfter(2);
    await hub.untilKilled(desired);
    expect(hub.text).toContain('unknown');
    hub.setProblem({ reason: 'TokenRejected', message: '' });
    hub.hangs = true;
    expect(await hub.operator().sync(desired)).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringContaining('The last good one is loaded again.'),
    });
    expect(hub.text).not.toContain('unknown');
  });

  test('is reported from the beginning with the restart that ends it, which begins after its debounce', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN);
    for (let round = 0; round < 10 && restartsOf(hub.events) < 1; round++) await hub.reconcile(desired, 1);
    hub.setProblem({ reason: 'TokenRejected', message: 'The hub rejected the token.' });
    hub.holdsRollouts = true;
    const outcome = await hub.reconcile(desired, 1);
    expect(hub.text).not.toContain('unknown');
    // A mistake that the Hub reports later triggers no reconcile.
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'CheckFailed', after: 30_000 });
    expect(outcome.message).toContain('The last good one is loaded again.');
    expect(outcome.message).not.toMatch(/has not begun|TokenRejected/);
    expect(restartsOf(hub.events)).toBe(1);
  });

  test('the restart that ends it is reported as waiting while the Hub has a mistake, which only the Hub describes', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN);
    // Reconciles until the hub is in recovery mode.
    for (let round = 0; round < 10 && restartsOf(hub.events) < 1; round++) await hub.reconcile(desired, 1);
    hub.setMistake('spec.podTemplate is wrong.');
    const outcome = await hub.reconcile(desired, 30);
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'CheckFailed', after: 30_000 });
    expect(outcome.message).toMatch(
      /is to be loaded again, by a restart\. It has not begun: the Hub villa reports InvalidSpec\. Correct first what its conditions name\./,
    );
    expect(outcome.message).not.toMatch(/is loaded again|podTemplate/);
    expect(restartsOf(hub.events)).toBe(1);
    hub.setMistake(undefined);
    expect((await hub.reconcile(desired, 30)).message).toContain('The last good one is loaded again.');
    expect(hub.text).toContain('second');
    expect(restartsOf(hub.events)).toBe(2);
  });

  test('a start with a content that a crash left unchecked is replaced by the former one, and a mistake of the Hub is not quoted as its fault', async () => {
    const hub = await started();
    hub.check = (text) => (text.includes('unknown') ? 'Unknown type.' : null);
    const desired = hub.desired(UNKNOWN);
    hub.killAfter(2);
    await hub.untilKilled(desired);
    expect(hub.text).toContain('unknown');
    hub.restartProcess();
    hub.setMistake('spec.podTemplate is wrong.');
    const outcome = await hub.operator().sync(desired);
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'CheckFailed' });
    expect(outcome.message).toMatch(/which it had not checked\. The previous one is loaded again,/);
    expect(outcome.message).not.toContain('podTemplate');
    expect(hub.text).toContain('second');
    expect(hub.text).not.toContain('unknown');
    // When the hub runs again, the condition has the words of its check.
    expect(await hub.reconcile(desired, 10)).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringContaining('Unknown type.'),
    });
  });

  test('the failed content is not tried again, by no process and in no start', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN);
    await hub.reconcile(desired, 30);
    hub.events.length = 0;
    await hub.reconcile(desired, 40);
    hub.restart();
    await hub.reconcile(desired, 40);
    expect(hub.events).toEqual(['restart', 'write villa-configuration-accepted']);
  });

  test('is tried again on request, once', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN);
    await hub.reconcile(desired, 30);
    hub.events.length = 0;
    const operator = hub.operator();
    await operator.sync(desired, true);
    expect(await hub.reconcile(desired, 60, operator)).toMatchObject({ reason: 'CheckFailed' });
    expect(hub.text).not.toContain('unknown');
    expect(restartsOf(hub.events)).toBe(2);
  });

  test('a corrected configuration is loaded, also while the hub is in recovery mode', async () => {
    const hub = await started();
    await hub.reconcile(hub.desired(UNKNOWN), 30);
    expect(await hub.settle(hub.desired(CORRECTED))).toBe('ConfigurationLoaded');
    const broken = hub.desired(UNKNOWN);
    const operator = hub.operator();
    await operator.sync(broken, true);
    // Reconciles until the hub is in recovery mode.
    for (let round = 0; round < 10 && restartsOf(hub.events) < 4; round++)
      await hub.reconcile(broken, 1, operator);
    expect(await hub.settle(hub.desired(CORRECTED))).toBe('ConfigurationLoaded');
    expect(hub.text).toContain('Villa');
  });

  test('a corrected secret is tried, even while the hub cannot start with the former content', async () => {
    const hub = await started();
    const text = `${HOT}counter:\n  visits:\n    name: !secret name\n`;
    hub.setSecrets({ name: 'wrong' });
    let isWrong = true;
    hub.cannotStartWith = () => isWrong;
    const wrong = hub.desired(text);
    const { status } = await hub.reconcile(wrong, 30);
    const Ready = { type: 'Ready', status: 'False', reason: 'CheckFailed', message: 'recovery mode' };
    hub.setStatus({ ...status, conditions: [{ ...Ready, lastTransitionTime: '' }] } as never);
    hub.setSecrets({ name: 'right' });
    isWrong = false;
    expect(await hub.settle(hub.desired(text))).toBe('ConfigurationLoaded');
    expect(hub.text).toContain('visits');
  });

  describe('a hub that cannot start with a secret', () => {
    const TEXT = `${BASE}counter:\n  visits:\n    name: !secret name\n`;

    /** Makes a hub that ran with one value of the secret, and is in recovery mode with another one. */
    async function failed(autoRestart: boolean) {
      const hub = new FakeHub(new ManualClock());
      hub.autoRestart = autoRestart;
      hub.setSecrets({ name: 'right' });
      hub.begin(hub.desired(TEXT));
      expect(await hub.settle(hub.desired(TEXT))).toBe('ConfigurationLoaded');
      hub.setSecrets({ name: 'wrong' });
      hub.cannotStartWith = () => true;
      if (!autoRestart) {
        expect(await hub.settle(hub.desired(TEXT))).toBe('RestartPending');
        hub.restart();
      }
      const outcome = await hub.reconcile(hub.desired(TEXT), 20);
      hub.events.length = 0;
      hub.cannotStartWith = () => false;
      return { hub, outcome };
    }

    test('reports that, and is restarted for the former value as for any other', async () => {
      const { hub, outcome } = await failed(true);
      expect(outcome).toMatchObject({
        type: 'Stalled',
        reason: 'CheckFailed',
        message: expect.stringMatching(
          /recovery mode .*Correct the configuration or a secret that it uses\.$/,
        ),
      });
      hub.setSecrets({ name: 'right' });
      expect(await hub.settle(hub.desired(TEXT))).toBe('ConfigurationLoaded');
      expect(restartsOf(hub.events)).toBe(1);
    });

    test('names with autoRestart: false the restart that only a user can start, and that helps', async () => {
      const { hub, outcome } = await failed(false);
      expect(outcome).toMatchObject({
        type: 'Stalled',
        reason: 'CheckFailed',
        message: expect.stringMatching(
          /spec\.autoRestart of the HubSecrets is false, so a corrected secret does not restart the hub: delete the pod villa-0 then\.$/,
        ),
      });
      hub.setSecrets({ name: 'corrected' });
      expect(await hub.reconcile(hub.desired(TEXT), 20)).toMatchObject({ reason: 'CheckFailed' });
      expect(hub.events).toEqual([]);
      hub.restart();
      expect(await hub.settle(hub.desired(TEXT))).toBe('ConfigurationLoaded');
      expect(restartsOf(hub.events)).toBe(1);
    });
  });

  test('a hub in recovery mode gets a content with which its pod was started once, by another pod', async () => {
    const hub = await started();
    hub.cannotStartWith = (text) => text.includes('second');
    hub.restartProcess();
    hub.events.length = 0;
    expect(await hub.settle(hub.desired(BASE))).toBe('ConfigurationLoaded');
    expect(hub.events.filter((event) => event === 'delete pod')).toHaveLength(1);
  });

  describe('a content with which the process of the hub ends', () => {
    const crashes = (text: string) => text.includes('Villa');

    test('is replaced by the former content, with one restart, and is reported with the end of its log', async () => {
      const hub = await started();
      hub.crashesWith = crashes;
      const desired = hub.desired(CORRECTED);
      expect(await hub.reconcile(desired, 30)).toMatchObject({
        type: 'Stalled',
        reason: 'CheckFailed',
        message: expect.stringMatching(
          /^The hub’s process ended 4 times with this configuration \(last: exit code 139\), although its check accepts it: loading\nFatal Python error: Segmentation fault\nThe last good one is loaded again\.\nCorrect the configuration, /,
        ),
        status: { appliedHash: hub.desired(HOT).content.marker.configuration },
      });
      expect(hub.text).toContain('second');
      expect(hub.text).not.toContain('Villa');
      expect(restartsOf(hub.events)).toBe(2);
    });

    test('is reported as being replaced before the restart has begun', async () => {
      const hub = await started();
      hub.crashesWith = crashes;
      const desired = hub.desired(CORRECTED);
      for (let round = 0; round < 10 && restartsOf(hub.events) < 1; round++) await hub.reconcile(desired, 1);
      hub.holdsRollouts = true;
      for (const _ of ['goes back', 'waits'])
        expect(await hub.operator().sync(desired)).toMatchObject({
          reason: 'CheckFailed',
          message: expect.stringMatching(/ended 4 times .*\n.*\nThe last good one is loaded again\./),
        });
    });

    test('stays where the image was changed as well', async () => {
      const hub = await started();
      hub.crashesWith = crashes;
      hub.image = 'home-assistant:2026.12.0';
      // The end of a process triggers no reconcile.
      const waits = { reason: 'HubNotReady', after: 5_000 };
      expect(await hub.reconcile(hub.desired(CORRECTED), 120)).toMatchObject(waits);
      expect(hub.text).toContain('Villa');
      expect(restartsOf(hub.events)).toBe(1);
    });

    test('is replaced even if an older operator has recorded the former content', async () => {
      const hub = await started();
      const record = hub.configMaps.get('villa-configuration-accepted')!;
      const { start: _start, ...stored } = JSON.parse(record.data['.loaded']!) as Record<string, unknown>;
      hub.configMaps.set('villa-configuration-accepted', {
        metadata: { ...record.metadata, resourceVersion: 'older' },
        data: { ...record.data, '.loaded': JSON.stringify({ ...stored, start: { version: '2026.11.0' } }) },
      });
      expect(await hub.settle(hub.desired(HOT))).toBe('ConfigurationLoaded');
      hub.crashesWith = crashes;
      expect(await hub.reconcile(hub.desired(CORRECTED), 30)).toMatchObject({ reason: 'CheckFailed' });
      expect(hub.text).not.toContain('Villa');
    });

    test('is not replaced because of restarts of its pod before it came', async () => {
      const hub = await started();
      for (let restarts = 0; restarts < 3; restarts++) hub.restartProcess();
      expect(await hub.settle(hub.desired(HOT))).toBe('ConfigurationLoaded');
      const desired = hub.desired(CORRECTED, 'hot-reload');
      expect(await hub.settle(desired)).toBe('RestartPending');
      hub.crashesWith = crashes;
      hub.ends = 1;
      hub.restartProcess();
      expect(await hub.reconcile(desired, 30)).toMatchObject({ reason: 'HubNotReady' });
      expect(hub.text).toContain('Villa');
      hub.ends = 4;
      expect(await hub.reconcile(desired, 30)).toMatchObject({
        reason: 'CheckFailed',
        message: expect.stringContaining('ended 4 times'),
      });
      expect(hub.text).not.toContain('Villa');
    });

    test('is not the only cause when the process also ends with the last good one', async () => {
      const hub = await started();
      hub.crashesWith = () => true;
      const outcome = await hub.reconcile(hub.desired(CORRECTED), 60);
      expect(outcome).toMatchObject({
        reason: 'CheckFailed',
        message: expect.stringContaining(
          'The process ends with the last good one as well (exit code 139), so the cause is another: the conditions of the Hub villa name it.',
        ),
      });
      expect(outcome.message).not.toContain('is loaded again');
      expect(restartsOf(hub.events)).toBe(2);
    });

    test('does not count as a content with which the hub has run', async () => {
      const hub = await started();
      hub.crashesWith = () => true;
      hub.restart();
      hub.events.length = 0;
      expect(await hub.reconcile(hub.desired(HOT), 60)).toMatchObject({ reason: 'HubNotReady' });
      expect(hub.events).toEqual([]);
    });

    test('stays when the hub has run with no other', async () => {
      const hub = new FakeHub(new ManualClock());
      hub.crashesWith = crashes;
      const desired = hub.desired(CORRECTED);
      hub.begin(desired);
      expect(await hub.reconcile(desired, 60)).toMatchObject({ reason: 'HubNotReady' });
      expect(hub.events).toEqual([]);
    });

    test('is replaced by a corrected one immediately', async () => {
      const hub = await started();
      hub.crashesWith = (text) => text.includes('Villa') || text.includes('second');
      hub.restart();
      expect(await hub.settle(hub.desired(BASE))).toBe('ConfigurationLoaded');
    });

    test.each([1, 2, 3, 4, 5, 6])(
      'is taken back, even if the operator is killed at change %i',
      async (step) => {
        const hub = await started();
        hub.crashesWith = crashes;
        hub.killAfter(step);
        expect(await hub.reconcile(hub.desired(CORRECTED), 60)).toMatchObject({ reason: 'CheckFailed' });
        expect(hub.text).toContain('second');
        expect(hub.text).not.toContain('Villa');
        expect(restartsOf(hub.events)).toBe(2);
      },
    );
  });

  test('a hub that runs with a later change is not restarted when the failed one is written again', async () => {
    const hub = await started();
    await hub.reconcile(hub.desired(UNKNOWN), 30);
    expect(await hub.settle(hub.desired(`${HOT}  third:\n`))).toBe('ConfigurationLoaded');
    hub.events.length = 0;
    hub.hangs = true;
    expect(await hub.reconcile(hub.desired(UNKNOWN), 10)).toMatchObject({ reason: 'CheckFailed' });
    expect(restartsOf(hub.events)).toBe(0);
    expect(hub.text).toContain('third');
  });

  test('under hot-reload a restart by a user is followed by one pod that has the former content', async () => {
    const hub = await started();
    const desired = hub.desired(UNKNOWN, 'hot-reload');
    expect(await hub.settle(desired)).toBe('RestartPending');
    hub.restart();
    hub.events.length = 0;
    expect(await hub.reconcile(desired, 40)).toMatchObject({ reason: 'CheckFailed' });
    expect(hub.text).not.toContain('unknown');
    expect(restartsOf(hub.events)).toBe(1);
  });

  test('a hub that never ran with another configuration keeps it', async () => {
    const hub = new FakeHub(new ManualClock());
    hub.cannotStartWith = (text) => text.includes('unknown');
    const desired = hub.desired(UNKNOWN);
    hub.begin(desired);
    expect(await hub.reconcile(desired, 30)).toMatchObject({
      type: 'Stalled',
      reason: 'CheckFailed',
      message:
        'The hub came up in its recovery mode with this configuration, and there is no other one that it has run with. The log of the pod villa-0 says why. Correct the configuration or a secret that it uses.',
    });
    expect(hub.events.filter((event) => event !== 'refresh')).toEqual([]);
  });

  describe('without a last good copy', () => {
    const LAST_GOOD = 'villa-configuration-last-good';
    const goesBack = async (hub: FakeHub, desired: DesiredContent) => {
      expect(await hub.reconcile(desired, 30)).toMatchObject({ reason: 'CheckFailed' });
      expect(hub.text).not.toContain('unknown');
      expect(restartsOf(hub.events)).toBe(2);
    };

    test('the record is used', async () => {
      const hub = await started();
      hub.configMaps.delete(LAST_GOOD);
      await goesBack(hub, hub.desired(UNKNOWN));
      expect(hub.text).toContain('second');
    });

    test('the accepted one is used, for a change that was written while the hub was down', async () => {
      const hub = await started();
      hub.configMaps.delete(LAST_GOOD);
      hub.hangs = true;
      await hub.operator().sync(hub.desired(UNKNOWN), true);
      hub.hangs = false;
      await hub.reconcile(hub.desired(UNKNOWN), 1);
      await goesBack(hub, hub.desired(UNKNOWN));
      expect(hub.text).toContain('second');
    });

    test('and without an accepted one, the content of the pod’s start is used', async () => {
      const hub = new FakeHub(new ManualClock());
      hub.cannotStartWith = (text) => text.includes('unknown');
      const base = hub.desired(BASE);
      hub.begin(base);
      expect(await hub.settle(base)).toBe('ConfigurationLoaded');
      for (const name of [LAST_GOOD, 'villa-configuration-accepted']) hub.configMaps.delete(name);
      hub.events.length = 0;
      await goesBack(hub, hub.desired(UNKNOWN));
      expect(hub.text).toContain('first');
    });
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])(
    'ends the same when the operator is killed at change %i',
    async (step) => {
      const hub = await started();
      hub.killAfter(step);
      expect(await hub.reconcile(hub.desired(UNKNOWN), 60)).toMatchObject({ reason: 'CheckFailed' });
      expect(hub.text).toContain('second');
      expect(hub.text).not.toContain('unknown');
      expect(restartsOf(hub.events)).toBe(2);
    },
  );
});
