import { byId } from '../../../../operator/sync/registry/identity';
import { validateHelper } from '../../../../operator/sync/registry/helpers/validate';
import { patternProblem } from '../../../../operator/sync/registry/helpers/text-pattern';
import { duration, moment, slots } from '../../../../operator/sync/registry/helpers/forms';
import { growth, NEARLY_LINEAR } from '../../growth';
import { anEntry } from './entries';

const problem = (type: string, settings: object) =>
  validateHelper(anEntry('HubHelper', 'a', { spec: { type, [type]: settings } }));

describe('validateHelper', () => {
  test.each([
    ['number', { min: 0, max: 1, deviceClass: 'temperature', unit: '°C' }],
    ['number', { min: 0, max: 1, deviceClass: 'ph' }],
    ['number', { min: 0, max: 1, deviceClass: 'volume', unit: 'fl. oz.' }],
    ['number', { min: 0, max: 1, deviceClass: 'of_next_year', unit: 'x' }],
    ['number', { min: 0, max: 1, deviceClass: 'monetary', unit: 'EUR' }],
    ['text', { pattern: '[a-z]+' }],
    ['text', { pattern: '[a-z]+', initial: 'ab 1' }],
    ['text', { pattern: '\\w+', initial: 'ä' }],
    ['text', { pattern: '🛋*a', initial: 'a' }],
    ['text', { pattern: '(a+)+$', initial: `${'a'.repeat(60)}!` }],
    ['datetime', { date: true, initial: '2028-02-29' }],
    ['datetime', { time: true, initial: '18:00' }],
    ['schedule', { monday: [] }],
    [
      'schedule',
      {
        monday: [
          { from: '12:00', to: '24:00' },
          { from: '00:00', to: '12:00', data: { a: 1, b: 'x', c: true } },
        ],
      },
    ],
  ])('a %s with %j is fine', (type, settings) => {
    expect(problem(type, settings)).toBeUndefined();
  });

  test.each([
    [
      'number',
      { deviceClass: 'temperature' },
      'spec.number.unit: the hub takes K, °C, °F with deviceClass temperature',
    ],
    ['number', { deviceClass: 'temperature', unit: '%' }, 'spec.number.unit'],
    ['number', { deviceClass: 'ph', unit: '%' }, 'spec.number.unit: the hub takes none'],
    ['text', { pattern: '[' }, 'spec.text.pattern: a set is not closed by ]'],
    ['text', { pattern: 'b|[0-9]{4}$', initial: 'ab' }, 'spec.text.initial: it does not match text.pattern'],
    ['datetime', { date: true, initial: '2026-02-29' }, 'spec.datetime.initial: there is no day 2026-02-29'],
    ['datetime', { date: true, time: true, initial: '2026-13-01 10:00' }, 'there is no day 2026-13-01'],
    [
      'schedule',
      { friday: [{ from: '12:00', to: '12:00:00' }] },
      'spec.schedule.friday[0].to: 12:00:00 is not after 12:00.',
    ],
    [
      'schedule',
      {
        friday: [
          { from: '12:00', to: '14:00' },
          { from: '11:00', to: '12:00:01' },
        ],
      },
      'spec.schedule.friday: 11:00 to 12:00:01 and 12:00 to 14:00 overlap',
    ],
    [
      'schedule',
      { friday: [{ from: '1:00', to: '24:00', data: { a: [1] } }] },
      'spec.schedule.friday[0].data',
    ],
    [
      'schedule',
      { friday: [{ from: '1:00', to: '24:00', data: { a: null } }] },
      'spec.schedule.friday[0].data',
    ],
  ])('a %s with %j is named', (type, settings, message) => {
    expect(problem(type, settings)).toContain(message);
  });
});

test.each([
  'a',
  '',
  '^[a-zA-Z0-9_.-]+$',
  '(?:a|b)*c',
  '(?=a)b',
  '(?!x)y',
  'a{2}',
  'a{2,}',
  'a{2,3}?',
  '\\d{4}-\\d\\d',
  '[^a-z]',
  '[\\w-]',
  '[a\\-z]',
  '[\\x41-\\x5a]',
  '\\u00e4',
  '.*?',
  '\\bword\\b',
  'ä{2}',
  '🛋+',
  '()',
  '(|a)',
  '\\$\\{\\}',
])('the pattern %s is taken', (pattern) => {
  expect(patternProblem(pattern)).toBeUndefined();
});

test.each([
  '[',
  '(',
  ')',
  'a)',
  '*',
  'a**',
  'a*+',
  'a{3,2}',
  '{',
  '}',
  ']',
  '[]',
  '[^]',
  '[z-a]',
  '[a-\\d]',
  '[\\d-z]',
  '(?<n>a)',
  '(?P<n>a)',
  '(?i)a',
  '(?<=a)b',
  '\\1',
  '\\p{L}',
  '\\',
  '\\q',
  '\\x4',
  '\\u12',
  '^*',
  '$+',
  '\\b?',
  '(?=a)*',
  '[[]',
  '\\é',
  `${'('.repeat(60)}${')'.repeat(60)}`,
  'a{99999}',
  '(?',
])('the pattern %s is refused', (pattern) => {
  expect(patternProblem(pattern)).toMatch(/^[^.]+ \(at character \d+\)\. /);
});

test.each(['(a', '[a', 'a{1,', '(?:a|', '\\', 'a'])(
  'a pattern of many %s takes no more time for each character',
  async (part) => {
    const read = (length: number) => {
      for (let round = 0; round < 100; round++) patternProblem(part.repeat(length).slice(0, length));
    };
    expect(await growth(read, 1_024)).toBeLessThan(NEARLY_LINEAR);
  },
);

test.each([
  ['a', 'a'],
  ['Guest mode', 'guest_mode'],
  ['Gäste (EG) – oben', undefined],
  ['Gäste', 'gaste'],
  ["Anna's lamp", 'anna_s_lamp'],
  ['  --x--  ', 'x'],
  ['A & B', undefined],
  ['1,000', undefined],
  ['Straße', undefined],
  ['光', undefined],
])(
  'a helper with the name %s is created by one write under the id %s, else under the id first',
  (name, id = 'other') => {
    const newName = byId.newName(anEntry('HubHelper', 'x', { spec: { name, id } }));
    expect(newName).toBe(id === 'other' ? 'other' : name);
    expect(byId.newName(anEntry('HubHelper', 'x', { spec: { name, id: 'any' } }))).toBe('any');
  },
);

test('a metadata.name becomes an id', () => {
  expect(byId.of(anEntry('HubHelper', 'movie--night.v2'))).toBe('movie_night_v2');
});

test.each([
  [moment, '18:00', '18:00:00'],
  [moment, '2026-12-24 18:00', '2026-12-24 18:00:00'],
  [moment, '2026-12-24', '2026-12-24'],
  [moment, 'zzz', 'zzz'],
  [duration, '00:05:00', '0:05:00'],
  [duration, '0100:00:00', '100:00:00'],
  [duration, '0:00:00', '0:00:00'],
  [duration, 300, '300'],
  [
    slots,
    [
      { from: '10:00', to: '24:00', data: {} },
      { from: '08:00:00', to: '09:00' },
    ],
    [
      { from: '08:00:00', to: '09:00:00' },
      { from: '10:00:00', to: '24:00:00' },
    ],
  ],
  [slots, 'x', []],
])('%#: the normal form of a value', ({ toHub }, value, normal) => {
  expect(toHub(value)).toEqual(normal);
  expect(toHub(toHub(value))).toEqual(normal);
});
