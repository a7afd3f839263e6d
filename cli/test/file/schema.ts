import { patternMessages, patterns } from './patterns';

/**
 * A JSON Schema, with the keywords that test files need. A keyword for one type does not restrict values of
 * other types.
 */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | JsonSchema;
  readonly propertyNames?: JsonSchema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly enum?: readonly (string | boolean)[];
  readonly pattern?: string;
  /** Message for editors about a text that does not match the pattern. */
  readonly patternErrorMessage?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly default?: unknown;
}

const matching = (pattern: string, more: JsonSchema): JsonSchema => ({
  ...more,
  pattern,
  ...(patternMessages[pattern] !== undefined && { patternErrorMessage: patternMessages[pattern] }),
});

const strict = (description: string, properties: NonNullable<JsonSchema['properties']>, more = {}) =>
  ({ type: 'object', description, properties, additionalProperties: false, ...more }) satisfies JsonSchema;

const text = (description: string): JsonSchema => ({ type: 'string', description });
const data = (description: string): JsonSchema => ({ type: 'object', description });

const duration = (description: string, more: JsonSchema): JsonSchema =>
  matching(patterns.duration, {
    type: ['number', 'string'],
    description: `${description} A duration: seconds (\`90\`), units from the largest on (\`1h30m\`, \`5m\`, \`500ms\`), or \`00:05:00\`.`,
    maxLength: 64,
    ...more,
  });
const longer = (description: string): JsonSchema => duration(description, { exclusiveMinimum: 0 });

const entityNames = matching(patterns.entity, {});
const byEntity = (description: string, value: JsonSchema): JsonSchema => ({
  type: 'object',
  description,
  propertyNames: entityNames,
  additionalProperties: value,
  minProperties: 1,
});

const stateText: JsonSchema = {
  type: ['string', 'number'],
  description:
    'The state, such as `on`, `21.5` or `not_home`. A number keeps its characters: `21.50` stays `21.50`. `true` and `false` are no states: write `on` and `off`.',
};
const attributes = data('Attributes beside those that the entity has, such as `brightness: 128`.');

const set = byEntity(
  'Sets states of entities as a device would. A helper of the home, such as an input_boolean, is set by its own action, and an ' +
    'entity that `given` does not have appears. An automation of the home cannot be set: call `automation.turn_on`.',
  {
    type: ['string', 'number', 'object'],
    description: 'A state, or `state` and `attributes`.',
    properties: { state: stateText, attributes },
    additionalProperties: false,
    minProperties: 1,
  },
);

const given = byEntity(
  'The states of entities before the first step, by entity id: the devices of the home, and all else that its automations read. A case has ' +
    'those of the file beside its own ones, and its own one of the same entity counts.',
  {
    type: ['string', 'number', 'object'],
    description: 'A state, or an object with the state and more.',
    properties: {
      state: stateText,
      attributes,
      area: text('Name of the area that the entity is in, for targets of actions.'),
      labels: {
        type: 'array',
        items: { type: 'string' },
        description: 'Names of the labels of the entity, for targets of actions.',
      },
    },
    additionalProperties: false,
    minProperties: 1,
  },
);

const mock: JsonSchema = {
  type: 'object',
  description:
    'Results of actions that are not simulated, by action, such as `weather.get_forecasts`. Without one an action is recorded and has no response.',
  propertyNames: matching(patterns.action, {}),
  minProperties: 1,
  additionalProperties: strict(
    'What happens when the action is called.',
    {
      response: data('The response that an automation gets in its `response_variable`.'),
      raises: text('The action fails with this message.'),
      takes: longer('How long the action takes before it ends.'),
    },
    { minProperties: 1 },
  ),
};

const allowWarnings: JsonSchema = {
  type: 'array',
  description:
    'Regular expressions, in the syntax of Python. A warning or error that the hub logs of an automation, script or template fails the case, unless one of these is found in it.',
  items: { type: 'string', minLength: 1 },
  minItems: 1,
};

const start = matching(patterns.dateTime, {
  type: 'string',
  description:
    'Local time at which a case begins, without a zone, such as `2026-11-02T18:00`. The days on which clocks change can be chosen. Default: `2026-01-15T12:00`.',
});

const callFields = {
  action: matching(patterns.action, {
    type: 'string',
    description: 'The action, such as `light.turn_on`.',
  }),
  entity: matching(patterns.entity, {
    type: ['string', 'array'],
    description:
      'Entity id, or a list of them: the target of the call resolves to all of these. It may have more.',
    items: entityNames,
    minItems: 1,
  }),
  data: data(
    'Fields that the data of the call has; it may have more. A number compares as a number, a text in quotes as text, `/…/` is a regular expression that is found in the text.',
  ),
  by: matching(patterns.author, {
    type: 'string',
    description:
      'Entity id of the automation or script that makes the call. A call by a script that an automation has called is one of both.',
  }),
};

const calls = (description: string, more = {}): JsonSchema => ({
  type: 'array',
  description,
  minItems: 1,
  items: matching(patterns.action, {
    type: ['string', 'object'],
    description: 'The name of an action, or an object with the action and more.',
    properties: { ...callFields, ...more },
    required: ['action'],
    additionalProperties: false,
  }),
});

const expectedState: JsonSchema = {
  type: ['string', 'number'],
  description:
    'The state: a number without quotes compares as a number (`21.5` is `21.50`), any other text as text, `/…/` is a regular expression that is found in the state.',
};

