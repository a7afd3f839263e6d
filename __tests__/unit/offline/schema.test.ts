import { kinds } from '../../../operator/kinds';
import { checkSchema } from '../../../operator/offline/schema';
import { safeInteger } from '../../../operator/runtime/json';
import { externalHub, fullSample, type Sample } from '../../schema/full';
import { changed, plainPath } from '../../schema/places';
import { rules } from '../../schema/rules';
import { definitionOf } from '../webhook/requests';

const problemsOf = (sample: Sample) =>
  checkSchema(definitionOf(sample.kind), sample).problems.map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  );
const automation = fullSample('HubAutomation');
const problemsWith = (change: Parameters<typeof changed>[1], sample = automation) =>
  problemsOf(changed(sample, change));

describe('checkSchema', () => {
  test.each(kinds.map(({ kind }) => kind))('a %s with every field has no problem', (kind) => {
    expect(problemsOf(fullSample(kind))).toEqual([]);
  });

  test('an external Hub has no problem', () => {
    expect(problemsOf(externalHub)).toEqual([]);
  });

  // __tests__/schema/rules.test.ts sends these cases to the API server.
  test.each(
    rules.filter(({ update }) => !update).map((rule) => [`${rule.kind}: ${rule.says}`, rule] as const),
  )('%s', (_, { bad, external, field, good, kind, says }) => {
    const sample = external ? externalHub : fullSample(kind);
    for (const change of good)
      expect({ change, problems: problemsWith(change, sample) }).toEqual({ change, problems: [] });
    for (const change of bad)
      expect(problemsWith(change, sample)).toContainEqual(
        expect.stringMatching(new RegExp(`^${escaped(plainPath(field))}: .*${escaped(says)}`)),
      );
  });

  test.each([
    [
      'a value of another type',
      { 'spec.alias': true },
      'spec.alias: is a boolean and must be a string: quote it.',
    ],
    ['a missing field', { 'spec.alias': undefined }, 'spec.alias: is required: add it.'],
    ['a field that is null, which is none', { 'spec.alias': null }, 'spec.alias: is required: add it.'],
    [
      'a field that does not exist',
      { 'spec.colour': 1 },
      'spec.colour: HubAutomation has no such field: remove it, or correct its name.',
    ],
    [
      'a mistyped field',
      { 'spec.modus': 1 },
      'spec.modus: HubAutomation has no such field: did you mean mode?',
    ],
    [
      'an unknown field of metadata',
      { 'metadata.nmae': 'x' },
      'metadata.nmae: HubAutomation has no such field: did you mean name?',
    ],
    ['no metadata', { metadata: undefined }, 'metadata: is required: add it.'],
    ['metadata that is null', { metadata: null }, 'metadata: is required: add it.'],
    [
      'a label that is no text',
      { 'metadata.labels': { on: true } },
      'metadata.labels.on: is a boolean and must be a string: quote it.',
    ],
    [
      'a name that Kubernetes does not take',
      { 'metadata.name': 'A_b' },
      /^metadata.name: "A_b" does not match /,
    ],
    [
      'a choice that does not exist',
      { 'spec.mode': 'twice' },
      'spec.mode: "twice" is not supported: use single, restart, queued, parallel.',
    ],
    [
      'an integer beyond 2^53 in a field of integers',
      { 'spec.max': safeInteger(90071992547409931n) },
      'spec.max: is the integer 90071992547409931, which is beyond 2^53: correct it.',
    ],
    [
      'an integer beyond 2^53 where a boolean is needed',
      { 'spec.enabled': safeInteger(90071992547409931n) },
      'spec.enabled: is an integer and must be a boolean.',
    ],
    [
      'an integer beyond 2^53 where a text of a form is needed',
      { 'spec.id': safeInteger(90071992547409931n) },
      /^spec.id: 90071992547409931 does not match /,
    ],
    ['a number that is too large', { 'spec.max': 10_001 }, 'spec.max: 10001 must be <= 10000.'],
    [
      'text that is too long',
      { 'spec.alias': 'x'.repeat(256) },
      'spec.alias: must not have more than 255 characters.',
    ],
    ['an id of other letters', { 'spec.id': 'Porch' }, /^spec.id: "Porch" does not match /],
  ])('%s', (_, change, problem) => {
    const [found, ...others] = problemsWith(change);
    expect(others).toEqual([]);
    if (typeof problem === 'string') expect(found).toBe(problem);
    else expect(found).toMatch(problem);
  });

  test.each([
    [
      'a text where an object is needed',
      'hunter2',
      'spec.configuration.password: is a string and must be an object.',
    ],
    [
      'a number where a text is needed',
      { value: 123454321 },
      'spec.configuration.password.value: is an integer and must be a string: quote it.',
    ],
    [
      'a list',
      { value: ['hunter2'] },
      'spec.configuration.password.value: is an array and must be a string.',
    ],
    ['an object that breaks a rule', { value: 'hunter2', jsonValue: '"hunter2"' }, /^spec\.configuration/],
  ])('%s: the message does not contain the value, which may be a secret', (_, password, problem) => {
    const problems = problemsWith({ 'spec.configuration': { password } }, fullSample('HubIntegration'));
    expect(problems).toEqual([typeof problem === 'string' ? problem : expect.stringMatching(problem)]);
    expect(problems.join()).not.toMatch(/hunter2|123454321/);
  });

  test('for an object where one of several values is needed the fields are not printed', () => {
    expect(problemsWith({ 'spec.mode': { single: 'hunter2' } }).join()).not.toContain('hunter2');
  });

  test('a misspelt metadata is reported once, and other rules are not applied to the object', () => {
    const { metadata, ...others } = automation;
    const { isTyped, problems } = checkSchema(definitionOf('HubAutomation'), {
      ...others,
      metdata: metadata,
    });
    expect(problems.map(({ path }) => path)).toEqual([['metdata']]);
    expect(isTyped).toBe(false);
  });

  test.each([
    ['HubAutomation', 'trigger', 'triggers'],
    ['HubAutomation', 'condition', 'conditions'],
    ['HubAutomation', 'action', 'actions'],
    ['HubAutomation', 'max_exceeded', 'maxExceeded'],
    ['HubAutomation', 'trigger_variables', 'triggerVariables'],
    ['HubAutomation', 'initial_state', 'initialState'],
    ['HubAutomation', 'use_blueprint', 'useBlueprint'],
    ['HubAutomation', 'service', 'actions'],
    ['HubAutomation', 'platform', 'triggers'],
    ['HubAutomation', 'name', 'alias'],
    ['HubScript', 'actions', 'sequence'],
    ['HubScene', 'alias', 'name'],
    ['HubScene', 'hub_ref', 'hubRef'],
  ])(
    'for a %s with the hub’s key %s the field %s is suggested, and nothing else is missing',
    (kind, key, intended) => {
      const sample = fullSample(kind);
      const { spec } = sample as unknown as { readonly spec: Readonly<Record<string, unknown>> };
      const change = {
        [`spec.${intended}`]: undefined,
        [`spec.${key}`]: spec[intended],
        'spec.useBlueprint': undefined,
      };
      expect(problemsWith(change, sample)).toEqual([
        `spec.${key}: ${kind} has no such field: did you mean ${intended}?`,
      ]);
    },
  );

  test('a fault of the field itself is reported beside its other name', () => {
    expect(problemsWith({ 'spec.trigger': [], 'spec.triggers': 'sun' })).toEqual([
      'spec.triggers: is a string and must be an array.',
      'spec.trigger: HubAutomation has no such field: did you mean triggers?',
    ]);
  });

  test('a key of the hub that is misspelt deeper in the spec is also reported', () => {
    expect(problemsWith({ 'spec.trace': { stored_traces: 5 } })).toEqual([
      'spec.trace.stored_traces: HubAutomation has no such field: did you mean storedTraces?',
    ]);
  });

  test('old keys in the items of lists are those of the hub, and no mistake', () => {
    expect(
      problemsWith({
        'spec.triggers': [{ platform: 'state', entity_id: 'sun.sun' }],
        'spec.actions': [{ service: 'light.turn_on' }],
      }),
    ).toEqual([]);
  });

  test('for entities of a scene in the hub’s form, and a trigger without a list, the message shows how to write a list', () => {
    expect(problemsWith({ 'spec.entities': { 'light.a': 'on' } }, fullSample('HubScene'))).toEqual([
      'spec.entities: is an object and must be an array: write each entry as an item that begins with “- entity_id:”.',
    ]);
    expect(problemsWith({ 'spec.triggers': { trigger: 'sun' } })).toEqual([
      'spec.triggers: is an object and must be an array: write “- ” before it, as an item.',
    ]);
  });

  test('for the alternatives of a list the first is named', () => {
    expect(problemsWith({ 'spec.actions': undefined, 'spec.useBlueprint': undefined })).toEqual([
      'spec.actions: is required: add it.',
    ]);
  });

  test('two items with one key are a problem, and so are two equal items of a set', () => {
    const scene = fullSample('HubScene');
    const entity = { entity_id: 'light.a', state: 'on' };
    expect(problemsWith({ 'spec.entities': [entity, { ...entity, state: 'off' }] }, scene)).toEqual([
      'spec.entities.1: another item has the same entity_id "light.a": remove one.',
    ]);
    const secrets = fullSample('HubSecrets');
    expect(problemsWith({ 'spec.secretRefs': [{ name: 'a', keys: ['b', 'b'] }] }, secrets)).toEqual([
      'spec.secretRefs.0.keys.1: another item is "b" as well: remove one.',
    ]);
  });

  test('rules over several fields are applied to values of the right types', () => {
    expect(problemsWith({ 'spec.max': '5', 'spec.mode': 'single' })).toEqual([
      'spec.max: is a string and must be an integer.',
    ]);
  });

  test('the object gets the defaults of the API server, and loses nulls except in free-form fields', () => {
    const given = {
      ...automation,
      spec: {
        hubRef: { name: 'villa' },
        alias: 'Porch',
        description: null,
        triggers: [{ trigger: 'state', to: null }],
        actions: [{}],
      },
    };
    const { object } = checkSchema(definitionOf('HubAutomation'), given);
    expect(object['spec']).toMatchObject({ enabled: true, suspend: false, triggers: [{ to: null }] });
    expect(object['spec']).not.toHaveProperty('description');
    expect(given.spec).not.toHaveProperty('enabled');
  });

  test('status is not checked, since the API server drops it', () => {
    expect(problemsWith({ status: { phase: 1 } })).toEqual([]);
  });
});

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
