import { automations } from '../../../../operator/sync/config-entities/automation';
import { diff } from '../../../../operator/sync/config-entities/diff';
import { scenes } from '../../../../operator/sync/config-entities/scene';
import { scripts } from '../../../../operator/sync/config-entities/script';
import {
  automationSpecOf,
  sceneSpecOf,
  scriptSpecOf,
} from '../../../../operator/sync/config-entities/spec-of';
import fc from '../../../fast-check';
import { resource } from '../../resource';

const value = fc.oneof(
  fc.string(),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true }),
);
const map = fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), value, { maxKeys: 3 });
const item = fc.oneof(
  fc.record({ trigger: fc.constant('state'), to: fc.constantFrom('on', null), from: value }),
  fc.record({ action: fc.constant('light.turn_on'), data: map, target: map }, { requiredKeys: ['action'] }),
  fc.constant("{{ is_state('sun.sun', 'up') }}"),
);
/** A list in the forms that the hub accepts: also one item, or null for none. */
const list = fc.oneof(
  fc.array(item, { maxLength: 3 }),
  fc.dictionary(fc.constantFrom('trigger', 'event'), fc.string(), { minKeys: 1 }),
  fc.constant(null),
);
const run = {
  alias: fc.string({ minLength: 1 }),
  description: fc.string(),
  variables: map,
  trace: fc.constantFrom({}, { stored_traces: 20 }),
  max_exceeded: fc.constantFrom('silent', 'WARNING'),
};
const mode = fc.constantFrom(
  {},
  { mode: 'single' },
  { mode: 'restart', max: 3 },
  { mode: 'queued' },
  { mode: 'parallel', max: '5' },
);
const blueprint = fc.record({
  use_blueprint: fc.record({ path: fc.constant('a/b.yaml'), input: map }, { requiredKeys: ['path'] }),
});
const merged = (...parts: fc.Arbitrary<object>[]) =>
  fc.tuple(...parts).map((values) => Object.assign({}, ...values) as Record<string, unknown>);
const optional = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] });

describe('the spec of a stored definition', () => {
  test('of an automation gives an equivalent payload', () => {
    const own = merged(
      fc.record({ triggers: list, actions: list }),
      optional({ conditions: list, trigger_variables: map, initial_state: fc.constantFrom(true, 'off') }),
      mode,
    );
    const stored = merged(fc.record({ alias: run.alias }), optional(run), fc.oneof(own, blueprint));
    fc.assert(
      fc.property(stored, (definition) => {
        const spec = { hubRef: { name: 'villa' }, ...automationSpecOf(definition) };
        const payload = automations.payload(automations.spec(resource('a', spec as never)));
        expect(diff(automations, 'a', definition, payload)).toEqual([]);
      }),
    );
  });

  test('of a script, also without an alias', () => {
    const own = merged(
      fc.record({ sequence: list }),
      optional({
        fields: fc.dictionary(fc.constantFrom('a', 'b'), fc.record({ name: fc.string() })),
        icon: fc.constant('mdi:x'),
      }),
      mode,
    );
    const stored = merged(optional(run), fc.oneof(own, blueprint));
    fc.assert(
      fc.property(stored, (definition) => {
        const spec = { hubRef: { name: 'villa' }, ...scriptSpecOf(definition, 'a') };
        const payload = scripts.payload(scripts.spec(resource('a', spec as never)));
        expect(diff(scripts, 'a', definition, payload)).toEqual([]);
      }),
    );
  });

  test('of a scene, whose states may stand without attributes and without quotes', () => {
    const state = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.boolean(),
      merged(fc.record({ state: fc.oneof(fc.string({ minLength: 1 }), fc.boolean()) }), map),
    );
    const stored = merged(
      fc.record({
        name: fc.string({ minLength: 1 }),
        entities: fc.dictionary(fc.constantFrom('light.a', 'switch.b'), state),
      }),
      optional({ icon: fc.constant('mdi:x'), metadata: map }),
    );
    fc.assert(
      fc.property(stored, (definition) => {
        const spec = { hubRef: { name: 'villa' }, ...sceneSpecOf(definition) };
        const payload = scenes.payload(scenes.spec(resource('a', spec as never)));
        expect(diff(scenes, 'a', definition, payload)).toEqual([]);
      }),
    );
  });

  test.each([
    [
      'the former names of keys',
      { alias: 'A', trigger: [{ platform: 'x' }], action: { service: 'x.y' } },
      { triggers: [{ platform: 'x' }], actions: [{ service: 'x.y' }] },
    ],
    [
      'a number of runs that means nothing',
      { alias: 'A', mode: 'single', max: 5 },
      { mode: 'single', triggers: [], actions: [] },
    ],
    [
      'an automation of the editor without content',
      { alias: 'A', description: '', mode: 'single', triggers: [], conditions: [], actions: [] },
      { mode: 'single', triggers: [], actions: [] },
    ],
  ])('%s', (_, stored, spec) => {
    expect(automationSpecOf(stored)).toEqual({ alias: 'A', ...spec });
  });
});