const expect = strict(
  'What has happened. At least one of `calls`, `only`, `none` and `states`.',
  {
    calls: calls(
      'Calls that have been made since the `expect` before, or since the start of the case. Others may have been made as well. A call that fits one item fits no other.',
      {
        times: {
          type: 'integer',
          minimum: 1,
          description: 'How often exactly, counted over the whole of `within`. Default: at least once.',
        },
      },
    ),
    only: {
      type: 'boolean',
      default: false,
      description: 'True: no other call than those in `calls` is made; without `calls`, none at all.',
    },
    none: calls(
      'Calls that are not made, over the whole of `within`. An action, an author, an entity or a field of `data` that neither the hub nor the home nor the case has fails the case, so that a typo does.',
    ),
    states: byEntity('States at the end, by entity id.', {
      type: ['string', 'number', 'object'],
      description: 'A state, or `state` and `attributes`.',
      properties: {
        state: expectedState,
        attributes: data(
          'Attributes that the entity has, with their values; it may have more. `null`: it does not have the attribute, which the hub, the home or the case has elsewhere.',
        ),
      },
      additionalProperties: false,
      minProperties: 1,
    }),
    within: duration(
      'How long it may take, from now on. Without `none`, `times` and `only` the step ends at the first moment at which all of `calls` and `states` ' +
        'hold; with one of them it lasts the whole time. A state that holds early and is lost later is not noticed: `advance`, then `expect` without `within`. Default 0: at once.',
      { minimum: 0, default: 0 },
    ),
  },
  { minProperties: 1 },
);

const restart: JsonSchema = {
  type: ['object', 'null'],
  description:
    'Restarts the hub. States that the hub restores stay, such as those of helpers; `given` of entities that no integration of the home restores is lost.',
  properties: { down: { ...longer('How long the hub is down. Default 30 s.'), default: '30s' } },
  additionalProperties: false,
};

const step = strict(
  'One step: exactly one of these.',
  {
    set,
    fire: strict(
      'Fires an event.',
      {
        event_type: { ...text('Type of the event.'), minLength: 1 },
        event_data: data('Data of the event.'),
      },
      { required: ['event_type'] },
    ),
    call: strict(
      'Calls an action, in the form of the hub: a step of a script can be pasted.',
      {
        action: callFields.action,
        target: data('Target: `entity_id`, `area_id`, `label_id`, `floor_id`.'),
        data: data('Data of the call.'),
      },
      { required: ['action'] },
    ),
    advance: longer('Lets time go by.'),
    at: matching(patterns.moment, {
      type: 'string',
      description:
        'Lets time go by until the next such moment, strictly after now: a time of day (`"23:00"`), `noon`, `midnight`, `sunset`, `sunrise`, `dawn` or `dusk`, each ' +
        'of these four with an offset (`sunset - 30m`), or a local time (`2026-11-03T07:00`). A local time that is over fails the case; one that a change of clocks leaves out is an error of the file; of one that comes twice, the first is taken.',
    }),
    restart,
    expect,
  },
  { minProperties: 1, maxProperties: 1 },
);

const test = strict(
  'A case. Each begins with a new hub.',
  {
    name: {
      type: 'string',
      minLength: 1,
      maxLength: 200,
      description: 'Name of the case, once in the file.',
    },
    start,
    given,
    mock,
    allowWarnings,
    steps: {
      type: 'array',
      description: 'The steps, one after the other; at least one of them is an `expect`.',
      items: step,
      minItems: 1,
    },
  },
  { required: ['name', 'steps'] },
);

const degrees = (bound: number, description: string): JsonSchema => ({
  type: 'number',
  minimum: -bound,
  maximum: bound,
  description: `${description} Default: that of the Hub.`,
});

/** The schema of files `*.hubtest.yaml`. */
export const testFileSchema = strict(
  'Tests of the automations, scripts and scenes of one Hub, for `kubectl hub test`.',
  {
    hubtest: { type: 'string', enum: ['v1'], description: 'Version of this form: `v1`.' },
    hub: strict(
      'The place of the home, where it is another than that of the Hub resource.',
      {
        timezone: matching(patterns.timezone, {
          type: 'string',
          description: 'Time zone, such as `Europe/Berlin`. Default: that of the Hub, else UTC.',
        }),
        latitude: degrees(90, 'Degrees north, for the sun.'),
        longitude: degrees(180, 'Degrees east.'),
        elevation: {
          type: 'number',
          minimum: -500,
          maximum: 9000,
          description: 'Metres above sea level. Default: that of the Hub.',
        },
      },
      { minProperties: 1 },
    ),
    start,
    given,
    mock,
    echo: {
      type: 'boolean',
      default: true,
      description:
        'True: an entity of `given` follows calls of its actions: after `light.turn_on` the light is `on`. False: only `set` changes it.',
    },
    secrets: {
      type: 'object',
      description:
        'Values of `!secret` in the configuration, by key. A secret that is missing has its own name as its value. All files of a run have the same ones.',
      additionalProperties: { type: ['string', 'number'] },
      minProperties: 1,
    },
    allowWarnings,
    tests: { type: 'array', items: test, minItems: 1, description: 'The cases.' },
  },
  { required: ['hubtest', 'tests'] },
);

/**
 * The schema for editors. An editor that is set to YAML 1.1 for Kubernetes manifests reads `on` as a boolean,
 * so this schema accepts booleans as states. The command reads YAML 1.2, and refuses `true`.
 */
export const editorSchema = withBooleanStates(testFileSchema);

function withBooleanStates(schema: JsonSchema): JsonSchema {
  const { type, properties, additionalProperties, items, pattern } = schema;
  const isState = Array.isArray(type) && type.includes('number') && pattern === undefined;
  return {
    ...schema,
    ...(isState && { type: [...(type as readonly string[]), 'boolean'] }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [name, withBooleanStates(each)]),
      ),
    }),
    ...(typeof additionalProperties === 'object' && {
      additionalProperties: withBooleanStates(additionalProperties),
    }),
    ...(items && { items: withBooleanStates(items) }),
  };
}
