import { Terminal } from '../../../../cli/terminal';
import type { Case, Fault } from '../../../../cli/test/protocol';
import { coverageOf } from '../../../../cli/test/report/coverage';
import { junitReport } from '../../../../cli/test/report/junit';
import {
  caseLines,
  coverageLines,
  heading,
  notes,
  refusedLine,
  summary,
} from '../../../../cli/test/report/text';
import { timelineOf } from '../../../../cli/test/report/timeline';
import { localTimeOf, momentOf, spanOf } from '../../../../cli/test/report/times';
import { callOf, dataOf } from '../../../../cli/test/report/words';
import type { CaseResult, TimelineEvent } from '../../../../cli/test/result';
import { type Manifest, readManifests } from '../../../../operator/offline/manifests';
import fc from '../../../fast-check';

const test1: Case = {
  name: 'the hall goes dark',
  line: 4,
  start: '2026-11-02T19:00:00',
  given: {},
  mock: {},
  echo: true,
  allowWarnings: [],
  steps: [],
};

const caseResult = (more: Partial<CaseResult> = {}): CaseResult => ({
  file: 'tests/hall.hubtest.yaml',
  test: test1,
  virtualSeconds: 840,
  realSeconds: 0.0312,
  faults: [],
  warnings: [],
  withoutState: [],
  events: [],
  ...more,
});

const seen = {
  at: '2026-11-02T19:09:00.000+01:00',
  action: 'light.turn_off',
  entities: ['light.hall'],
  data: { entity_id: ['light.hall'], transition: 2 },
  by: 'automation.hall_off',
};

const fault: Fault = {
  kind: 'unexpected-call',
  step: 2,
  line: 31,
  at: '2026-11-02T19:14:00.000+01:00',
  message: 'The call light.turn_off was made, and none is expected.',
  expected: { action: 'light.turn_off', entity: ['light.hall'] },
  seen: [seen, { ...seen, at: '2026-11-02T19:10:00.000+01:00', by: null }],
  by: 'automation.hall_off',
};

const plain = new Terminal({
  stdout: { write: () => undefined },
  stderr: { write: () => undefined },
  env: {},
});
const paint = plain.paint.bind(plain);
const linesOf = (result: CaseResult, timeline = false) => caseLines(result, { paint, timeline });

describe('the line of a case', () => {
  test('has the duration in the home and on this machine', () => {
    expect(linesOf(caseResult())).toEqual(['  ok    the hall goes dark  14 min in 0.03 s']);
  });

  test('is followed by the failure, its time, its place, its automation, and the nearest calls', () => {
    expect(linesOf(caseResult({ faults: [fault] }))).toEqual([
      '  FAIL  the hall goes dark  14 min in 0.03 s',
      '        Mon 2 Nov 19:14:00  The call light.turn_off was made, and none is expected. (by automation.hall_off)  tests/hall.hubtest.yaml:31',
      '          seen  Mon 2 Nov 19:09:00  light.turn_off light.hall {transition: 2} by automation.hall_off',
      '                Mon 2 Nov 19:10:00  light.turn_off light.hall {transition: 2}',
    ]);
  });

  test('says that no call was made, where one is missing', () => {
    const missing: Fault = {
      kind: 'missing-call',
      at: seen.at,
      line: 5,
      message: 'Missing call: a.b.',
      seen: [],
    };
    expect(linesOf(caseResult({ faults: [missing] })).slice(1)).toEqual([
      '        Mon 2 Nov 19:09:00  Missing call: a.b.  tests/hall.hubtest.yaml:5',
      '          seen  no call',
    ]);
  });

  test('lists allowed warnings once, and none that failed the case', () => {
    const log: Fault = { kind: 'log', at: seen.at, message: 'The hub logged: Unknown entity light.x' };
    expect(
      linesOf(caseResult({ warnings: ['old', 'old', 'Unknown entity light.x'], faults: [log] })),
    ).toEqual([
      expect.stringContaining('FAIL'),
      '        Mon 2 Nov 19:09:00  The hub logged: Unknown entity light.x',
      '        warning  old',
    ]);
  });

  test('cannot change the terminal', () => {
    const text = '\u001b[2J\u009b1m\nx';
    const given = caseResult({
      test: { ...test1, name: text },
      faults: [
        {
          ...fault,
          message: text,
          seen: [{ ...seen, action: text, entities: [text], data: { [text]: text } }],
        },
      ],
      warnings: [text],
      events: [{ type: 'change', file: 0, case: 0, at: seen.at, entity: text, from: text, to: text }],
    });
    for (const line of linesOf(given, true)) expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });
});

