import { defineChild, hubAndToken, hubObjectSpec } from './child';
import {
  atomicTexts,
  flagWithDefault,
  immutable,
  int32,
  moment,
  nonEmptyText,
  text,
  textUpTo,
} from './fields';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { secretKey, secretName, secretReferences } from './secret-reference';
import { hubObjectStatusWith } from './status';

const answer = {
  type: 'object',
  properties: {
    value: textUpTo(
      65536,
      'Text, converted to the type that the form asks for: "8" becomes a number, "true" a boolean.',
    ),
    jsonValue: nonEmptyText(65536, 'JSON text, for lists and objects, such as \'{"hours": 1}\'.'),
    secretKeyRef: {
      type: 'object',
      description: 'The value of a Secret’s key.',
      properties: { name: secretName, key: secretKey },
      required: ['name', 'key'],
    },
    fileSecretKeyRef: {
      type: 'object',
      description: 'A file that is uploaded with the value of a Secret’s key as its content.',
      properties: {
        name: secretName,
        key: secretKey,
        fileName: {
          type: 'string',
          description: 'Name of the uploaded file. Default: the key.',
          pattern: '^[A-Za-z0-9_][A-Za-z0-9 _.-]*$',
          maxLength: 255,
        },
      },
      required: ['name', 'key'],
    },
  },
  'x-kubernetes-validations': [
    {
      rule: '[has(self.value), has(self.jsonValue), has(self.secretKeyRef), has(self.fileSecretKeyRef)].filter(given, given).size() == 1',
      message: 'exactly one of value, jsonValue, secretKeyRef and fileSecretKeyRef must be set',
    },
  ],
} as const satisfies Schema;

const answers = { type: 'object', additionalProperties: answer, maxProperties: 64 } as const satisfies Schema;

type Answers = Infer<typeof answers>;

const spec = {
  type: 'object',
  description: 'Desired integration, configured as a person would in the hub’s UI.',
  properties: {
    ...hubObjectSpec,
    domain: {
      type: 'string',
      description: 'Domain of the integration, such as `mqtt`. It cannot be changed.',
      pattern: '^[a-z0-9_]+$',
      maxLength: 64,
      'x-kubernetes-validations': [
        immutable('domain cannot be changed: delete this resource and create one for the other integration'),
      ],
    },
    enabled: flagWithDefault(
      true,
      'False: the entry is disabled in the hub: it stays there with its entities, and is not loaded. Default true.',
    ),
    title: nonEmptyText(
      255,
      'Title of the config entry, which the entry gets. An existing entry of this domain and title is adopted, and several ' +
        'entries of one domain are distinguished. Absent: the answer to the field `name` counts as title when an entry to ' +
        'adopt is looked for; without one, the entry of an integration that allows a single one is adopted, the only entry ' +
        'of the domain if nothing is configured here, or the one that the flow names as already configured.',
    ),
    configuration: {
      ...answers,
      description:
        'Answers to the forms, by `field`, or `section.field` in a form with sections. Each has exactly one of value, ' +
        'jsonValue, secretKeyRef and fileSecretKeyRef. At most 64. An entry that is adopted keeps its answers until they ' +
        'change here. Default: none.',
    },
    steps: {
      type: 'array',
      description:
        'Answers step by step, for flows of several steps and menus. A step that the hub does not show is no mistake. ' +
        'Absent: each form is answered from `configuration` by field name.',
      items: {
        type: 'object',
        properties: {
          stepId: nonEmptyText(128, 'The hub’s id of the step, such as `user`.'),
          menuOption: nonEmptyText(128, 'The option to choose, if the step is a menu.'),
          values: {
            ...answers,
            description:
              'Answers to the step’s form; missing ones are taken from `configuration`. At most 64.',
          },
        },
        required: ['stepId'],
        'x-kubernetes-validations': [
          {
            rule: '!(has(self.menuOption) && has(self.values))',
            message: 'steps: a step is a menu (menuOption) or a form (values): remove one of the two',
            fieldPath: '.menuOption',
          },
        ],
      },
      maxItems: 16,
    },
    options: {
      ...answers,
      description:
        'Answers to the options form, applied again when they change. One overrides the answer of `configuration` or ' +
        '`steps` to the same field. At most 64. Absent: the options are not changed.',
    },
    subentries: {
      type: 'array',
      description:
        'Subentries, if the integration supports them, each type and title once. Absent: they are not changed.',
      items: {
        type: 'object',
        properties: {
          type: nonEmptyText(128, 'Type of the subentry, as the integration names it.'),
          title: nonEmptyText(255, 'Title of the subentry.'),
          values: { ...answers, description: 'Answers to the subentry’s form. At most 64.' },
        },
        required: ['type', 'title'],
      },
      maxItems: 64,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type', 'title'],
    },
    adopt: {
      type: 'string',
      description: 'Allowed (default): an existing entry is adopted. Never: it is not.',
      enum: ['Allowed', 'Never'],
      default: 'Allowed',
    },
    reconfigure: {
      type: 'string',
      description:
        'How a change of `configuration` or `steps` is applied. Prefer (default): by the reconfiguration or the options form ' +
        'of the integration, so that the entry and its entities survive. Where none of the two takes it, the reason is ' +
        '`RecreateRequired`, and nothing is done. Recreate: the flow of the integration runs with the new answers, and ' +
        'if they are valid, the entry is replaced.',
      enum: ['Prefer', 'Recreate'],
      default: 'Prefer',
    },
  },
  required: ['hubRef', 'domain'],
} as const satisfies Schema;

