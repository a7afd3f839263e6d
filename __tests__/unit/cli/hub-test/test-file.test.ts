import { unbounded } from '../../../../operator/base/bounded-task';
import { checkTestText } from '../../../../cli/test/file/test-file';
import type { Case, Expect, Step } from '../../../../cli/test/protocol';

/** Returns the findings of a text as `line: field: message`. */
async function findingsIn(text: string): Promise<string[]> {
  const checked = await checkTestText('a.hubtest.yaml', text, unbounded);
  if ('file' in checked) return [];
  return checked.findings.map(
    ({ line, field, message }) => `${line}: ${field === undefined ? '' : `${field}: `}${message}`,
  );
}

async function casesIn(text: string): Promise<readonly Case[]> {
  const checked = await checkTestText('a.hubtest.yaml', text, unbounded);
  if ('findings' in checked) throw new Error(JSON.stringify(checked.findings));
  return checked.file.cases;
}

/** Returns a file with one case that has these steps, from line 5 on. */
const withSteps = (...steps: readonly string[]) =>
  [
    'hubtest: v1',
    'tests:',
    '- name: a',
    '  steps:',
    ...steps.map((each) => `  - ${each}`),
    '  - expect: {only: true}',
    '',
  ].join('\n');

/** Returns the first step of a case. */
const firstStep = async (step: string): Promise<Step> => (await casesIn(withSteps(step)))[0]!.steps[0]!;

async function expected(text: string): Promise<Expect> {
  const step = await firstStep(`expect: ${text}`);
  if (!('expect' in step)) throw new Error('this is no expectation');
  return step.expect;
}

const whole = `# yaml-language-server: $schema=hubtest.json
hubtest: v1
hub: {timezone: Europe/Berlin, latitude: 52.52, longitude: 13.4, elevation: 34}
start: 2026-11-02T18:00
given:
  light.hall: off
  sensor.outside: 21.50
  climate.flat: {state: heat, attributes: {temperature: 21}, area: Flat, labels: [Heating]}
mock:
  weather.get_forecasts: {response: {forecast: []}, takes: 2s}
  notify.phone: {raises: no phone}
echo: false
secrets: {url: https://example.org, pin: 0042}
allowWarnings: [deprecated]
tests:
- name: first
  start: 2026-03-29 01:30:30
  given: {light.hall: on}
  mock: {notify.phone: {takes: 1}}
  allowWarnings: ['(?i)old']
  steps:
  - set: {sensor.outside: 007, light.hall: {state: on, attributes: {brightness: 128}}}
  - fire: {event_type: gong, event_data: {count: 1}}
  - call: {action: light.turn_on, target: {entity_id: light.hall}, data: {brightness: 128}}
  - advance: 1h30m
  - at: sunset - 30m
  - restart: {down: 1m}
  - restart:
  - expect:
      calls:
      - light.turn_on
      - {action: notify.phone, entity: [light.hall, light.bed], data: {message: /open/, count: 3, text: '3', to: [a, null], deep: {x: true}}, times: 2, by: automation.gong}
      only: true
      none: [light.turn_off]
      states: {sensor.outside: 21.5, light.hall: 'on', cover.left: {state: /op/, attributes: {position: 50}}}
      within: 00:05:00
- name: second
  steps: [expect: {none: [light.turn_on]}]
`;

