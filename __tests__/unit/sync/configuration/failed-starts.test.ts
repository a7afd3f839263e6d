import { operatorAnnotations } from '../../../../operator/kinds/annotations';
import type { DesiredContent } from '../../../../operator/sync/configuration/load/running-content';
import { prepareMessage } from '../../stand-in-hub/pod';
import { House } from './house';

const BASE = 'input_boolean:\n  first:\n';
const HOT = 'input_boolean:\n  second:\n';
/** The check accepts this content, but the hub cannot start with it. */
const UNKNOWN = `${HOT}homeassistant:\n  auth_providers:\n    - type: unknown\n`;
const CORRECTED = `${HOT}homeassistant:\n  name: Villa\n`;

/** A hub that has hot-reloaded `HOT` since its start with `BASE`. */
async function started() {
  const house = new House();
  house.configuration.cannotStartWith = (text) => text.includes('unknown');
  const base = house.desired(BASE);
  house.begin(base);
  expect(await house.settle(base)).toBe('ConfigurationLoaded');
  expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
  house.events.length = 0;
  return house;
}

const restartsOf = (events: readonly string[]) => events.filter((event) => event === 'restart').length;

describe('ConfigurationReconciler', () => {
  test('a start into recovery mode restores the former content, by one restart', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN);
    const outcome = await house.reconcile(desired, 30);
    expect(outcome).toMatchObject({
      type: 'Stalled',
      reason: 'CheckFailed',
      message: expect.stringMatching(
        /recovery mode .*The last good one is loaded again\. .*reconcile-requested-at/,
      ),
      status: {
        configHash: desired.content.marker.configuration,
        appliedHash: house.desired(HOT).content.marker.configuration,
        changedSections: ['homeassistant', 'homeassistant.auth_providers'],
      },
    });
    expect(house.text).toContain('second');
    expect(house.text).not.toContain('unknown');
    expect(restartsOf(house.events)).toBe(2);
  });

  test('definitions in the restored content stay known to the resources of the hub', async () => {
    const house = await started();
    const own = `${HOT}automation own: [{id: a}]\n`;
    expect(await house.settle(house.desired(own))).toBe('ConfigurationLoaded');
    expect((await house.reconcile(house.desired(UNKNOWN), 30)).reason).toBe('CheckFailed');
    expect(house.text).toContain('automation own');
    const annotations = house.configMaps.annotations('villa-configuration-accepted');
    expect(annotations[operatorAnnotations.definitions]).toBe('{"automation":["a"]}');
  });

  test('a recovery mode with a content that ran before gets one new pod, and no more', async () => {
    const house = await started();
    const desired = house.desired(HOT);
    house.configuration.cannotStartWith = () => true;
    house.hub.restart();
    house.events.length = 0;
    expect(await house.reconcile(desired, 600)).toMatchObject({
      type: 'Stalled',
      reason: 'CheckFailed',
      message: expect.stringMatching(/also after its pod was replaced/),
    });
    expect(house.events.filter((event) => event === 'delete pod')).toHaveLength(1);
    house.configuration.cannotStartWith = () => false;
    house.hub.restart();
    expect(await house.settle(desired)).toBe('ConfigurationLoaded');
  });

  test('a recovery mode with a temporary cause is healed by the new pod, once in each start', async () => {
    const house = await started();
    const desired = house.desired(HOT);
    for (const round of [1, 2]) {
      let starts = 0;
      house.configuration.cannotStartWith = () => ++starts === 1;
      house.hub.restart();
      expect(await house.settle(desired)).toBe('ConfigurationLoaded');
      expect(house.events.filter((event) => event === 'delete pod')).toHaveLength(round);
    }
  });

  test('a recovery mode with a temporary cause is healed while the desired content is rejected by its check', async () => {
    const house = await started();
    house.configuration.check = (text) => (text.includes('typo') ? 'Invalid config.' : null);
    const desired = house.desired(`${HOT}typo:\n`);
    expect(await house.settle(desired)).toBe('CheckFailed');
    let starts = 0;
    house.configuration.cannotStartWith = () => ++starts === 1;
    house.hub.restart();
    house.events.length = 0;
    expect(await house.operator().sync(desired)).toMatchObject({
      type: 'Waiting',
      reason: 'RestartPending',
      message: expect.stringMatching(
        /recovery mode with a configuration that it has run with\. Its pod is replaced once\.\nThat is not this one, which the hub rejects: .*Invalid config\./,
      ),
    });
    expect(house.events.filter((event) => event !== 'refresh')).toEqual([
      'write villa-configuration-accepted',
      'delete pod',
      'restart',
    ]);
    expect(await house.settle(desired)).toBe('CheckFailed');
    expect(house.text).toContain('second');
    expect(house.text).not.toContain('typo');
  });

  test('a pod that fell back and is in recovery mode is replaced by one with the former content, and its verdict stays', async () => {
    const house = await started();
    const desired = house.desired(`${HOT}typo:\n`);
    house.configuration.cannotStartWith = () => true;
    house.pod.hangs = true;
    await house.operator().sync(desired, true);
    await house.reconcile(desired, 1);
    expect(house.text).toContain('typo');
    house.pod.hangs = false;
    house.pod.verdict = prepareMessage('replaced', desired.content.marker, 'Integration typo not found.');
    house.configuration.cannotStartWith = () => false;
    const operator = house.operator();
    expect(await operator.sync(desired)).toMatchObject({
      message: expect.stringContaining('which the hub rejects: Integration typo not found.'),
    });
    expect(house.text).toContain('second');
    expect(house.text).not.toContain('typo');
    house.pod.hangs = true;
    expect(await operator.sync(desired)).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringContaining('Integration typo not found.'),
    });
  });

  test('a recovery mode with the former content is healed, even if a content failed in an earlier pod', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN);
    await house.reconcile(desired, 30);
    let starts = 0;
    house.configuration.cannotStartWith = (text) => text.includes('unknown') || ++starts === 1;
    house.hub.restart();
    house.events.length = 0;
    expect(await house.operator().sync(desired)).toMatchObject({
      type: 'Waiting',
      message: expect.stringMatching(
        /Its pod is replaced once\.\nThat is not this one\. The hub came up in its recovery mode with this configuration\.$/,
      ),
    });
    expect(await house.reconcile(desired, 30)).toMatchObject({ type: 'Stalled', reason: 'CheckFailed' });
    expect(house.text).not.toContain('unknown');
    expect(house.events.filter((event) => event === 'delete pod')).toHaveLength(1);
  });

  test('a recovery mode is healed again in a later start, even if a content failed before both', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN);
    await house.reconcile(desired, 30);
    for (const round of [1, 2]) {
      let starts = 0;
      house.configuration.cannotStartWith = (text) => text.includes('unknown') || ++starts === 1;
      house.hub.restart();
      expect(await house.reconcile(desired, 30)).toMatchObject({
        reason: 'CheckFailed',
        status: { appliedHash: house.desired(HOT).content.marker.configuration },
      });
      expect(house.events.filter((event) => event === 'delete pod')).toHaveLength(round);
    }
  });

  test('a recovery mode of a hub that is suspended is not healed, and the status says why', async () => {
    const house = await started();
    const desired = house.desired(HOT);
    house.configuration.cannotStartWith = () => true;
    house.hub.restart();
    house.isSuspended = true;
    expect(await house.reconcile(desired, 30)).toMatchObject({
      type: 'Waiting',
      reason: 'RestartPending',
      message: expect.stringContaining('That has not begun: the Hub villa reports Suspended.'),
    });
    expect(house.events).not.toContain('delete pod');
  });

  test('a recovery mode with sections that waited for the start is healed with the complete former content', async () => {
    const house = await started();
    expect(await house.settle(house.desired(CORRECTED, 'hot-reload'))).toBe('RestartPending');
    house.configuration.check = (text) => (text.includes('typo') ? 'Invalid config.' : null);
    const desired = house.desired(`${CORRECTED}typo:\n`, 'hot-reload');
    expect(await house.settle(desired)).toBe('CheckFailed');
    house.configuration.cannotStartWith = (text) => text.includes('Villa');
    house.hub.restart();
    expect(await house.settle(desired)).toBe('CheckFailed');
    expect(house.text).toContain('second');
    expect(house.text).not.toContain('Villa');
  });

  test('the failed content does not stay published beside a running hub', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN);
    for (let round = 0; round < 10 && restartsOf(house.events) < 1; round++)
      await house.reconcile(desired, 1);
    const written = house.configMaps.get('villa-configuration')!;
    await house.reconcile(desired, 30);
    house.pod.holdsRollouts = true;
    house.configMaps.set('villa-configuration', written);
    expect(house.text).toContain('unknown');
    expect(await house.operator().sync(desired)).toMatchObject({ reason: 'CheckFailed' });
    expect(house.text).not.toContain('unknown');
  });

  test('the failed content does not stay published after a crash of the operator, even while the hub is down', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN);
    for (let round = 0; round < 10 && restartsOf(house.events) < 1; round++)
      await house.reconcile(desired, 1);
    // The record is written, the publication is not.
    house.hub.operators.killAfter(2);
    await house.untilKilled(desired);
    expect(house.text).toContain('unknown');
    house.setProblem({ reason: 'TokenRejected', message: '' });
    house.pod.hangs = true;
    expect(await house.operator().sync(desired)).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringContaining('The last good one is loaded again.'),
    });
    expect(house.text).not.toContain('unknown');
  });

  test('is reported from the beginning with the restart that ends it, which begins after its debounce', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN);
    for (let round = 0; round < 10 && restartsOf(house.events) < 1; round++)
      await house.reconcile(desired, 1);
    house.setProblem({ reason: 'TokenRejected', message: 'The hub rejected the token.' });
    house.pod.holdsRollouts = true;
    const outcome = await house.reconcile(desired, 1);
    expect(house.text).not.toContain('unknown');
    // A mistake that the Hub reports later triggers no reconcile.
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'CheckFailed', after: 30_000 });
    expect(outcome.message).toContain('The last good one is loaded again.');
    expect(outcome.message).not.toMatch(/has not begun|TokenRejected/);
    expect(restartsOf(house.events)).toBe(1);
  });

  test('the restart that ends it is reported as waiting while the Hub has a mistake, which only the Hub describes', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN);
    // Reconciles until the hub is in recovery mode.
    for (let round = 0; round < 10 && restartsOf(house.events) < 1; round++)
      await house.reconcile(desired, 1);
    house.setMistake('spec.podTemplate is wrong.');
    const outcome = await house.reconcile(desired, 30);
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'CheckFailed', after: 30_000 });
    expect(outcome.message).toMatch(
      /is to be loaded again, by a restart\. It has not begun: the Hub villa reports InvalidSpec\. Correct first what its conditions name\./,
    );
    expect(outcome.message).not.toMatch(/is loaded again|podTemplate/);
    expect(restartsOf(house.events)).toBe(1);
    house.setMistake(undefined);
    expect((await house.reconcile(desired, 30)).message).toContain('The last good one is loaded again.');
    expect(house.text).toContain('second');
    expect(restartsOf(house.events)).toBe(2);
  });

  test('a start with a content that a crash left unchecked is replaced by the former one, and a mistake of the Hub is not quoted as its fault', async () => {
    const house = await started();
    house.configuration.check = (text) => (text.includes('unknown') ? 'Unknown type.' : null);
    const desired = house.desired(UNKNOWN);
    house.hub.operators.killAfter(2);
    await house.untilKilled(desired);
    expect(house.text).toContain('unknown');
    house.hub.restartProcess();
    house.setMistake('spec.podTemplate is wrong.');
    const outcome = await house.operator().sync(desired);
    expect(outcome).toMatchObject({ type: 'Stalled', reason: 'CheckFailed' });
    expect(outcome.message).toMatch(/which it had not checked\. The previous one is loaded again,/);
    expect(outcome.message).not.toContain('podTemplate');
    expect(house.text).toContain('second');
    expect(house.text).not.toContain('unknown');
    // When the hub runs again, the condition has the words of its check.
    expect(await house.reconcile(desired, 10)).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringContaining('Unknown type.'),
    });
  });

  test('the failed content is not tried again, by no process and in no start', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN);
    await house.reconcile(desired, 30);
    house.events.length = 0;
    await house.reconcile(desired, 40);
    house.hub.restart();
    await house.reconcile(desired, 40);
    expect(house.events).toEqual(['restart', 'write villa-configuration-accepted']);
  });

  test('is tried again on request, once', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN);
    await house.reconcile(desired, 30);
    house.events.length = 0;
    const operator = house.operator();
    await operator.sync(desired, true);
    expect(await house.reconcile(desired, 60, operator)).toMatchObject({ reason: 'CheckFailed' });
    expect(house.text).not.toContain('unknown');
    expect(restartsOf(house.events)).toBe(2);
  });

  test('a corrected configuration is loaded, also while the hub is in recovery mode', async () => {
    const house = await started();
    await house.reconcile(house.desired(UNKNOWN), 30);
    expect(await house.settle(house.desired(CORRECTED))).toBe('ConfigurationLoaded');
    const broken = house.desired(UNKNOWN);
    const operator = house.operator();
    await operator.sync(broken, true);
    // Reconciles until the hub is in recovery mode.
    for (let round = 0; round < 10 && restartsOf(house.events) < 4; round++)
      await house.reconcile(broken, 1, operator);
    expect(await house.settle(house.desired(CORRECTED))).toBe('ConfigurationLoaded');
    expect(house.text).toContain('Villa');
  });

  test('a corrected secret is tried, even while the hub cannot start with the former content', async () => {
    const house = await started();
    const text = `${HOT}counter:\n  visits:\n    name: !secret name\n`;
    house.setSecrets({ name: 'wrong' });
    let isWrong = true;
    house.configuration.cannotStartWith = () => isWrong;
    const wrong = house.desired(text);
    const { status } = await house.reconcile(wrong, 30);
    const Ready = { type: 'Ready', status: 'False', reason: 'CheckFailed', message: 'recovery mode' };
    house.setStatus({ ...status, conditions: [{ ...Ready, lastTransitionTime: '' }] } as never);
    house.setSecrets({ name: 'right' });
    isWrong = false;
    expect(await house.settle(house.desired(text))).toBe('ConfigurationLoaded');
    expect(house.text).toContain('visits');
  });

  describe('a hub that cannot start with a secret', () => {
    const TEXT = `${BASE}counter:\n  visits:\n    name: !secret name\n`;

    /** Makes a hub that ran with one value of the secret, and is in recovery mode with another one. */
    async function failed(autoRestart: boolean) {
      const house = new House();
      house.autoRestart = autoRestart;
      house.setSecrets({ name: 'right' });
      house.begin(house.desired(TEXT));
      expect(await house.settle(house.desired(TEXT))).toBe('ConfigurationLoaded');
      house.setSecrets({ name: 'wrong' });
      house.configuration.cannotStartWith = () => true;
      if (!autoRestart) {
        expect(await house.settle(house.desired(TEXT))).toBe('RestartPending');
        house.hub.restart();
      }
      const outcome = await house.reconcile(house.desired(TEXT), 20);
      house.events.length = 0;
      house.configuration.cannotStartWith = () => false;
      return { house, outcome };
    }

    test('reports that, and is restarted for the former value as for any other', async () => {
      const { house, outcome } = await failed(true);
      expect(outcome).toMatchObject({
        type: 'Stalled',
        reason: 'CheckFailed',
        message: expect.stringMatching(
          /recovery mode .*Correct the configuration or a secret that it uses\.$/,
        ),
      });
      house.setSecrets({ name: 'right' });
      expect(await house.settle(house.desired(TEXT))).toBe('ConfigurationLoaded');
      expect(restartsOf(house.events)).toBe(1);
    });

    test('names with autoRestart: false the restart that only a user can start, and that helps', async () => {
      const { house, outcome } = await failed(false);
      expect(outcome).toMatchObject({
        type: 'Stalled',
        reason: 'CheckFailed',
        message: expect.stringMatching(
          /spec\.autoRestart of the HubSecrets is false, so a corrected secret does not restart the hub: delete the pod villa-0 then\.$/,
        ),
      });
      house.setSecrets({ name: 'corrected' });
      expect(await house.reconcile(house.desired(TEXT), 20)).toMatchObject({ reason: 'CheckFailed' });
      expect(house.events).toEqual([]);
      house.hub.restart();
      expect(await house.settle(house.desired(TEXT))).toBe('ConfigurationLoaded');
      expect(restartsOf(house.events)).toBe(1);
    });
  });

  test('a hub in recovery mode gets a content with which its pod was started once, by another pod', async () => {
    const house = await started();
    house.configuration.cannotStartWith = (text) => text.includes('second');
    house.hub.restartProcess();
    house.events.length = 0;
    expect(await house.settle(house.desired(BASE))).toBe('ConfigurationLoaded');
    expect(house.events.filter((event) => event === 'delete pod')).toHaveLength(1);
  });

  describe('a content with which the process of the hub ends', () => {
    const crashes = (text: string) => text.includes('Villa');

    test('is replaced by the former content, with one restart, and is reported with the end of its log', async () => {
      const house = await started();
      house.configuration.crashesWith = crashes;
      const desired = house.desired(CORRECTED);
      expect(await house.reconcile(desired, 30)).toMatchObject({
        type: 'Stalled',
        reason: 'CheckFailed',
        message: expect.stringMatching(
          /^The hub’s process ended 4 times with this configuration \(last: exit code 139\), although its check accepts it: loading\nFatal Python error: Segmentation fault\nThe last good one is loaded again\.\nCorrect the configuration, /,
        ),
        status: { appliedHash: house.desired(HOT).content.marker.configuration },
      });
      expect(house.text).toContain('second');
      expect(house.text).not.toContain('Villa');
      expect(restartsOf(house.events)).toBe(2);
    });

    test('is reported as being replaced before the restart has begun', async () => {
      const house = await started();
      house.configuration.crashesWith = crashes;
      const desired = house.desired(CORRECTED);
      for (let round = 0; round < 10 && restartsOf(house.events) < 1; round++)
        await house.reconcile(desired, 1);
      house.pod.holdsRollouts = true;
      for (const _ of ['goes back', 'waits'])
        expect(await house.operator().sync(desired)).toMatchObject({
          reason: 'CheckFailed',
          message: expect.stringMatching(/ended 4 times .*\n.*\nThe last good one is loaded again\./),
        });
    });

    test('stays where the image was changed as well', async () => {
      const house = await started();
      house.configuration.crashesWith = crashes;
      house.pod.image = 'home-assistant:2026.12.0';
      // The end of a process triggers no reconcile.
      const waits = { reason: 'HubNotReady', after: 5_000 };
      expect(await house.reconcile(house.desired(CORRECTED), 120)).toMatchObject(waits);
      expect(house.text).toContain('Villa');
      expect(restartsOf(house.events)).toBe(1);
    });

    test('is replaced even if an older operator has recorded the former content', async () => {
      const house = await started();
      const record = house.configMaps.get('villa-configuration-accepted')!;
      const { start: _start, ...stored } = JSON.parse(record.data['.loaded']!) as Record<string, unknown>;
      house.configMaps.set('villa-configuration-accepted', {
        metadata: { ...record.metadata, resourceVersion: 'older' },
        data: { ...record.data, '.loaded': JSON.stringify({ ...stored, start: { version: '2026.11.0' } }) },
      });
      expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
      house.configuration.crashesWith = crashes;
      expect(await house.reconcile(house.desired(CORRECTED), 30)).toMatchObject({ reason: 'CheckFailed' });
      expect(house.text).not.toContain('Villa');
    });

    test('is not replaced because of restarts of its pod before it came', async () => {
      const house = await started();
      for (let restarts = 0; restarts < 3; restarts++) house.hub.restartProcess();
      expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
      const desired = house.desired(CORRECTED, 'hot-reload');
      expect(await house.settle(desired)).toBe('RestartPending');
      house.configuration.crashesWith = crashes;
      house.pod.ends = 1;
      house.hub.restartProcess();
      expect(await house.reconcile(desired, 30)).toMatchObject({ reason: 'HubNotReady' });
      expect(house.text).toContain('Villa');
      house.pod.ends = 4;
      expect(await house.reconcile(desired, 30)).toMatchObject({
        reason: 'CheckFailed',
        message: expect.stringContaining('ended 4 times'),
      });
      expect(house.text).not.toContain('Villa');
    });

    test('is not the only cause when the process also ends with the last good one', async () => {
      const house = await started();
      house.configuration.crashesWith = () => true;
      const outcome = await house.reconcile(house.desired(CORRECTED), 60);
      expect(outcome).toMatchObject({
        reason: 'CheckFailed',
        message: expect.stringContaining(
          'The process ends with the last good one as well (exit code 139), so the cause is another: the conditions of the Hub villa name it.',
        ),
      });
      expect(outcome.message).not.toContain('is loaded again');
      expect(restartsOf(house.events)).toBe(2);
    });

    test('does not count as a content with which the hub has run', async () => {
      const house = await started();
      house.configuration.crashesWith = () => true;
      house.hub.restart();
      house.events.length = 0;
      expect(await house.reconcile(house.desired(HOT), 60)).toMatchObject({ reason: 'HubNotReady' });
      expect(house.events).toEqual([]);
    });

    test('stays when the hub has run with no other', async () => {
      const house = new House();
      house.configuration.crashesWith = crashes;
      const desired = house.desired(CORRECTED);
      house.begin(desired);
      expect(await house.reconcile(desired, 60)).toMatchObject({ reason: 'HubNotReady' });
      expect(house.events).toEqual([]);
    });

    test('is replaced by a corrected one immediately', async () => {
      const house = await started();
      house.configuration.crashesWith = (text) => text.includes('Villa') || text.includes('second');
      house.hub.restart();
      expect(await house.settle(house.desired(BASE))).toBe('ConfigurationLoaded');
    });

    test.each([1, 2, 3, 4, 5, 6])(
      'is taken back, even if the operator is killed at change %i',
      async (step) => {
        const house = await started();
        house.configuration.crashesWith = crashes;
        house.hub.operators.killAfter(step);
        expect(await house.reconcile(house.desired(CORRECTED), 60)).toMatchObject({ reason: 'CheckFailed' });
        expect(house.text).toContain('second');
        expect(house.text).not.toContain('Villa');
        expect(restartsOf(house.events)).toBe(2);
      },
    );
  });

  test('a hub that runs with a later change is not restarted when the failed one is written again', async () => {
    const house = await started();
    await house.reconcile(house.desired(UNKNOWN), 30);
    expect(await house.settle(house.desired(`${HOT}  third:\n`))).toBe('ConfigurationLoaded');
    house.events.length = 0;
    house.pod.hangs = true;
    expect(await house.reconcile(house.desired(UNKNOWN), 10)).toMatchObject({ reason: 'CheckFailed' });
    expect(restartsOf(house.events)).toBe(0);
    expect(house.text).toContain('third');
  });

  test('under hot-reload a restart by a user is followed by one pod that has the former content', async () => {
    const house = await started();
    const desired = house.desired(UNKNOWN, 'hot-reload');
    expect(await house.settle(desired)).toBe('RestartPending');
    house.hub.restart();
    house.events.length = 0;
    expect(await house.reconcile(desired, 40)).toMatchObject({ reason: 'CheckFailed' });
    expect(house.text).not.toContain('unknown');
    expect(restartsOf(house.events)).toBe(1);
  });

  test('a hub that never ran with another configuration keeps it', async () => {
    const house = new House();
    house.configuration.cannotStartWith = (text) => text.includes('unknown');
    const desired = house.desired(UNKNOWN);
    house.begin(desired);
    expect(await house.reconcile(desired, 30)).toMatchObject({
      type: 'Stalled',
      reason: 'CheckFailed',
      message:
        'The hub came up in its recovery mode with this configuration, and there is no other one that it has run with. The log of the pod villa-0 says why. Correct the configuration or a secret that it uses.',
    });
    expect(house.events.filter((event) => event !== 'refresh')).toEqual([]);
  });

  describe('without a last good copy', () => {
    const LAST_GOOD = 'villa-configuration-last-good';
    const goesBack = async (house: House, desired: DesiredContent) => {
      expect(await house.reconcile(desired, 30)).toMatchObject({ reason: 'CheckFailed' });
      expect(house.text).not.toContain('unknown');
      expect(restartsOf(house.events)).toBe(2);
    };

    test('the record is used', async () => {
      const house = await started();
      house.configMaps.delete(LAST_GOOD);
      await goesBack(house, house.desired(UNKNOWN));
      expect(house.text).toContain('second');
    });

    test('the accepted one is used, for a change that was written while the hub was down', async () => {
      const house = await started();
      house.configMaps.delete(LAST_GOOD);
      house.pod.hangs = true;
      await house.operator().sync(house.desired(UNKNOWN), true);
      house.pod.hangs = false;
      await house.reconcile(house.desired(UNKNOWN), 1);
      await goesBack(house, house.desired(UNKNOWN));
      expect(house.text).toContain('second');
    });

    test('and without an accepted one, the content of the pod’s start is used', async () => {
      const house = new House();
      house.configuration.cannotStartWith = (text) => text.includes('unknown');
      const base = house.desired(BASE);
      house.begin(base);
      expect(await house.settle(base)).toBe('ConfigurationLoaded');
      for (const name of [LAST_GOOD, 'villa-configuration-accepted']) house.configMaps.delete(name);
      house.events.length = 0;
      await goesBack(house, house.desired(UNKNOWN));
      expect(house.text).toContain('first');
    });
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12])(
    'ends the same when the operator is killed at change %i',
    async (step) => {
      const house = await started();
      house.hub.operators.killAfter(step);
      expect(await house.reconcile(house.desired(UNKNOWN), 60)).toMatchObject({ reason: 'CheckFailed' });
      expect(house.text).toContain('second');
      expect(house.text).not.toContain('unknown');
      expect(restartsOf(house.events)).toBe(2);
    },
  );
});
