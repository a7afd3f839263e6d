import { childSpec, defineChild, hubOfChild, hubReference } from './child';
import { flagWithDefault, int32, text } from './fields';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { secretKey, secretName, secretReferences } from './secret-reference';
import { statusWith } from './status';

const spec = {
  type: 'object',
  description: 'Desired secrets of one hub.',
  properties: {
    ...childSpec,
    secretRefs: {
      type: 'array',
      description:
        'The Secrets whose values are combined, in order: of two values with one name the later one is used. Values are ' +
        'UTF-8 text, and the hub gets each exactly as it is. While a Secret or a key is missing, the last values stay. At ' +
        'least one.',
      items: {
        type: 'object',
        properties: {
          name: secretName,
          keys: {
            type: 'array',
            description: 'The keys that are used, under their own names. Absent, and no `items`: all keys.',
            items: { type: 'string', minLength: 1, maxLength: 253 },
            maxItems: 256,
            'x-kubernetes-list-type': 'set',
          },
          items: {
            type: 'array',
            description: 'Keys that are used under another name. Default: none.',
            items: {
              type: 'object',
              properties: {
                key: secretKey,
                as: {
                  type: 'string',
                  description: 'The name for `!secret`. Not `logger`, which the hub ignores.',
                  pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]*$',
                  maxLength: 253,
                  'x-kubernetes-validations': [
                    {
                      rule: "self != 'logger' && !self.startsWith('hub_operator')",
                      message:
                        'as: the hub ignores a secret named logger, and names that begin with hub_operator are reserved: choose another name',
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
    autoRestart: flagWithDefault(
      true,
      'Restart the hub when a value changes that it cannot reload. False: the new value is used after its next restart. ' +
        'Default true.',
    ),
  },
  required: ['hubRef', 'secretRefs'],
} as const satisfies Schema;

const status = statusWith({
  secretsHash: text('Hash (`sha256:<hex>`) of the generated content, which is salted.'),
  keys: int32('Number of secrets that the hub gets.'),
});

export const secrets = defineChild({
  kind: 'HubSecrets',
  rank: 1,
  // The kind is a plural already, so that another `s` would be wrong.
  plural: 'hubsecrets',
  singular: 'hubsecret',
  shortNames: ['hubsec'],
  description:
    'HubSecrets is the secrets.yaml of a Home Assistant instance (the hub), combined from Secrets of the cluster, for ' +
    '`!secret` in its configuration.',
  spec,
  status,
  columns: [{ name: 'Secrets', type: 'integer', jsonPath: '.status.keys' }],
  // The HubConfiguration may pass a secret of its own to the hub: the URL of the recorder's database.
  references: (resource) => [
    hubReference(resource),
    { kind: 'HubConfiguration', name: `configuration of ${hubOfChild(resource)}` },
    ...secretReferences(...resource.spec.secretRefs.map(({ name }) => name)),
  ],
  // A hub has one HubSecrets, since it has one secrets.yaml.
  identity: (resource) => `secrets of ${hubOfChild(resource)}`,
  owns: ['Secret'],
  access: [
    { apiGroup: '', resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  ],
});

export type HubSecrets = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubSecretsSpec = Defaulted<typeof spec>;