describe('a test file', () => {
  test('is compiled into the cases of the Python program', async () => {
    const checked = await checkTestText('a.hubtest.yaml', whole, unbounded);
    expect(checked).toEqual({
      file: {
        path: 'a.hubtest.yaml',
        hub: { timezone: 'Europe/Berlin', latitude: 52.52, longitude: 13.4, elevation: 34 },
        secrets: { url: 'https://example.org', pin: '0042' },
        cases: [
          {
            name: 'first',
            line: 16,
            start: '2026-03-29T01:30:30',
            given: {
              'light.hall': { state: 'on' },
              'sensor.outside': { state: '21.50' },
              'climate.flat': {
                state: 'heat',
                attributes: { temperature: 21 },
                area: 'Flat',
                labels: ['Heating'],
              },
            },
            mock: {
              'weather.get_forecasts': { response: { forecast: [] }, takes: 2 },
              'notify.phone': { takes: 1 },
            },
            echo: false,
            allowWarnings: ['deprecated', '(?i)old'],
            steps: [
              {
                line: 22,
                set: {
                  'sensor.outside': { state: '007' },
                  'light.hall': { state: 'on', attributes: { brightness: 128 } },
                },
              },
              { line: 23, fire: { event_type: 'gong', event_data: { count: 1 } } },
              {
                line: 24,
                call: {
                  action: 'light.turn_on',
                  target: { entity_id: 'light.hall' },
                  data: { brightness: 128 },
                },
              },
              { line: 25, advance: 5_400 },
              { line: 26, at: { sun: 'sunset', offset: -1_800 } },
              { line: 27, restart: { down: 60 } },
              { line: 28, restart: { down: 30 } },
              {
                line: 29,
                expect: {
                  calls: [
                    { action: 'light.turn_on' },
                    {
                      action: 'notify.phone',
                      entity: ['light.hall', 'light.bed'],
                      data: {
                        message: { regex: 'open' },
                        count: { number: 3 },
                        text: { text: '3' },
                        to: { list: [{ text: 'a' }, { exact: null }] },
                        deep: { object: { x: { exact: true } } },
                      },
                      times: 2,
                      by: 'automation.gong',
                    },
                  ],
                  only: true,
                  none: [{ action: 'light.turn_off' }],
                  states: {
                    'sensor.outside': { number: 21.5 },
                    'light.hall': { text: 'on' },
                    'cover.left': { state: { regex: 'op' }, attributes: { position: { number: 50 } } },
                  },
                  within: 300,
                },
              },
            ],
          },
          {
            name: 'second',
            line: 37,
            start: '2026-11-02T18:00:00',
            given: {
              'light.hall': { state: 'off' },
              'sensor.outside': { state: '21.50' },
              'climate.flat': {
                state: 'heat',
                attributes: { temperature: 21 },
                area: 'Flat',
                labels: ['Heating'],
              },
            },
            mock: {
              'weather.get_forecasts': { response: { forecast: [] }, takes: 2 },
              'notify.phone': { raises: 'no phone' },
            },
            echo: false,
            allowWarnings: ['deprecated'],
            steps: [
              {
                line: 38,
                expect: {
                  calls: [],
                  only: false,
                  none: [{ action: 'light.turn_on' }],
                  states: {},
                  within: 0,
                },
              },
            ],
          },
        ],
      },
    });
  });

  test('has defaults: a day in January, echo, no given states', async () => {
    expect((await casesIn(withSteps('advance: 1')))[0]).toMatchObject({
      start: '2026-01-15T12:00:00',
      given: {},
      mock: {},
      echo: true,
      allowWarnings: [],
    });
  });

  test('is YAML 1.2: on, off, yes and no are words, and a time of day is a text', async () => {
    expect(await firstStep('set: {a.a: on, a.b: off, a.c: yes, a.d: NO, a.e: 23:00}')).toMatchObject({
      set: {
        'a.a': { state: 'on' },
        'a.b': { state: 'off' },
        'a.c': { state: 'yes' },
        'a.d': { state: 'NO' },
        'a.e': { state: '23:00' },
      },
    });
  });

  test.each([
    ['21.50', '21.50'],
    ['0x1F', '0x1F'],
    ['1e3', '1e3'],
    ['12345678901234567890', '12345678901234567890'],
    ["'5'", '5'],
    ['{state: 1.0}', '1.0'],
  ])('a state %s keeps its characters', async (given, state) => {
    expect(await firstStep(`set: {sensor.a: ${given}}`)).toMatchObject({ set: { 'sensor.a': { state } } });
  });

  test('an alias stands for its anchor, with the characters of its numbers', async () => {
    const text = withSteps('set: &a {sensor.a: 1.50}', 'set: *a', 'advance: 1');
    const [{ steps } = { steps: [] }] = await casesIn(text);
    expect(steps[1]).toEqual({ line: 6, set: { 'sensor.a': { state: '1.50' } } });
  });

  test.each([
    ['90', 90],
    ['0.5', 0.5],
    ["'90'", 90],
    ['5m', 300],
    ['1h30m', 5_400],
    ['1h 30m', 5_400],
    ['1.5h', 5_400],
    ['500ms', 0.5],
    ['2d', 172_800],
    ['00:05:00', 300],
    ['100:00:00', 360_000],
  ])('advance: %s is %d seconds', async (given, seconds) => {
    expect(await firstStep(`advance: ${given}`)).toMatchObject({ advance: seconds });
  });

  test.each([
    ['23:00', { clock: '23:00:00' }],
    ["'7:05'", { clock: '07:05:00' }],
    ['23:00:30', { clock: '23:00:30' }],
    ['noon', { clock: '12:00:00' }],
    ['midnight', { clock: '00:00:00' }],
    ['sunrise', { sun: 'sunrise', offset: 0 }],
    ['dusk + 1h30m', { sun: 'dusk', offset: 5_400 }],
    ['sunset-00:30:00', { sun: 'sunset', offset: -1_800 }],
    ['2026-11-03T07:00', { local: '2026-11-03T07:00:00' }],
    ['2026-11-03 07:00:05', { local: '2026-11-03T07:00:05' }],
  ])('at: %s is a moment', async (given, at) => {
    expect(await firstStep(`at: ${given}`)).toMatchObject({ at });
  });

  test('a number without quotes is expected as a number, with quotes as text', async () => {
    expect(await expected(`{states: {a.a: 20, a.b: '20.0', a.c: /2.*/, a.d: '/'}}`)).toMatchObject({
      states: {
        'a.a': { number: 20 },
        'a.b': { text: '20.0' },
        'a.c': { regex: '2.*' },
        'a.d': { text: '/' },
      },
    });
  });

  test('within may be 0, and is 0 by default', async () => {
    expect(await expected('{only: true, within: 0}')).toMatchObject({ within: 0 });
    expect(await expected('{only: true, within: 0s}')).toMatchObject({ within: 0 });
    expect(await expected('{only: true}')).toMatchObject({ within: 0 });
  });

  test.each(['(?i)on', '(?P<a>x)(?P=a)', 'a++', '(?>a)', '\\Aa\\Z'])(
    'the regular expression %s is left to Python, which supports it',
    async (regex) => {
      expect(await expected(`{states: {a.a: '/${regex}/'}}`)).toMatchObject({ states: { 'a.a': { regex } } });
    },
  );
});