const status = hubObjectStatusWith({
  entryID: text('Id of the config entry in the hub.'),
  title: text('Title of the entry in the hub.'),
  entryState: text(
    'State of the entry, as reported by the hub, such as loaded, setup_retry or setup_error; or disabled.',
  ),
  configHash: text(
    'Hash of the answers that the entry has, and the name of its key. It is keyed with a random key in the Secret ' +
      '`<hub>-operator`, so that it reveals no secret. With another key the present answers are recorded again.',
  ),
  answerHashes: {
    type: 'object',
    description: 'The same by answer, such as `configuration.port`: what changed decides how it is applied.',
    additionalProperties: { type: 'string' },
  },
  rejectedHash: text(
    'Hash of answers that failed and are not sent again before they change, or what they failed at. Keyed as `configHash`.',
  ),
  unshownSteps: atomicTexts(
    'Steps of the spec that the hub did not show, by their index and step id: their changes have no effect.',
  ),
  adoptedSubentries: atomicTexts(
    'Subentries that existed before they were in the spec, such as `subentries.device/Lamp`. One that leaves the spec ' +
      'stays in the hub, unless `deletionPolicy` is Delete.',
  ),
  pendingFlow: {
    type: 'object',
    description: 'A flow in progress, so that it is ended and not completed twice after a crash.',
    properties: {
      startedAt: moment('When it was started.'),
      clockOffset: int32(
        'Seconds by which the hub’s clock was ahead of that of the operator then. Absent: it was not measured.',
      ),
      flowID: text('Id of the flow in the hub, which ends it after a crash.'),
      kind: text(
        'Of a flow that changes the entry: config, options or subentries. Absent: the flow makes an entry.',
      ),
      subentry: {
        type: 'object',
        description: 'The subentry that the flow makes.',
        properties: {
          type: text('Type of the subentry.'),
          title: text('Its title, which it gets after the flow.'),
          hash: text('Of its answers, as in `answerHashes`.'),
          replaces: text('Id of the subentry that is removed when this one has been made.'),
          subentryIDs: atomicTexts(
            'Subentries that the entry had before. Another one is the result of this flow.',
          ),
        },
      },
      replaces: text(
        'Id of the entry that is removed: the one before `entryID`; or `entryID`, if the flow is to run after that.',
      ),
      entryIDs: atomicTexts('Entries that the domain had before. Another one is the result of this flow.'),
      configHash: text('Of a flow that replaces an entry: hash of its answers.'),
      madeID: text('Id of the entry that the flow has made for certain, until the hub has set it up.'),
    },
  },
});

export const integration = defineChild({
  kind: 'HubIntegration',
  rank: 3,
  shortNames: ['haint'],
  description:
    'HubIntegration is one integration of a Home Assistant instance (the hub), such as MQTT: a config entry.',
  spec,
  status,
  columns: [
    { name: 'Domain', type: 'string', jsonPath: '.spec.domain' },
    { name: 'Title', type: 'string', jsonPath: '.status.title' },
    { name: 'State', type: 'string', jsonPath: '.status.entryState' },
  ],
  references: (resource) => {
    const { configuration, options, steps = [], subentries = [] } = resource.spec;
    const given = [
      configuration,
      options,
      ...steps.map(({ values }) => values),
      ...subentries.map(({ values }) => values),
    ];
    return [...hubAndToken(resource), ...secretReferences(...new Set(given.flatMap(secretsOf)))];
  },
  validated: true,
  // Without a title, the answers distinguish entries of one domain.
  identityField: 'spec.title',
  identity: ({ spec: { domain, title, configuration, steps } }) =>
    `${domain}/${title ?? JSON.stringify([configuration, steps])}`,
  // Two resources with equal answers may each have an entry from the time when only the entry id was the
  // identity.
  keptObject: ({ spec: { title }, status: { entryID } = {} }) => (title === undefined ? entryID : undefined),
  access: [
    // The HMAC key of `configHash` is in the Secret `<hub>-operator`.
    { apiGroup: '', resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch'] },
  ],
});

function secretsOf(given: Answers = {}): readonly (string | undefined)[] {
  return Object.values(given).map(
    ({ secretKeyRef, fileSecretKeyRef }) => (secretKeyRef ?? fileSecretKeyRef)?.name,
  );
}

export type HubIntegration = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubIntegrationSpec = Defaulted<typeof spec>;
export type HubIntegrationStatus = Infer<typeof status>;
/** A flow of a resource that is open in the hub. */
export type PendingFlow = NonNullable<HubIntegrationStatus['pendingFlow']>;
