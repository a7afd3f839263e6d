import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../../../../sandbox/image/bundle';
import type { SeenCall } from '../../../../../cli/test/protocol';
import { recordLines, type RecordReport } from '../../../../../cli/test/record/report';
import { type ChangedCall, compareCalls } from '../../../../../cli/test/record/compare-calls';

const call = (side: 'after' | 'before', minute: number): ChangedCall => ({
  side,
  at: `2026-11-11T11:${String(minute).padStart(2, '0')}:28.000+01:00`,
  by: 'automation.hall_off',
  action: 'light.turn_off',
  entities: ['light.hall'],
  data: { transition: 2 },
});

const report = (parts: Partial<RecordReport> = {}): RecordReport => ({
  hub: {
    name: 'villa',
    namespace: 'home',
    timezone: 'Europe/Berlin',
    version: '2026.11.0',
    simulated: '2026.11.0',
  },
  period: {
    from: '2026-11-07T03:10:00.000+01:00',
    to: '2026-11-14T03:10:00.000+01:00',
    seconds: 7 * 86_400,
  },
  history: { changes: 5_079, entities: ['light.a', 'light.b'], without: [], unknown: [], openLoop: true },
  calls: { before: 742, after: 789 },
  differences: [],
  changed: [],
  removed: [],
  refused: { before: [], after: [] },
  notCompared: [],
  unsimulated: [],
  silentTriggers: [],
  warnings: [],
  ...parts,
});
const lines = (parts: Partial<RecordReport> = {}) => recordLines(report(parts), (_, text) => text);

describe('the report', () => {
  test('without a difference', () => {
    expect(lines()).toEqual([
      'Home Assistant 2026.11.0, Hub home/villa (Europe/Berlin): 7 d from Sat 7 Nov 03:10:00 to Sat 14 Nov 03:10:00',
      '5079 changes of 2 entities played: 742 calls as the hub is now, 789 with these files.',
      'Open loop: lights and all else are what they were, also where a call would have changed them.',
      'No call differs.',
    ]);
  });

  test('of differences has their sums, and the first lines', () => {
    const target = { by: 'automation.hall_off', action: 'light.turn_off', entities: ['light.hall'] };
    const differences = [
      { ...target, before: 343, after: 390, anotherTime: 12, otherData: 3 },
      { ...target, by: null, entities: [], before: 2, after: 0, anotherTime: 0, otherData: 0 },
      { ...target, before: 5, after: 5, anotherTime: 1, otherData: 0 },
    ];
    const changed = Array.from({ length: 14 }, (_, minute) => call(minute % 2 ? 'after' : 'before', minute));
    const shown = lines({ differences, changed }).slice(3);
    expect(shown.slice(0, 6)).toEqual([
      'automation, action, target: calls now -> with these files',
      '  automation.hall_off, light.turn_off, light.hall: 343 -> 390 (+47), 12 at another time, 3 with other data',
      '  (unknown), light.turn_off: 2 -> 0 (-2)',
      '  automation.hall_off, light.turn_off, light.hall: 5 -> 5, 1 at another time',
      'the first of them, - as the hub is now, + with these files:',
      '  - Wed 11 Nov 11:00:28  light.turn_off light.hall {transition: 2} by automation.hall_off',
    ]);
    expect(shown[6]).toMatch(/^ {2}\+ Wed 11 Nov 11:01:28 /);
    expect(shown.at(-1)).toBe('  2 more: -o json has all of them');
    expect(shown).toHaveLength(5 + 12 + 1);
  });

  test('lists the parts that are not compared, and the warnings of the files', () => {
    const refused = (entity: string) => ({ entity, name: entity, message: 'Unknown device' });
    const shown = lines({
      removed: ['automation.a'],
      history: {
        changes: 1,
        entities: ['light.a'],
        without: ['light.c'],
        unknown: ['light.hal'],
        openLoop: true,
      },
      refused: {
        before: [refused('automation.old')],
        after: [refused('automation.old'), refused('automation.new')],
      },
      notCompared: [{ object: 'automation.yaml', reason: 'It is in a package.' }],
      unsimulated: ['notify', 'rest_command'],
      silentTriggers: [{ trigger: 'webhook', entity: 'automation.a' }],
      warnings: ['ERROR x\ny'],
      hub: { ...report().hub, version: '2026.10.1\u001b[2J' },
    });
    expect(shown.slice(1)).toEqual([
      '1 change of 1 entity played: 742 calls as the hub is now, 789 with these files.',
      expect.stringContaining('Open loop') as unknown,
      'warning: The hub runs 2026.10.1 [2J, and both sides are simulated with 2026.11.0.',
      'warning: Named by these files and not in the hub: light.hal.',
      'In the cluster and not in these files, counted as deleted: automation.a.',
      'Not played, left out or without a state in the recorder: light.c.',
      'Not loaded by the simulation as the hub is now: automation.old.',
      'Triggers that the history does not fire: webhook of automation.a.',
      'Not simulated, their calls are recorded: notify, rest_command.',
      'Not compared, since the API of the hub does not show them: automation.yaml.',
      'warning: only with these files: ERROR x y',
      'No call differs.',
      'error: the hub does not load automation.new: Unknown device',
    ]);
  });

  test('names each fault that only the configuration of the files has', () => {
    const fault = (message: string) => ({ entity: 'configuration', name: 'configuration.yaml', message });
    const shown = lines({ refused: { before: [fault('old')], after: [fault('old'), fault('new')] } });
    expect(shown.filter((each) => each.startsWith('error'))).toEqual([
      'error: the hub does not load configuration: new',
    ]);
  });

  test('has no control characters, and not more names than a line takes', () => {
    const removed = Array.from({ length: 30 }, (_, index) => `automation.a${index}\u001b[31m`);
    const line = lines({ removed })[3]!;
    expect(line).toMatch(/automation\.a9 \[31m and 20 more\.$/);
  });

  test('has the form of the example in the documentation', () => {
    const page = readFileSync(join(repository, 'docs/how-to/what-would-have-changed.md'), 'utf8');
    const [, example] = /```console\n\$ kubectl hub test home --record 7d\n(.*?)\n```/s.exec(page) ?? [];
    const seen = (at: string): SeenCall => ({
      ...{ at, by: 'automation.hall_off', action: 'light.turn_off', entities: ['light.hall'], data: {} },
    });
    const before = ['2026-11-23T11:22:28.000+01:00'].map(seen);
    const after = ['2026-11-23T11:19:28.000+01:00', '2026-11-25T19:40:02.000+01:00'].map(seen);
    const { differences, changed } = compareCalls(before, after);
    const shown = lines({
      hub: { ...report().hub, name: 'my-home' },
      period: {
        from: '2026-11-21T03:10:00.000+01:00',
        to: '2026-11-28T03:10:00.000+01:00',
        seconds: 7 * 86_400,
      },
      history: {
        ...report().history,
        entities: ['a', 'b', 'c', 'd', 'e', 'f'].map((each) => `sensor.${each}`),
      },
      calls: { before: 742, after: 743 },
      // 342 calls are equal on both sides.
      differences: differences.map((each) => ({
        ...each,
        before: each.before + 342,
        after: each.after + 342,
      })),
      changed,
    });
    expect(shown.join('\n')).toBe(example);
  });
});