const inCase = (...lines: readonly string[]) =>
  ['hubtest: v1', 'tests:', '- name: a', ...lines.map((each) => `  ${each}`), ''].join('\n');
const expecting = (text: string) => inCase('steps:', `- expect: ${text}`);

/** Faults by the sentence of the rule, each in a text with exactly one finding. */
const faults: readonly (readonly [rule: string, text: string, finding: string | RegExp])[] = [
  ['an empty file', '', /^1: The file is empty: begin it with hubtest: v1/],
  ['a file of comments', '# none\n', /^1: The file is empty/],
  ['a list', '- a\n', '1: The file is a list: begin it with hubtest: v1, and list the cases in tests.'],
  [
    'a file without a version',
    'tests: []\n',
    '1: hubtest: is required: write hubtest: v1 as the first line.',
  ],
  ['another version', 'hubtest: v2\n', '1: hubtest: "v2" is not supported by this version: write v1.'],
  [
    'a number as version',
    'tests: []\nhubtest: 1\n',
    '2: hubtest: 1 is not supported by this version: write v1.',
  ],
  ['two documents', 'hubtest: v1\n---\nhubtest: v1\n', /^2: A second document begins here/],
  ['a tab', 'hubtest: v1\ntests:\n\t- name: a\n', /^3: This is not YAML: a tab is used/],
  ['a key that occurs twice', 'hubtest: v1\nhubtest: v1\n', /^2: This is not YAML: a key occurs twice/],
  ['a tag', 'hubtest: v1\nsecrets: {a: !secret b}\n', /^2: A value has a tag/],
  ['an alias without an anchor', 'hubtest: v1\ntests: *a\n', /^1: This is not YAML: an alias has no anchor/],
  ['a bracket that is not closed', 'hubtest: v1\ntests: [\n', /This is not YAML/],
  ['no case', 'hubtest: v1\ntests: []\n', '2: tests: is empty: add a case.'],
  ['no field tests', 'hubtest: v1\n', '1: tests: is required: add it.'],
  [
    'an unknown key',
    'hubtest: v1\nfoo: 1\ntests: [{name: a, steps: [expect: {only: true}]}]\n',
    /^2: foo: There is no such field here: use hubtest, hub,/,
  ],
  [
    'a misspelled key',
    inCase('setps: [expect: {only: true}]'),
    '4: tests[0].setps: There is no such field here: did you mean steps?',
  ],
  [
    'a word of another tool',
    inCase('steps:', '- wait: 5', '- expect: {only: true}'),
    '5: tests[0].steps[0].wait: There is no such field here: did you mean advance?',
  ],
  [
    'a key of the hub',
    inCase('steps:', '- call: {service: a.b}', '- expect: {only: true}'),
    '5: tests[0].steps[0].call.service: There is no such field here: did you mean action?',
  ],
  ['a merge', inCase('steps:', '- expect: {only: true, <<: {a: 1}}'), /YAML 1.2 has no merge keys/],
  [
    'a step with two verbs',
    inCase('steps:', '- set: {a.b: c}', '  expect: {only: true}', '- expect: {only: true}'),
    '5: tests[0].steps[0]: The step has the verbs set and expect: write a step for each.',
  ],
  [
    'an unknown key beside a verb',
    inCase('steps:', '- {advance: 5, foo: 1}', '- expect: {only: true}'),
    /^5: tests\[0\]\.steps\[0\]\.foo: There is no such field here/,
  ],
  [
    'a step without a verb',
    inCase('steps:', '- {}', '- expect: {only: true}'),
    /^5: tests\[0\]\.steps\[0\]: is empty: write one of set, fire/,
  ],
  [
    'a step that is a word',
    inCase('steps:', '- advance', '- expect: {only: true}'),
    '5: tests[0].steps[0]: is a text and must be an object: correct it.',
  ],
  [
    'a case without expect',
    inCase('steps:', '- advance: 1'),
    '4: tests[0].steps: have no expect, so that the case cannot fail: add one.',
  ],
  [
    'a name twice',
    'hubtest: v1\ntests:\n- {name: a, steps: [expect: {only: true}]}\n- {name: a, steps: [expect: {only: true}]}\n',
    '4: tests[1].name: "a" is the name of the case in line 3, too: choose another.',
  ],
  [
    'a name that is a number',
    'hubtest: v1\ntests:\n- {name: 1, steps: [expect: {only: true}]}\n',
    '3: tests[0].name: is a number and must be a text: quote it.',
  ],
  [
    'true as a state',
    expecting('{states: {light.hall: true}}'),
    '5: tests[0].steps[0].expect.states[light.hall]: is the boolean true and must be a text or a number or an object: write "on", or "true" in quotes if that is the text.',
  ],
  [
    'false as a given state',
    inCase('given: {light.hall: false}', 'steps: [expect: {only: true}]'),
    /^4: tests\[0\]\.given\[light\.hall\]: is the boolean false .*write "off"/,
  ],
  [
    'true as a state of an object',
    inCase('steps:', '- set: {a.b: {state: true}}', '- expect: {only: true}'),
    /^5: .*\.state: is the boolean true/,
  ],
  [
    'an empty state',
    inCase('steps:', '- set: {a.b: }', '- expect: {only: true}'),
    /^5: .*\[a\.b\]: is empty and must be/,
  ],
  [
    'a state in the list of calls',
    expecting('{calls: [{action: light.turn_on, state: on}]}'),
    /^5: .*\.state: There is no such field here: use action, entity, data, by, times/,
  ],
  [
    'an empty list of calls',
    expecting('{calls: []}'),
    '5: tests[0].steps[0].expect.calls: is empty: write only: true if no call is expected.',
  ],
  [
    'an empty list of none',
    expecting('{none: []}'),
    /^5: .*\.none: is empty: list the calls that must not be made/,
  ],
  ['an expectation of nothing', expecting('{}'), /^5: .*\.expect: expects nothing: write calls/],
  [
    'only: false alone',
    expecting('{only: false, within: 5m}'),
    /^5: .*\.expect: expects nothing: write calls/,
  ],
  ['times: 0', expecting('{calls: [{action: a.b, times: 0}]}'), /^5: .*\.times: 0 must be >= 1/],
  ['times in none', expecting('{none: [{action: a.b, times: 1}]}'), /^5: .*\.times: There is no such field/],
  [
    'a call without an action',
    expecting('{calls: [{entity: a.b}]}'),
    '5: tests[0].steps[0].expect.calls[0].action: is required: add it.',
  ],
  [
    'an action without a domain',
    expecting('{calls: [turn_on]}'),
    /^5: .*calls\[0\]: "turn_on" is not understood\. Write a domain/,
  ],
  [
    'an entity without a domain',
    inCase('steps:', '- set: {Hall: on}', '- expect: {only: true}'),
    /^5: tests\[0\]\.steps\[0\]\.set\.Hall: "Hall" is no id of an entity/,
  ],
  [
    'an author that is a light',
    expecting('{calls: [{action: a.b, by: light.hall}]}'),
    /^5: .*\.by: "light\.hall" is not understood\. Write the entity id of an automation/,
  ],
  [
    'a duration of words',
    inCase('steps:', '- advance: 5 minutes', '- expect: {only: true}'),
    /^5: .*\.advance: "5 minutes" is not understood\. Write seconds/,
  ],
  [
    'minutes that look like hours',
    inCase('steps:', '- advance: "00:05"', '- expect: {only: true}'),
    /^5: .*\.advance: "00:05" is not understood/,
  ],
  [
    'units in another order',
    inCase('steps:', '- advance: 5s1h', '- expect: {only: true}'),
    /^5: .*\.advance: "5s1h" is not understood/,
  ],
  [
    'a duration of 0',
    inCase('steps:', '- advance: 0', '- expect: {only: true}'),
    '5: tests[0].steps[0].advance: 0 is too short: write more than 0.',
  ],
  [
    'a duration of 0s',
    inCase('steps:', '- advance: 0s', '- expect: {only: true}'),
    '5: tests[0].steps[0].advance: "0s" is too short: write more than 0.',
  ],
  ['a negative duration', expecting('{only: true, within: -5}'), /^5: .*\.within: -5 must be >= 0/],
  [
    'two years',
    inCase('steps:', '- advance: 731d', '- expect: {only: true}'),
    /^5: .*\.advance: "731d" is longer than 367 days/,
  ],
  [
    'a time of day of 24 h',
    inCase('steps:', '- at: "24:00"', '- expect: {only: true}'),
    /^5: .*\.at: "24:00" is not understood\. Write a time of day/,
  ],
  [
    'noon with an offset',
    inCase('steps:', '- at: noon + 1h', '- expect: {only: true}'),
    /^5: .*\.at: "noon \+ 1h" is not understood/,
  ],
  [
    'a day that does not exist',
    inCase('steps:', '- at: 2026-02-30T07:00', '- expect: {only: true}'),
    '5: tests[0].steps[0].at: "2026-02-30T07:00" is no day of the calendar: correct it.',
  ],
  [
    'a start with a zone',
    inCase('start: 2026-11-02T18:00Z', 'steps: [expect: {only: true}]'),
    /^4: tests\[0\]\.start: "2026-11-02T18:00Z" is not understood\. Write a local time without a zone/,
  ],
  [
    'a start that does not exist',
    inCase('start: 2026-13-01T18:00', 'steps: [expect: {only: true}]'),
    /^4: .*no day of the calendar/,
  ],
  [
    'a zone that does not exist',
    'hubtest: v1\nhub: {timezone: Europe/Berlim}\ntests: [{name: a, steps: [expect: {only: true}]}]\n',
    /^2: hub\.timezone: "Europe\/Berlim" is no time zone/,
  ],
  [
    'half a place',
    'hubtest: v1\nhub: {latitude: 50}\ntests: [{name: a, steps: [expect: {only: true}]}]\n',
    /^2: hub: has one of latitude and longitude/,
  ],
  [
    'a place in quotes',
    "hubtest: v1\nhub: {latitude: '50', longitude: 1}\ntests: [{name: a, steps: [expect: {only: true}]}]\n",
    /^2: hub\.latitude: is a text and must be a number: remove the quotes/,
  ],
  [
    'a response beside an error',
    'hubtest: v1\nmock: {a.b: {response: {}, raises: x}}\ntests: [{name: a, steps: [expect: {only: true}]}]\n',
    /^2: mock\[a\.b\]: has response and raises/,
  ],
  [
    'a broken regular expression',
    expecting("{states: {a.b: '/[/'}}"),
    /^5: .*states\[a\.b\]: "\/\[\/" is not a regular expression/,
  ],
  [
    'an empty regular expression',
    expecting("{calls: [{action: a.b, data: {c: '//'}}]}"),
    /^5: .*data\.c: "\/\/" is an empty regular expression/,
  ],
  [
    'a broken pattern of warnings',
    inCase('allowWarnings: ["("]', 'steps: [expect: {only: true}]'),
    /^4: tests\[0\]\.allowWarnings\[0\]: "\(" is not a regular expression/,
  ],
  [
    'a number that loses digits',
    inCase('steps:', '- call: {action: a.b, data: {chat: 12345678901234567890}}', '- expect: {only: true}'),
    /^5: .*data\.chat: is beyond the numbers that keep all digits: quote it/,
  ],
  [
    'infinity',
    inCase('steps:', '- fire: {event_type: a, event_data: {b: .inf}}', '- expect: {only: true}'),
    /^5: .*event_data\.b: is beyond the numbers/,
  ],
  [
    'an area of a set state',
    inCase('steps:', '- set: {a.b: {area: c}}', '- expect: {only: true}'),
    /^5: .*\.area: There is no such field here: use state, attributes/,
  ],
];

