import type { ReloadStrategy } from '../../../../operator/sync/configuration/load/reload-decision';
import type { Files } from '../../../../operator/sync/configuration/generate/config-files';
import type { DesiredContent } from '../../../../operator/sync/configuration/load/running-content';
import { operatorAnnotations } from '../../../../operator/kinds/annotations';
import { prepareMessage } from '../../stand-in-hub/pod';
import { House } from './house';

const BASE = 'input_boolean:\n  first:\n';
const HOT = 'input_boolean:\n  second:\n';
const RESTART = `${BASE}counter:\n  visits:\n`;
const BROKEN = 'input_boolean:\n  broken: 5\n';

async function started() {
  const house = new House();
  house.configuration.check = (text) =>
    text.includes('broken') ? "Invalid config for 'input_boolean'" : null;
  const base = house.desired(BASE);
  house.begin(base);
  expect(await house.settle(base)).toBe('ConfigurationLoaded');
  house.events.length = 0;
  return house;
}

const changesOf = (events: readonly string[]) => events.filter((event) => event !== 'refresh');

describe('ConfigurationReconciler', () => {
  test('reloads a section that has a service, after the marker was seen', async () => {
    const house = await started();
    expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
    expect(changesOf(house.events)).toEqual([
      'write villa-configuration',
      'reload script',
      'reload input_boolean',
      'write villa-configuration-accepted',
    ]);
    expect(house.configuration.loaded.get('input_boolean')).toContain('second');
  });

  test('parses no file again for the settings of the web server, except those of a restored content', async () => {
    const house = await started();
    expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
    expect(house.readTexts).toEqual([]);
    expect(await house.settle(house.desired(BROKEN))).toBe('CheckFailed');
    expect(new Set(house.readTexts)).toEqual(new Set(['readHttpSection']));
  });

  test('loads an edit without a delay of its own, as soon as the hub has the files', async () => {
    const house = await started();
    const operator = house.operator();
    const began = house.clock.monotonic();
    await operator.sync(house.desired(HOT));
    await house.clock.advance(0);
    expect(house.configuration.loaded.get('input_boolean')).toContain('second');
    expect((await operator.sync(house.desired(HOT))).reason).toBe('ConfigurationLoaded');
    expect(house.clock.monotonic()).toBe(began);
  });

  test('writes nothing in an hour once it is loaded, to the cluster or the hub', async () => {
    const house = await started();
    const base = house.desired(BASE);
    const online = house.operator();
    for (let minute = 0; minute < 60; minute++) {
      // The configuration requests no reconcile of its own, so this is more often than in reality.
      for (let count = 0; count < 3; count++) {
        const outcome = await online.sync(base);
        expect(outcome).toMatchObject({ type: 'Ready', reason: 'ConfigurationLoaded' });
        expect(outcome).not.toHaveProperty('after');
      }
      await house.clock.advance(60_000);
    }
    expect(house.events).toEqual([]);
  });

  describe('folders that the configuration includes and does not have', () => {
    const text = `${BASE}input_boolean a: !include_dir_named numbers\ninput_boolean b: !include_dir_named themes\n`;
    const none = { missing: [], empty: [], present: [], unnamed: 0 };

    /** Sets the report of the pod's start. */
    function found(house: House, folders: object, configuration = text): void {
      const { marker } = house.desired(configuration).content;
      const report = JSON.parse(prepareMessage('loaded', marker)) as object;
      house.pod.verdict = JSON.stringify({ ...report, folders: { ...none, ...folders } });
    }

    test('are searched for by the start of a pod, and are NotLoaded with their places while they are missing', async () => {
      const house = await started();
      found(house, {}, BASE);
      await house.reconcile(house.desired(text), 3);
      expect(changesOf(house.events).slice(0, 2)).toEqual(['write villa-configuration', 'restart']);
      expect(JSON.parse(house.configMaps.get('villa-configuration')!.data['.folders']!)).toEqual([
        'numbers',
        'themes',
      ]);
      found(house, { missing: ['numbers', 'of_before'], present: ['themes'] });
      expect(await house.reconcile(house.desired(text), 4)).toMatchObject({
        type: 'Stalled',
        reason: 'NotLoaded',
        message: expect.stringContaining(
          'nothing of them: numbers (spec.configuration, line 3, column 37). ',
        ),
      });
      found(house, { present: ['numbers'], empty: ['themes'] });
      expect(await house.reconcile(house.desired(text), 1)).toMatchObject({
        type: 'Ready',
        message: expect.stringMatching(
          / Folders without a file that it includes: themes \(spec.*line 4, column 37\)\.$/,
        ),
      });
    });

    test('do not restart a hub whose pod was started by an earlier version, or whose report has no room for all', async () => {
      const house = await started();
      expect(await house.settle(house.desired(text))).toBe('ConfigurationLoaded');
      found(house, { unnamed: 1 }, BASE);
      expect(await house.settle(house.desired(`${text}# again\n`))).toBe('ConfigurationLoaded');
      expect(house.events).not.toContain('restart');
    });

    test('are loaded with hot-reload, which reports that only another pod shows them', async () => {
      const house = await started();
      found(house, { present: ['themes'] }, BASE);
      expect(await house.reconcile(house.desired(text, 'hot-reload'), 4)).toMatchObject({
        reason: 'RestartPending',
        message: expect.stringMatching(/numbers \(spec.*line 3, column 37\)\. .*delete the pod villa-0/),
      });
      expect(house.events).toContain('reload input_boolean');
      expect(house.events).not.toContain('restart');
    });
  });

  test('an included file that the pod has created is CheckFailed until a user has written it', async () => {
    const house = await started();
    const text = `${BASE}sensor: !include sensrs.yaml\n`;
    const created = (...names: readonly string[]) => {
      const { marker } = house.desired(text).content;
      house.pod.verdict = JSON.stringify({ ...JSON.parse(prepareMessage('loaded', marker)), created: names });
    };
    await house.settle(house.desired(text));
    created('sensrs.yaml', 'of_a_former_configuration.yaml');
    expect(await house.reconcile(house.desired(text), 2)).toMatchObject({
      reason: 'CheckFailed',
      message: expect.stringMatching(
        /^The configuration includes sensrs\.yaml \(spec\.configuration, line 3, column 18\), which did not exist/,
      ),
    });
    created();
    expect(await house.settle(house.desired(text))).toBe('ConfigurationLoaded');
  });

  test('an included file that the hub cannot read is named with its place and the remedy, before the hub’s message', async () => {
    const house = await started();
    const words =
      'in "/config/configuration.yaml", line 3, column 9: Unable to read file /config/sensrs.yaml';
    house.configuration.check = (text) => (text.includes('sensrs') ? words : null);
    expect(await house.reconcile(house.desired(`${BASE}sensor: !include sensrs.yaml\n`), 3)).toMatchObject({
      reason: 'CheckFailed',
      message: `The hub rejects the configuration: spec.configuration, line 3, column 18: includes the file sensrs.yaml, which neither spec.files nor the hub’s volume has. Put it into spec.files, correct its name, or write it on the volume.\n${words}\nThe configuration before stays.`,
    });
  });

  test('parts that the hub silently leaves out are in the message of Ready', async () => {
    const house = await started();
    const desired = house.desired(`${BASE}sensor: !include_dir_named sensors\n`);
    const remarks = Array.from({ length: 7 }, (_, index) => `Remark ${index}.`);
    const { content } = desired;
    expect(await house.reconcile({ ...desired, content: { ...content, remarks } }, 5)).toMatchObject({
      reason: 'ConfigurationLoaded',
      message:
        'The hub has loaded the configuration. Remark 0. Remark 1. Remark 2. Remark 3. Remark 4. kubectl hub validate names 2 more.',
    });
  });

  test('restarts for a section without a service, after it was checked', async () => {
    const house = await started();
    expect(await house.settle(house.desired(RESTART))).toBe('ConfigurationLoaded');
    expect(house.events.filter((event) => event === 'restart')).toHaveLength(1);
    expect(house.configuration.loaded.get('counter')).toContain('visits');
  });

  test('restores the accepted content when the check rejects a change', async () => {
    const house = await started();
    const before = house.text;
    expect(await house.settle(house.desired(BROKEN))).toBe('CheckFailed');
    expect(house.text).toBe(before);
    expect(house.events).not.toContain('restart');
    expect(house.events).not.toContain('reload input_boolean');
  });

  test('restores a content that waits for a restart, and the restart is not forgotten', async () => {
    const house = await started();
    expect(await house.settle(house.desired(RESTART, 'hot-reload'))).toBe('RestartPending');
    expect(await house.settle(house.desired(BROKEN, 'hot-reload'))).toBe('CheckFailed');
    expect(house.text).toContain('visits');
    expect(await house.settle(house.desired(RESTART))).toBe('ConfigurationLoaded');
    expect(house.configuration.loaded.get('counter')).toContain('visits');
  });

  test('under hot-reload reverted sections are reloaded also after a partial reload', async () => {
    const house = await started();
    expect(await house.settle(house.desired(`${HOT}counter:\n  visits:\n`, 'hot-reload'))).toBe(
      'RestartPending',
    );
    expect(house.configuration.loaded.get('input_boolean')).toContain('second');
    expect(await house.settle(house.desired(BASE, 'hot-reload'))).toBe('ConfigurationLoaded');
    expect(house.configuration.loaded.get('input_boolean')).toContain('first');
  });

  test('a change back takes a crash after the reload into account', async () => {
    const house = await started();
    // Content, refresh, marker and reload are done, and then the result is lost.
    house.hub.operators.killAfter(5);
    await house.untilKilled(house.desired(HOT));
    expect(house.configuration.loaded.get('input_boolean')).toContain('second');
    expect(await house.settle(house.desired(BASE))).toBe('ConfigurationLoaded');
    expect(house.configuration.loaded.get('input_boolean')).toContain('first');
  });

  test('a rejection is not retried by the next process, but in the next start of the hub', async () => {
    const house = await started();
    expect(await house.settle(house.desired(BROKEN))).toBe('CheckFailed');
    const { configuration: configHash } = house.desired(BROKEN).content.marker;
    house.setStatus({
      configHash,
      conditions: [{ type: 'Ready', status: 'False', reason: 'CheckFailed', message: 'Rejected.' }],
    } as never);
    house.events.length = 0;
    expect(await house.settle(house.desired(BROKEN))).toBe('CheckFailed');
    expect(house.events).toEqual([]);
  });

  test('restarts also for a content that the pod was started for before', async () => {
    const house = await started();
    const template = `${BASE}template:\n  - sensor: []\n`;
    expect(await house.settle(house.desired(template))).toBe('ConfigurationLoaded');
    expect(house.events).not.toContain('restart');
    // A removed section has no reload, and the hash of this content is that of the first start.
    expect(await house.settle(house.desired(BASE))).toBe('ConfigurationLoaded');
    expect(house.events.filter((event) => event === 'delete pod')).toHaveLength(1);
    expect(house.configuration.loaded.get('template')).not.toContain('sensor');
  });

  test('restarts for a new file, which is linked at the start of the pod', async () => {
    const house = await started();
    const files = { 'switches.yaml': 'second:\n' };
    const text = 'input_boolean: !include switches.yaml\n';
    expect(await house.settle(house.desired(text, 'hot-reload', files))).toBe('RestartPending');
    expect(house.text).toContain('first');
    expect(await house.settle(house.desired(text, 'auto', files))).toBe('ConfigurationLoaded');
    expect(house.events.filter((event) => event === 'restart')).toHaveLength(1);
    expect(house.configuration.loaded.get('input_boolean')).toContain('switches.yaml');
  });

  test('restarts for pending sections when the strategy allows it', async () => {
    const house = await started();
    expect(await house.settle(house.desired(RESTART, 'hot-reload'))).toBe('RestartPending');
    expect(await house.settle(house.desired(RESTART, 'auto'))).toBe('ConfigurationLoaded');
    expect(house.events).toContain('restart');
  });

  describe('a restart that is decided and has not begun', () => {
    /** `RESTART` is decided and still in its debounce. */
    async function decided() {
      const house = await started();
      house.pod.holdsRollouts = true;
      const operator = house.operator();
      expect(await house.reconcile(house.desired(RESTART), 5, operator)).toMatchObject({
        reason: 'RestartPending',
      });
      return { house, operator };
    }
    const restartsLater = async (house: House, reached: DesiredContent) => {
      house.pod.holdsRollouts = false;
      house.events.length = 0;
      await house.reconcile(reached, 5);
      return house.events.includes('restart');
    };

    test('is reported as waiting while the Hub has a mistake, and begins when that is corrected', async () => {
      const house = await started();
      house.setMistake('spec.podTemplate is wrong.');
      const operator = house.operator();
      const message =
        'The hub is to be restarted to load counter. The restart has not begun: the Hub villa reports InvalidSpec. Correct what its conditions name.';
      const waits = { type: 'Waiting', reason: 'RestartPending', message };
      expect(await house.reconcile(house.desired(RESTART), 5, operator)).toMatchObject(waits);
      // Another process reports the waiting restart too.
      expect(await house.reconcile(house.desired(RESTART), 5)).toMatchObject(waits);
      house.setMistake(undefined);
      expect(await restartsLater(house, house.desired(RESTART))).toBe(true);
      expect(await house.settle(house.desired(RESTART), operator)).toBe('ConfigurationLoaded');
    });

    test('for a new file is not written while the Hub has a mistake, since a hub that restarts itself could not read it', async () => {
      const house = await started();
      house.setMistake('spec.podTemplate is wrong.');
      const desired = house.desired('input_boolean: !include switches.yaml\n', 'auto', {
        'switches.yaml': 'second:\n',
      });
      expect(await house.reconcile(desired, 5)).toMatchObject({ reason: 'RestartPending' });
      expect(house.events).not.toContain('write villa-configuration');
    });

    test('is reported as in progress beside a problem of the Hub that does not block it', async () => {
      const house = await started();
      house.pod.holdsRollouts = true;
      house.setProblem({ reason: 'TokenRejected', message: 'The hub rejected the token.' });
      expect(await house.reconcile(house.desired(RESTART), 5)).toMatchObject({
        reason: 'RestartPending',
        message: 'The hub is being restarted to load counter.',
      });
    });

    test('is withdrawn when the change is taken back', async () => {
      const { house, operator } = await decided();
      expect(await house.settle(house.desired(BASE), operator)).toBe('ConfigurationLoaded');
      expect(await restartsLater(house, house.desired(BASE))).toBe(false);
    });

    test.each([1, 2, 3, 4, 5, 6, 7])(
      'is withdrawn also by a process that is killed at change %i',
      async (step) => {
        const { house, operator } = await decided();
        house.hub.operators.killAfter(step);
        expect(await house.settle(house.desired(BASE), operator)).toBe('ConfigurationLoaded');
        expect(await restartsLater(house, house.desired(BASE))).toBe(false);
      },
    );

    test('is withdrawn when a new file is taken back, which a running hub has never seen', async () => {
      const house = await started();
      house.pod.holdsRollouts = true;
      const files = { 'switches.yaml': 'second:\n' };
      const added = house.desired('input_boolean: !include switches.yaml\n', 'auto', files);
      const operator = house.operator();
      expect(await house.reconcile(added, 5, operator)).toMatchObject({ reason: 'RestartPending' });
      expect(await house.settle(house.desired(BASE), operator)).toBe('ConfigurationLoaded');
      expect(await restartsLater(house, house.desired(BASE))).toBe(false);
    });

    test('is withdrawn when the strategy becomes hot-reload', async () => {
      const { house, operator } = await decided();
      const desired = house.desired(RESTART, 'hot-reload');
      expect(await house.settle(desired, operator)).toBe('RestartPending');
      expect(await restartsLater(house, desired)).toBe(false);
    });

    test('stays when another change follows, also one that is rejected', async () => {
      const { house, operator } = await decided();
      expect(await house.settle(house.desired(BROKEN), operator)).toBe('CheckFailed');
      expect(await house.reconcile(house.desired(RESTART), 5, operator)).toMatchObject({
        reason: 'RestartPending',
      });
      expect(await restartsLater(house, house.desired(RESTART))).toBe(true);
    });
  });

  test('a restart by a user loads pending sections, and is reported as a restart', async () => {
    const house = await started();
    const operator = house.operator();
    expect(await house.settle(house.desired(RESTART, 'hot-reload'), operator)).toBe('RestartPending');
    house.hub.restart();
    expect(await house.settle(house.desired(RESTART, 'hot-reload'), operator)).toBe('ConfigurationLoaded');
    expect(house.configuration.loaded.get('counter')).toContain('visits');
    expect(house.reported).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
  });

  test('each slow start of the hub is waited for, and the change loaded without another one', async () => {
    const house = await started();
    const operator = house.operator();
    for (let count = 0; count < 2; count++) {
      house.pod.hangs = true;
      house.hub.restartProcess();
      await operator.sync(house.desired(HOT));
      await house.clock.advance(9 * 60_000);
      expect(await operator.sync(house.desired(HOT))).toMatchObject({ reason: 'HubNotReady', after: 5_000 });
      expect(changesOf(house.events)).toEqual(['restart']);
      house.pod.hangs = false;
      expect(await house.settle(house.desired(HOT), operator)).toBe('ConfigurationLoaded');
      expect(await house.settle(house.desired(BASE), operator)).toBe('ConfigurationLoaded');
      expect(house.events.filter((event) => event === 'restart')).toHaveLength(1);
      house.events.length = 0;
    }
  });

  test('under hot-reload a lost record is no reason for a restart', async () => {
    const house = await started();
    house.configMaps.delete('villa-configuration-accepted');
    house.pod.hangs = true;
    await house.reconcile(house.desired(HOT, 'hot-reload'), 700);
    expect(house.events).toEqual(['write villa-configuration']);
  });

  describe('under hot-reload, a content that is written while the hub is down', () => {
    /** The hub hangs, and the user asks not to wait for it. */
    async function writtenAway(text: string, files: Files = {}) {
      const house = await started();
      house.pod.hangs = true;
      const desired = house.desired(text, 'hot-reload', files);
      const outcome = await house.operator().sync(desired, true);
      house.pod.hangs = false;
      return { house, desired, outcome };
    }

    test('is loaded by a pod that starts with it, which is observed', async () => {
      const { house, desired } = await writtenAway(RESTART);
      house.hub.restart();
      expect(await house.settle(desired)).toBe('ConfigurationLoaded');
      expect(house.reported).toMatchObject({ lastReloadMethod: 'restart', changedSections: [] });
      expect(house.events.filter((event) => event === 'restart')).toHaveLength(1);
    });

    test('is pending when the hub may have started before it had the file', async () => {
      const { house, desired } = await writtenAway(RESTART);
      house.hub.restartProcess();
      expect(await house.settle(desired)).toBe('RestartPending');
      expect(house.reported).toMatchObject({ changedSections: ['counter'] });
    });

    test('is compared with the next change, after a pod has started with it', async () => {
      const { house } = await writtenAway(RESTART);
      house.hub.restart();
      const next = house.desired(RESTART.replace('first:', 'second:'), 'hot-reload');
      expect(await house.settle(next)).toBe('ConfigurationLoaded');
      expect(house.configuration.loaded.get('input_boolean')).toContain('second');
      expect(house.events.filter((event) => event === 'restart')).toHaveLength(1);
    });

    test('is not a new file, which a hub that restarts itself could not read', async () => {
      const files = { 'switches.yaml': 'second:\n' };
      const { house, desired, outcome } = await writtenAway('input_boolean: !include switches.yaml\n', files);
      expect(outcome).toMatchObject({
        type: 'Stalled',
        reason: 'RestartPending',
        message: expect.stringContaining('switches.yaml (new)'),
      });
      expect(await house.settle(desired)).toBe('RestartPending');
      expect(house.events).toEqual([]);
    });
  });

  describe('under hot-reload, a pod that started with the last good copy', () => {
    const fellBack = async () => {
      const house = await started();
      house.pod.verdict = prepareMessage('replaced', { configuration: 'sha256:other' }, 'no');
      house.pod.readsOldFiles = true;
      return house;
    };

    test('is left to a user, who is told how to replace it', async () => {
      const house = await fellBack();
      const desired = house.desired(HOT, 'hot-reload');
      expect(await house.reconcile(desired, 20)).toMatchObject({
        type: 'Stalled',
        reason: 'RestartPending',
        message: expect.stringMatching(/delete the pod villa-0, or set spec\.reloadStrategy to auto/),
      });
      expect(house.events).not.toContain('restart');
      house.hub.restart();
      expect(await house.settle(desired)).toBe('ConfigurationLoaded');
    });

    test('is replaced once the strategy is auto', async () => {
      const house = await fellBack();
      await house.reconcile(house.desired(HOT, 'hot-reload'), 20);
      expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
      expect(house.events.filter((event) => event === 'restart')).toHaveLength(1);
    });
  });

  test('a restart of a pod with the last good copy is not doubled by a crash within the debounce', async () => {
    const house = await started();
    house.pod.verdict = prepareMessage('replaced', { configuration: 'sha256:other' }, 'no');
    house.pod.readsOldFiles = true;
    house.pod.holdsRollouts = true;
    expect(await house.reconcile(house.desired(HOT), 5)).toMatchObject({ reason: 'RestartPending' });
    expect(await house.reconcile(house.desired(HOT), 5)).toMatchObject({ reason: 'RestartPending' });
    house.pod.holdsRollouts = false;
    expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
    expect(house.events.filter((event) => event === 'restart')).toHaveLength(1);
    expect(house.events).not.toContain('delete pod');
  });

  describe('the message about a new file under hot-reload', () => {
    const NEW = 'input_boolean: !include switches.yaml\n';
    const files = { 'switches.yaml': 'second:\n' };

    test('is correct: no restart loads it', async () => {
      const house = await started();
      const operator = house.operator();
      const desired = house.desired(NEW, 'hot-reload', files);
      expect(await house.reconcile(desired, 5, operator)).toMatchObject({
        reason: 'RestartPending',
        message:
          'Files of spec.files and spec.filesFrom come and go for a hub only when its pod starts, and spec.reloadStrategy is hot-reload: switches.yaml (new). Nothing of this change is written, and a restart of the hub does not load it. Set spec.reloadStrategy to auto for this change, or put the text into a file that exists or into spec.configuration.',
      });
      house.hub.restart();
      expect(await house.reconcile(desired, 5, operator)).toMatchObject({ reason: 'RestartPending' });
      expect(house.text).toContain('first');
    });

    test('names no file of the operator for a content that is too large for one ConfigMap', async () => {
      const named = (bytes: number) => ({
        'switches.yaml': '#'.repeat(bytes),
        'more.yaml': '#'.repeat(bytes),
      });
      const house = new House();
      const text = 'input_boolean: !include switches.yaml\n';
      await house.settle(house.desired(text, 'auto', named(1_000)));
      expect(await house.reconcile(house.desired(text, 'hot-reload', named(600_000)), 5)).toMatchObject({
        reason: 'RestartPending',
        message:
          'The configuration is too large for one ConfigMap now, which a hub reads only when its pod starts, and spec.reloadStrategy is hot-reload. Nothing of this change is written, and a restart of the hub does not load it. Set spec.reloadStrategy to auto for this change.',
      });
      house.isSuspended = true;
      const { message } = await house.reconcile(house.desired(text, 'auto', named(600_000)), 5);
      expect(message).toContain('The hub is to be restarted to load the configuration. ');
    });

    test.each<[string, string, ReloadStrategy, Files]>([
      ['auto', NEW, 'auto', files],
      ['the text in spec.configuration', HOT, 'hot-reload', {}],
      ['hot-reload again, once the file is there', NEW.concat('# a comment\n'), 'hot-reload', files],
    ])('names remedies that exist: %s', async (way, text, strategy, given) => {
      const house = await started();
      expect(await house.settle(house.desired(NEW, 'hot-reload', files))).toBe('RestartPending');
      if (way.includes('again'))
        expect(await house.settle(house.desired(NEW, 'auto', files))).toBe('ConfigurationLoaded');
      expect(await house.settle(house.desired(text, strategy, given))).toBe('ConfigurationLoaded');
    });

    test('is correct for the text in an existing file too', async () => {
      const house = new House();
      const text = 'input_boolean: !include present.yaml\n';
      const base = house.desired(text, 'hot-reload', { 'present.yaml': 'first:\n' });
      house.begin(base);
      expect(await house.settle(base)).toBe('ConfigurationLoaded');
      const more = house.desired(text, 'hot-reload', { 'present.yaml': 'first:\nsecond:\n' });
      expect(await house.settle(more)).toBe('ConfigurationLoaded');
      expect(house.events).not.toContain('restart');
      expect(house.events).toContain('reload input_boolean');
    });
  });

  test('definitions in the configuration itself are named, and reported to the resources of the hub', async () => {
    const house = await started();
    const ids = Array.from({ length: 12 }, (_, index) => `a${String(index).padStart(2, '0')}`);
    const own = `${BASE}automation own: [${ids.map((id) => `{id: ${id}}`).join(', ')}]\nscript own: {night: }\n`;
    expect(await house.settle(house.desired(own))).toBe('ConfigurationLoaded');
    const { message } = await house.reconcile(house.desired(own), 1);
    expect(message).toContain(
      ' automation a00, a01, a02, a03, a04, a05, a06, a07, a08, a09 and 2 more; script night.',
    );
    const annotations = house.configMaps.annotations('villa-configuration-accepted');
    expect(JSON.parse(annotations[operatorAnnotations.definitions]!)).toEqual({
      automation: ids,
      script: ['night'],
    });
    expect(await house.settle(house.desired(BASE))).toBe('ConfigurationLoaded');
    expect(house.configMaps.annotations('villa-configuration-accepted')).not.toHaveProperty(
      operatorAnnotations.definitions,
    );
  });

  test('its own definitions are reported by an operator that finds a record of one that did not know them, or a changed one', async () => {
    const house = await started();
    const own = house.desired(`${BASE}automation own: [{id: a}]\n`);
    expect(await house.settle(own)).toBe('ConfigurationLoaded');
    const annotations = () => house.configMaps.annotations('villa-configuration-accepted');
    const expected = annotations()[operatorAnnotations.definitions];
    for (const text of [undefined, '{', 'null']) {
      const { metadata, ...rest } = house.configMaps.get('villa-configuration-accepted')!;
      const { [operatorAnnotations.definitions]: __, ...others } = annotations();
      const changed = { ...others, ...(text !== undefined && { [operatorAnnotations.definitions]: text }) };
      const resourceVersion = `changed-${text}`;
      house.configMaps.set('villa-configuration-accepted', {
        ...rest,
        metadata: { ...metadata, resourceVersion, annotations: changed },
      });
      house.events.length = 0;
      expect((await house.reconcile(own, 2)).reason).toBe('ConfigurationLoaded');
      expect(annotations()[operatorAnnotations.definitions]).toBe(expected);
      expect(house.events.filter((event) => event.includes('accepted'))).toHaveLength(1);
    }
  });

  test('the own definitions and the folders of a content are known even if a pod has begun with it before any process has seen it', async () => {
    const house = await started();
    const own = `${RESTART}automation own: [{id: a}]\nsensor: !include_dir_list sensors\n`;
    // The decision to restart is written, and the pod comes back without an operator.
    house.hub.operators.killAfter(2);
    await house.untilKilled(house.desired(own));
    house.hub.restart();
    expect(house.text).toContain('automation own');
    await house.settle(house.desired(BROKEN));
    const { data } = house.configMaps.get('villa-configuration-accepted')!;
    const annotations = house.configMaps.annotations('villa-configuration-accepted');
    expect(data['.content-hash']).toBe(house.desired(own).content.marker.configuration);
    expect(annotations[operatorAnnotations.definitions]).toBe('{"automation":["a"]}');
    expect(data['.folders']).toBe('["sensors"]');
  });

  describe('files of folders', () => {
    const TEXT = 'input_boolean: !include_dir_merge_named lamps\n';
    const files = { 'lamps/hall.yaml': 'first:\n', 'lamps/attic.yaml': 'third:\n' };
    const { 'lamps/attic.yaml': _, ...fewer } = files;

    async function withFolder() {
      const house = new House();
      const base = house.desired(TEXT, 'hot-reload', files);
      house.begin(base);
      expect(await house.settle(base)).toBe('ConfigurationLoaded');
      house.events.length = 0;
      return house;
    }

    test('are changed without a restart', async () => {
      const house = await withFolder();
      const changed = { ...files, 'lamps/hall.yaml': 'second:\n' };
      expect(await house.settle(house.desired(TEXT, 'auto', changed))).toBe('ConfigurationLoaded');
      expect(house.events).toContain('reload input_boolean');
      expect(house.events).not.toContain('restart');
    });

    test.each<[string, Files, string]>([
      ['that are new', { ...files, 'lamps/new.yaml': '' }, 'lamps/new.yaml (new)'],
      ['that are gone', fewer, 'lamps/attic.yaml (gone)'],
      ['of which none is left', {}, 'lamps/hall.yaml (gone), lamps/attic.yaml (gone)'],
    ])('%s restart the hub under auto, and wait under hot-reload', async (__, given, named) => {
      const house = await withFolder();
      const text = Object.keys(given).length === 0 ? BASE : TEXT;
      const outcome = await house.reconcile(house.desired(text, 'hot-reload', given), 5);
      expect(outcome).toMatchObject({
        reason: 'RestartPending',
        message: expect.stringContaining(`hot-reload: ${named}.`),
      });
      expect(house.text).toContain('lamps');
      expect(house.events).not.toContain('restart');
      expect(await house.settle(house.desired(text, 'auto', given))).toBe('ConfigurationLoaded');
      expect(house.events.filter((event) => event === 'restart')).toHaveLength(1);
      expect(house.events).not.toContain('reload input_boolean');
    });
  });

  describe('a reload that fails', () => {
    test('is followed under auto by a restart, which loads the section', async () => {
      const house = await started();
      house.configuration.cannotReload = true;
      expect(await house.settle(house.desired(HOT))).toBe('ConfigurationLoaded');
      expect(house.events.filter((event) => event === 'reload input_boolean')).toHaveLength(3);
      expect(house.events.filter((event) => event === 'restart')).toHaveLength(1);
      expect(house.configuration.loaded.get('input_boolean')).toContain('second');
    });

    test('is reported under hot-reload, and tried again after 8 minutes', async () => {
      const house = await started();
      house.configuration.cannotReload = true;
      const operator = house.operator();
      const desired = house.desired(HOT, 'hot-reload');
      expect(await house.reconcile(desired, 20, operator)).toMatchObject({
        type: 'Stalled',
        reason: 'ReloadFailed',
        message: expect.stringContaining('input_boolean.reload failed'),
        status: { changedSections: ['input_boolean'] },
      });
      expect(await house.reconcile(desired, 60, operator)).toMatchObject({ reason: 'ReloadFailed' });
      expect(house.events.filter((event) => event === 'reload input_boolean')).toHaveLength(3);
      house.configuration.cannotReload = false;
      await house.reconcile(desired, 8 * 60, operator);
      expect(await house.settle(desired, operator)).toBe('ConfigurationLoaded');
      expect(house.events).not.toContain('restart');
    });
  });

  const NEW_FILE = 'input_boolean: !include switches.yaml\n';
  test.each<[string, string, ReloadStrategy, Files, string]>([
    ['all is loaded', HOT, 'auto', {}, 'ConfigurationLoaded'],
    ['a change is rejected', BROKEN, 'auto', {}, 'CheckFailed'],
    ['a section waits for a restart', RESTART, 'hot-reload', {}, 'RestartPending'],
    ['a new file waits', NEW_FILE, 'hot-reload', { 'switches.yaml': 'second:\n' }, 'RestartPending'],
  ])('while %s, nothing is written for hours', async (_, text, strategy, files, reason) => {
    const house = await started();
    const operator = house.operator();
    const desired = house.desired(text, strategy, files);
    expect(await house.settle(desired, operator)).toBe(reason);
    house.events.length = 0;
    for (let resync = 0; resync < 30; resync++) {
      await house.clock.advance(10 * 60_000);
      expect(await house.settle(desired, operator)).toBe(reason);
    }
    expect(house.events).toEqual([]);
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
      const house = await started();
      const before = house.text;
      house.hub.operators.killAfter(step);
      const desired = house.desired(text, strategy);
      expect(await house.settle(desired)).toBe(reason);
      if (reason === 'CheckFailed') {
        expect(house.text).toBe(before);
        expect(house.events).not.toContain('restart');
      } else expect(house.text).toBe(desired.content.files['configuration.yaml']);
      if (text === HOT) expect(house.configuration.loaded.get('input_boolean')).toContain('second');
      if (text === RESTART && strategy === 'auto')
        expect(house.configuration.loaded.get('counter')).toContain('visits');
      if (strategy === 'hot-reload') expect(house.events).not.toContain('restart');
      expect(house.events.filter((event) => event === 'restart').length).toBeLessThanOrEqual(1);
    },
  );
});
