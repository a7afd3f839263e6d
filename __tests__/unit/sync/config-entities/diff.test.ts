import type { EntityPayload } from '../../../../operator/client/connection/config-entity';
import { redactor } from '../../../../operator/client/connection/redact';
import { diff } from '../../../../operator/sync/config-entities/diff';
import { formatDiff } from '../../../../operator/sync/objects/field-diff';
import { automations } from '../../../../operator/sync/config-entities/automation';
import { scenes } from '../../../../operator/sync/config-entities/scene';
import { unexpressed } from '../../../../operator/sync/config-entities/diff';
import fc from '../../../fast-check';

// A payload, and the answer of Home Assistant 2026.11.0 to `automation/config` after it had loaded the
// payload.
const UNCHANGED = {
  alias: 'Nasty',
  triggers: [
    { platform: 'state', entity_id: 'a.b', to: null, for: '00:01:00' },
    { trigger: 'time', at: '01:23' },
  ],
  conditions: [{ condition: 'or', conditions: ['{{ true }}'] }, '{{ is_state("a.b","on") }}'],
  mode: 'queued',
  max: 3,
  max_exceeded: 'silent',
  variables: { a: 1, service: 'q' },
  initial_state: false,
};
const DATA = {
  '1': 'one',
  a: 1,
  b: 1e30,
  c: 'on',
  d: '2024-01-01',
  e: ' x ',
  f: '',
  g: [],
  h: {},
  i: null,
  l: '1e3',
  m: 'a\r\nb\tc',
  n: 0.1,
  yes: true,
  service: 'keep',
};
const UNCHANGED_ACTIONS = [
  { service_template: '{{ "light.turn_on" }}' },
  { event: 'foo', event_data: { service: 'x' } },
  { variables: { service: 'x', a: [1, 'on'] } },
  { alias: 'z', enabled: false, action: 'a.b', entity_id: 'light.x' },
];

const SENT: EntityPayload = {
  ...UNCHANGED,
  actions: [
    { service: 'light.turn_on', data: DATA, target: { entity_id: 'light.a' } },
    { choose: { conditions: [], sequence: { service: 'a.b' } }, default: [{ service: 'x.y' }] },
    { parallel: [{ service: 'a.b' }, { sequence: [{ service: 'e.f' }] }] },
    ...UNCHANGED_ACTIONS,
  ],
};

const ANSWERED: EntityPayload = {
  ...UNCHANGED,
  id: 'nasty',
  actions: [
    { data: DATA, target: { entity_id: 'light.a' }, action: 'light.turn_on' },
    { choose: { conditions: [], sequence: { action: 'a.b' } }, default: [{ action: 'x.y' }] },
    { parallel: [{ action: 'a.b' }, { sequence: [{ action: 'e.f' }] }] },
    ...UNCHANGED_ACTIONS,
  ],
};

const differences = (actual: EntityPayload, desired: EntityPayload) =>
  diff(automations, 'nasty', actual, desired);
const fields = (actual: EntityPayload, desired: EntityPayload) =>
  differences(actual, desired).map(({ field }) => field);

describe('diff', () => {
  test('changes that the hub itself makes are no difference', () => {
    expect(fields(ANSWERED, SENT)).toEqual([]);
  });

  test.each<[string, EntityPayload, string[]]>([
    ['another service', { ...ANSWERED, actions: [{ action: 'light.turn_off' }] }, ['actions']],
    ['a key too many', { ...ANSWERED, description: 'x' }, ['description']],
    ['a key too few', (({ max: _, ...rest }) => rest)(ANSWERED as { max: number }), ['max']],
    ['another type', { ...ANSWERED, alias: 3 }, ['alias']],
    ['null for nothing', { ...ANSWERED, variables: { a: 1, service: 'q', b: null } }, ['variables']],
    [
      'another order in a list',
      { ...ANSWERED, conditions: [...(ANSWERED['conditions'] as [])].reverse() },
      ['conditions'],
    ],
  ])('%s is a difference', (_, actual, expected) => {
    expect(fields(actual, SENT)).toEqual(expected);
  });

  test('every change of any value is a difference, and a copy has none', () => {
    const value = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(value, value, (a, b) => {
        const copy = JSON.parse(JSON.stringify(a)) as unknown;
        const [first, second, third] = [a, b, copy].map((x) => ({ variables: { x } }));
        expect(fields(first!, third!)).toEqual([]);
        const differs = JSON.stringify(sorted(a)) !== JSON.stringify(sorted(b));
        expect(fields(first!, second!)).toEqual(differs ? ['variables'] : []);
      }),
    );
  });

  test('a definition that is equal, except for the id that the hub adds, is compared without its normal form', () => {
    const normal = () => {
      throw new Error('normalized');
    };
    expect(diff({ ...automations, normal }, 'nasty', { ...SENT, id: 'nasty' }, SENT)).toEqual([]);
    expect(() => diff({ ...automations, normal }, 'nasty', { ...SENT, alias: 'x' }, SENT)).toThrow(
      'normalized',
    );
  });

  test('keys that the spec cannot express are no difference, and are kept', () => {
    const stored = { id: 'film', name: 'Film', entities: {}, metadata: { 'light.a': { entity_only: true } } };
    expect(diff(scenes, 'film', stored, { name: 'Film', entities: {} })).toEqual([]);
    expect(unexpressed(scenes, stored)).toEqual({ metadata: { 'light.a': { entity_only: true } } });
    expect(unexpressed(automations, { id: 'a', trigger: [], alias: 'A', hide_entity: true })).toEqual({
      hide_entity: true,
    });
  });
});

describe('formatDiff', () => {
  const plain = (text: string) => text;

  test('each difference shows the value in the hub and that of the resource, with long values truncated', () => {
    const text = formatDiff(
      differences(
        { alias: 'A', mode: 'queued', max: 3 },
        { alias: 'B', mode: 'queued', description: 'x'.repeat(80) },
      ),
      plain,
    );
    expect(text).toBe(
      `alias: hub has "A", resource says "B"; description: hub has nothing, resource says "${'x'.repeat(58)}…; ` +
        'max: hub has 3, resource says nothing',
    );
  });

  test('a secret across the truncation leaves no part of itself', () => {
    const secret = 'correct-horse-battery-staple';
    for (let before = 0; before < 80; before++) {
      const text = formatDiff(differences({ alias: 'x'.repeat(before) + secret }, {}), redactor([secret]));
      expect(text).not.toContain(secret.slice(0, 4));
    }
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  // an object, so that it is not taken for a list
  return { entries: entries.map(([key, entry]) => [key, sorted(entry)]) };
}