describe('a finding', () => {
  test.each(faults)('%s', async (_, text, finding) => {
    const found = await findingsIn(text);
    expect(found).toHaveLength(1);
    if (typeof finding === 'string') expect(found[0]).toBe(finding);
    else expect(found[0]).toMatch(finding);
  });

  test('names the case', async () => {
    const checked = await checkTestText('f.hubtest.yaml', expecting('{calls: []}'), unbounded);
    expect(checked).toMatchObject({
      findings: [{ file: 'f.hubtest.yaml', severity: 'error', object: 'test “a”' }],
    });
  });

  test('of several, each is reported, in the order of lines', async () => {
    const text = withSteps('advance: 0s', 'at: 2026-02-30T07:00', 'set: {a.b: on}');
    expect((await findingsIn(text)).map((each) => each.split(':')[0])).toEqual(['5', '6']);
    const three = withSteps('advance: x', 'at: y', 'foo: {a.b: on}');
    expect((await findingsIn(three)).map((each) => each.split(':')[0])).toEqual(['5', '6', '7']);
  });

  test('has no character with which a text could control the terminal', async () => {
    const [found] = await findingsIn(
      'hubtest: v1\n"\\e[2Jx": 1\ntests: [{name: a, steps: [expect: {only: true}]}]\n',
    );
    expect(found).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
    expect(found).toContain('There is no such field here');
    const [value] = await findingsIn(withSteps('at: "\u009b1m"'));
    expect(value).toContain('is not understood');
    expect(value).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  });
});

describe('the text of a file', () => {
  test.each([
    ['a byte order mark', (text: string) => `\ufeff${text}`],
    ['line breaks of Windows', (text: string) => text.replaceAll('\n', '\r\n')],
    ['a mark of the document', (text: string) => `---\n${text}...\n`],
    ['JSON', () => '{"hubtest": "v1", "tests": [{"name": "a", "steps": [{"expect": {"only": true}}]}]}'],
  ])('may have %s', async (_, change) => {
    expect(await findingsIn(change(withSteps('advance: 1')))).toEqual([]);
  });

  test('with a line break of Windows has the same lines', async () => {
    const text = withSteps('advance: 0').replaceAll('\n', '\r\n');
    expect((await findingsIn(text))[0]).toMatch(/^5: /);
  });
});
