import { childSpec, hubColumn, hubOfChild, hubReference, readyColumn } from './child';
import { defineKind } from './kind';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { secretKey, secretName, secretReferences } from './secret-reference';
import { commonStatus } from './status';

const spec = {
  type: 'object',
  description: 'The secrets of one hub.',
  properties: {
    ...childSpec,
    secretRefs: {
      type: 'array',
      description:
        'The Secrets that are gathered, in order: of two values with one name the later wins. At least one.',
      items: {
        type: 'object',
        properties: {
          name: secretName,
          keys: {
            type: 'array',
            description: 'The keys that are taken, under their own names. Absent, and no `items`: all keys.',
            items: { type: 'string', minLength: 1, maxLength: 253 },
            maxItems: 256,
            'x-kubernetes-list-type': 'set',
          },
          items: {
            type: 'array',
            description: 'Keys that are taken under another name. Default: none.',
            items: {
              type: 'object',
              properties: {
                key: secretKey,
                as: {
                  type: 'string',
                  description: 'The name for `!secret`. Not `logger`, which the hub swallows.',
                  pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]*$',
                  maxLength: 253,
                  'x-kubernetes-validations': [
                    {
                      rule: "self != 'logger' && !self.startsWith('hub_operator')",
                      message:
                        'as: the hub swallows a secret called logger, and hub_operator… is the operator’s: choose another name',
                    },
                  ],
                },
              },
              required: ['key', 'as'],
            },
            maxItems: 256,
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['as'],
          },
        },
        required: ['name'],
      },
      minItems: 1,
      maxItems: 64,
    },
    autoRestart: {
      type: 'boolean',
      description:
        'Restart the hub when a value changes. False: the new values are there after its next restart. Default true.',
      default: true,
    },
  },
  required: ['hubRef', 'secretRefs'],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...commonStatus,
    secretsHash: {
      type: 'string',
      description: 'Hash (`sha256:<hex>`) of the generated content, which is salted.',
    },
    keys: { type: 'integer', format: 'int32', description: 'How many secrets the hub is given.' },
  },
} as const satisfies Schema;

export const secrets = defineKind({
  kind: 'HubSecrets',
  plural: 'hubsecrets',
  singular: 'hubsecret',
  shortNames: ['hubsec'],
  description:
    'HubSecrets gathers Secrets of the cluster into the secrets.yaml of a hub, for `!secret` in its configuration.',
  spec,
  status,
  columns: [hubColumn, { name: 'Secrets', type: 'integer', jsonPath: '.status.keys' }, readyColumn],
  hubName: hubOfChild,
  references: (resource) => [
    hubReference(resource),
    ...secretReferences(...resource.spec.secretRefs.map(({ name }) => name)),
  ],
  // All of a hub's secrets become one file.
  identity: () => 'secrets',
  owns: ['Secret'],
  access: [
    { apiGroup: '', resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  ],
});

export type HubSecrets = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubSecretsSpec = Defaulted<typeof spec>;
export type HubSecretsStatus = Infer<typeof status>;