describe('the timeline', () => {
  const events: readonly TimelineEvent[] = [
    {
      type: 'change',
      file: 0,
      case: 0,
      at: '2026-11-02T23:59:59.500+01:00',
      entity: 'input_boolean.film',
      from: 'off',
      to: 'on',
    },
    { type: 'call', file: 0, case: 0, ...seen, at: '2026-11-03T00:00:00.010+01:00' },
    {
      type: 'call',
      file: 0,
      case: 0,
      ...seen,
      by: null,
      entities: [],
      data: {},
      at: '2026-11-03T00:00:01+01:00',
    },
    {
      type: 'change',
      file: 0,
      case: 0,
      at: '2026-11-03T00:00:02+01:00',
      entity: 'light.hall',
      from: 'on',
      to: 'on',
      attributes: { brightness: 128 },
    },
    {
      type: 'change',
      file: 0,
      case: 0,
      at: '2026-11-03T00:00:03+01:00',
      entity: 'light.new',
      from: null,
      to: 'on',
    },
    {
      type: 'change',
      file: 0,
      case: 0,
      at: '2026-11-03T00:00:04+01:00',
      entity: 'light.new',
      from: 'on',
      to: null,
    },
  ];

  test('has the local times under a heading for each day, with the author of each call', () => {
    expect(timelineOf({ events, test: test1 })).toEqual([
      'echo: on',
      'Mon 2 Nov 2026',
      '  23:59:59  input_boolean.film  off → on',
      'Tue 3 Nov 2026',
      '  00:00:00  automation.hall_off calls light.turn_off light.hall {transition: 2}',
      '  00:00:01  the test calls light.turn_off',
      '  00:00:02  light.hall          on  {brightness: 128}',
      '  00:00:03  light.new           (new) → on',
      '  00:00:04  light.new           on → (removed)',
    ]);
  });

  test('says whether given entities follow calls, and when nothing happened', () => {
    expect(timelineOf({ events: [], test: test1 })).toEqual(['echo: on', 'nothing happened']);
    expect(timelineOf({ events: events.slice(0, 1), test: { ...test1, echo: false } })[0]).toBe('echo: off');
  });
});

describe('times', () => {
  test('are printed with their own offset, in every time zone of the machine', () => {
    expect(localTimeOf('2026-03-29T01:59:59.999+01:00')).toEqual({
      day: 'Sun 29 Mar 2026',
      clock: '01:59:59',
    });
    expect(momentOf('2026-12-31T23:00:00-08:00')).toBe('Thu 31 Dec 23:00:00');
    expect(momentOf('unknown')).toBe('unknown');
  });

  test.each([
    [0, '0 s'],
    [0.042, '0.04 s'],
    [1.26, '1.3 s'],
    [59, '59 s'],
    [60, '1 min'],
    [3_725, '1 h 2 min'],
    [90_000, '1 d 1 h'],
    [86_400, '1 d'],
  ])('%d s is a span of %s', (seconds, text) => {
    expect(spanOf(seconds)).toBe(text);
  });
});

describe('words', () => {
  test('data is YAML on one line, truncated where it is long', () => {
    expect(dataOf({ a: 'on', b: 1, c: ['x', null], d: '5', e: 'true', f: { g: 'h: i' } })).toBe(
      '{a: on, b: 1, c: [x, null], d: "5", e: "true", f: {g: "h: i"}}',
    );
    expect(dataOf('x'.repeat(500))).toHaveLength(160);
  });

  test('a call has its target once', () => {
    expect(callOf({ action: 'a.b', entities: ['c.d'], data: { entity_id: 'c.d' } })).toBe('a.b c.d');
  });
});

