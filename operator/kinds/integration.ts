import { hubColumn, hubObjectSpec, hubOfChild, readyColumn, talksToHub } from './child';
import { defineKind } from './kind';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { secretKey, secretName, secretReferences } from './secret-reference';
import { hubObjectStatus } from './status';

const answer = {
  type: 'object',
  properties: {
    value: {
      type: 'string',
      description:
        'Text, turned into the type that the form asks for: "8" becomes a number, "true" a boolean.',
      maxLength: 65536,
    },
    jsonValue: {
      type: 'string',
      description: 'JSON text, for lists and objects, such as \'{"hours": 1}\'.',
      minLength: 1,
      maxLength: 65536,
    },
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
  description: 'One integration, set up as a person would in the hub’s UI.',
  properties: {
    ...hubObjectSpec,
    domain: {
      type: 'string',
      description: 'The integration, such as `mqtt`. It cannot be changed.',
      pattern: '^[a-z0-9_]+$',
      maxLength: 64,
      'x-kubernetes-validations': [
        {
          rule: 'self == oldSelf',
          message: 'domain cannot be changed: delete this resource and create one for the other integration',
        },
      ],
    },
    title: {
      type: 'string',
      description:
        'Title of the entry in the hub. With it, an entry of this domain and title is adopted, and several of one ' +
        'domain are told apart. Absent: only a domain’s single entry is adopted.',
      minLength: 1,
      maxLength: 255,
    },
    configuration: {
      ...answers,
      description:
        'Answers to the forms, by `field`, or `section.field` in a form with sections. Each has exactly one of value, ' +
        'jsonValue, secretKeyRef and fileSecretKeyRef. At most 64. Default: none.',
    },
    steps: {
      type: 'array',
      description:
        'Answers step by step, for flows of several steps and menus. Absent: each form is answered from ' +
        '`configuration` by field name.',
      items: {
        type: 'object',
        properties: {
          stepId: {
            type: 'string',
            description: 'The hub’s id of the step, such as `user`.',
            minLength: 1,
            maxLength: 128,
          },
          menuOption: {
            type: 'string',
            description: 'The option that is chosen where the step is a menu.',
            minLength: 1,
            maxLength: 128,
          },
          values: {
            ...answers,
            description:
              'Answers to the step’s form; `configuration` gives those that are missing. At most 64.',
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
        'Answers to the options form, applied again when they change. At most 64. Default: untouched.',
    },
    subentries: {
      type: 'array',
      description:
        'Entries below the entry, where the integration has them, each type and title once. Default: untouched.',
      items: {
        type: 'object',
        properties: {
          type: {
            type: 'string',
            description: 'Type of the subentry, as the integration names it.',
            minLength: 1,
            maxLength: 128,
          },
          title: { type: 'string', description: 'Title of the subentry.', minLength: 1, maxLength: 255 },
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
      description: 'Allowed (default): an entry that is already in the hub is taken over. Never: it is not.',
      enum: ['Allowed', 'Never'],
      default: 'Allowed',
    },
    reconfigure: {
      type: 'string',
      description:
        'How a change gets into the hub. Prefer (default): the entry is reconfigured, so that its entities survive, and ' +
        'only made anew where the integration has no other way. Recreate: it is always removed and made anew.',
      enum: ['Prefer', 'Recreate'],
      default: 'Prefer',
    },
  },
  required: ['hubRef', 'domain'],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...hubObjectStatus,
    entryID: { type: 'string', description: 'Id of the entry in the hub.' },
    entryState: {
      type: 'string',
      description: 'State of the entry, as the hub says, such as loaded, setup_retry or setup_error.',
    },
    configHash: {
      type: 'string',
      description:
        'Hash of what the entry was made from, keyed with a random key, so that it gives no secret away.',
    },
    pendingFlow: {
      type: 'object',
      description: 'A set-up that was begun, so that it is not done twice after a crash.',
      properties: {
        startedAt: {
          type: 'string',
          format: 'date-time',
          description: 'When its last step was about to be sent.',
        },
      },
    },
  },
} as const satisfies Schema;

export const integration = defineKind({
  kind: 'HubIntegration',
  plural: 'hubintegrations',
  singular: 'hubintegration',
  shortNames: ['haint'],
  description:
    'HubIntegration is one integration of a hub, such as MQTT: an entry that the hub’s set-up forms make.',
  spec,
  status,
  columns: [
    hubColumn,
    { name: 'Domain', type: 'string', jsonPath: '.spec.domain' },
    { name: 'Title', type: 'string', jsonPath: '.spec.title' },
    { name: 'State', type: 'string', jsonPath: '.status.entryState' },
    readyColumn,
  ],
  hubName: hubOfChild,
  references: (resource) => {
    const { configuration, options, steps = [], subentries = [] } = resource.spec;
    const given = [
      configuration,
      options,
      ...steps.map(({ values }) => values),
      ...subentries.map(({ values }) => values),
    ];
    return [...talksToHub(resource), ...secretReferences(...new Set(given.flatMap(secretsOf)))];
  },
  // Which entry is wanted is only known once it was found or made.
  identity: ({ status: seen }) => seen?.entryID,
  access: [
    // The key of `configHash`, in the Secret `<hub>-operator`.
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