describe('coverage', () => {
  const [manifest] = readManifests(
    'home/hall.yaml',
    'kind: HubAutomation\nspec:\n  triggers:\n  - trigger: time\n  - trigger: sun\n  conditions:\n  - condition: state\n' +
      '  actions:\n  - choose:\n    - conditions: []\n      sequence:\n      - action: a.b\n  - if:\n    - condition: state\n    then: {action: c.d}\n',
  );
  const definitions = new Map([['automation.hall', manifest as Manifest]]);
  const total = [
    'trigger/0',
    'trigger/1',
    'condition/0=true',
    'condition/0=false',
    'action/0/choose/0/sequence/0',
    'action/1/if/condition/0=true',
    'action/1/then/0',
  ];
  const item = {
    entity: 'automation.hall_light',
    id: 'hall',
    total,
    hit: ['trigger/0', 'condition/0=true', 'other'],
  };

  test('names the paths that never ran by their fields, with the line in the file', () => {
    expect(coverageOf([item], definitions)).toEqual({
      hit: 2,
      total: 7,
      percent: 28,
      items: [
        {
          entity: 'automation.hall_light',
          hit: 2,
          total: 7,
          never: [
            { what: 'triggers[1] never fired', place: 'home/hall.yaml:5' },
            { what: 'conditions[0] was never false', place: 'home/hall.yaml:7' },
            { what: 'actions[0].choose[0].sequence[0] never ran', place: 'home/hall.yaml:12' },
            { what: 'actions[1].if[0] was never true', place: 'home/hall.yaml:14' },
            { what: 'actions[1].then[0] never ran', place: 'home/hall.yaml:15' },
          ],
        },
      ],
    });
  });

  test('is a table with one line for each path', () => {
    const script = { entity: 'script.x', id: 'y', total: ['sequence/0'], hit: ['sequence/0'] };
    expect(coverageLines(coverageOf([{ ...item, total: total.slice(0, 2) }, script], definitions))).toEqual([
      '   50 %  automation.hall_light  1/2',
      '           triggers[1] never fired  home/hall.yaml:5',
      '  100 %  script.x               1/1',
      'coverage: 2 of 3 paths (66 %)',
    ]);
  });

  test('of nothing is complete, and says so', () => {
    expect(coverageOf([], definitions).percent).toBe(100);
    expect(coverageLines(coverageOf([], definitions))).toEqual([
      'coverage: there is no automation or script',
    ]);
  });
});

describe('the notes', () => {
  test('list entities without a state once, and what is not simulated', () => {
    const none = { unsimulated: [], silentTriggers: [] };
    const cases = [caseResult({ withoutState: ['b.b', 'a.a'] }), caseResult({ withoutState: ['b.b'] })];
    const silent = [{ trigger: 'webhook', entity: 'automation.a\u001b' }];
    expect(notes({ cases, unsimulated: ['mqtt'], silentTriggers: silent })).toEqual([
      'warning: 2 entities that the home names have no state: a.a, b.b. Give them one in given.',
      'warning: Nothing fires these triggers here: webhook of automation.a. A test starts the automation by call: {action: automation.trigger, …}.',
      'Not simulated, their calls are recorded: mqtt.',
    ]);
    expect(notes({ cases: [caseResult()], ...none })).toEqual([]);
    const many = caseResult({ withoutState: Array.from({ length: 25 }, (_, index) => `a.${index}`) });
    expect(notes({ cases: [many], ...none })[0]).toContain(' and 5 more.');
  });

  test('sum up', () => {
    expect(summary([caseResult(), caseResult({ faults: [fault] })], 5.04)).toBe(
      '1 passed, 1 failed: 28 min of the home in 5 s',
    );
    expect(
      heading({
        version: '2026.11.0',
        hub: 'home/villa',
        place: 'UTC',
        automations: 1,
        scripts: 2,
        scenes: 0,
      }),
    ).toBe('Home Assistant 2026.11.0, Hub home/villa (UTC): 1 automation, 2 scripts, 0 scenes');
    expect(refusedLine({ entity: 'automation.x', name: 'X', message: 'Unknown\ndevice' }, 'a.yaml:3')).toBe(
      'a.yaml:3: error: the hub does not load automation.x: Unknown device',
    );
  });
});

describe('the report for CI', () => {
  const events: readonly TimelineEvent[] = [{ type: 'call', file: 0, case: 0, ...seen }];

  test('has a test case for each case, whose failure is the first fault and whose output is the timeline', () => {
    const report = junitReport({
      refused: [],
      ...{ unsimulated: [], silentTriggers: [] },
      coverage: [],
      cases: [
        caseResult({ faults: [fault, { ...fault, message: 'second' }], events }),
        caseResult({ file: 'b', warnings: ['old'] }),
      ],
    });
    expect(report).toBe(
      [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<testsuites name="hub test" tests="2" failures="1" errors="0" time="0.062">',
        '  <testsuite name="tests/hall.hubtest.yaml" tests="1" failures="1" errors="0" time="0.031">',
        '    <testcase classname="tests/hall.hubtest.yaml" name="the hall goes dark" file="tests/hall.hubtest.yaml" line="4" time="0.031">',
        '      <failure message="The call light.turn_off was made, and none is expected." type="unexpected-call">' +
          'Mon 2 Nov 19:14:00  The call light.turn_off was made, and none is expected. (by automation.hall_off)  tests/hall.hubtest.yaml:31',
        '  seen  Mon 2 Nov 19:09:00  light.turn_off light.hall {transition: 2} by automation.hall_off',
        '        Mon 2 Nov 19:10:00  light.turn_off light.hall {transition: 2}',
        'Mon 2 Nov 19:14:00  second (by automation.hall_off)  tests/hall.hubtest.yaml:31',
        '  seen  Mon 2 Nov 19:09:00  light.turn_off light.hall {transition: 2} by automation.hall_off',
        '        Mon 2 Nov 19:10:00  light.turn_off light.hall {transition: 2}</failure>',
        '      <system-out>echo: on',
        'Mon 2 Nov 2026',
        '  19:09:00  automation.hall_off calls light.turn_off light.hall {transition: 2}</system-out>',
        '    </testcase>',
        '  </testsuite>',
        '  <testsuite name="b" tests="1" failures="0" errors="0" time="0.031">',
        '    <testcase classname="b" name="the hall goes dark" file="b" line="4" time="0.031">',
        '      <system-out>echo: on',
        'nothing happened</system-out>',
        '      <system-err>old</system-err>',
        '    </testcase>',
        '  </testsuite>',
        '</testsuites>',
        '',
      ].join('\n'),
    );
  });

  test('has an error for each definition that the hub does not load', () => {
    const refused = [{ entity: 'automation.x', name: 'x', message: 'Unknown <device>' }];
    const report = junitReport({ refused, unsimulated: [], silentTriggers: [], coverage: [], cases: [] });
    expect(report).toContain('<testsuites name="hub test" tests="1" failures="0" errors="1" time="0.000">');
    expect(report).toContain('name="automation.x"><error message="Unknown &lt;device&gt;"/></testcase>');
  });

  test('has no character that XML forbids, and no markup of a text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const report = junitReport({
          refused: [{ entity: text, name: text, message: text }],
          ...{ unsimulated: [], silentTriggers: [] },
          coverage: [],
          cases: [
            caseResult({
              file: text,
              test: { ...test1, name: text },
              faults: [{ ...fault, message: text }],
              warnings: [text],
            }),
          ],
        });
        expect(report).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\r/);
        expect(report).not.toMatch(/\p{Cs}/u);
        expect(report.replace(/&(amp|lt|gt|quot|#\d+);/g, '')).not.toContain('&');
        expect(report.match(/</g)!.length).toBe(report.match(/>/g)!.length);
      }),
    );
  });
});
