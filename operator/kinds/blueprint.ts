import { exactlyOneOf } from './borrowed';
import { BLUEPRINT_PATH, CHECK_FOLDER } from './blueprint-path';
import { defineChild, hubAndToken, hubObjectSpec } from './child';
import { atomicTexts, immutable, objectName, text } from './fields';
import type { Reference } from './kind';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { hubObjectStatusWith } from './status';

/** The identity of the blueprint with this path. A path is unique within its domain. */
const blueprintIdentity = (domain: string, path: string): string => `${domain}/${path}`;

/**
 * The reference to the blueprint for which a definition of this domain waits. The list is empty if the
 * definition uses none.
 */
export function blueprintReference(
  domain: string,
  { useBlueprint }: { readonly useBlueprint?: { readonly path: string } },
): readonly Reference[] {
  if (!useBlueprint) return [];
  return [{ kind: 'HubBlueprint', name: blueprintIdentity(domain, useBlueprint.path) }];
}

const spec = {
  type: 'object',
  description: 'Desired blueprint. Exactly one of `content` and `configMapRef` has its text.',
  properties: {
    ...hubObjectSpec,
    domain: {
      type: 'string',
      description:
        'What is made of the blueprint: automations, scripts, or entities of the integration template, which the hub must have loaded. It cannot be changed.',
      enum: ['automation', 'script', 'template'],
      'x-kubernetes-validations': [
        immutable('domain cannot be changed: delete this resource and create it with the other domain'),
      ],
    },
    path: {
      type: 'string',
      description:
        'Path below the blueprint folder of the domain, such as `my-home/motion_light.yaml`, which `useBlueprint.path` names. A blueprint ' +
        'that the hub has there is adopted. It cannot be changed.',
      pattern: BLUEPRINT_PATH,
      maxLength: 255,
      'x-kubernetes-validations': [
        immutable('path cannot be changed: delete this resource and create it with the other path'),
        {
          rule: `!self.startsWith('${CHECK_FOLDER}/')`,
          message: `path: the operator itself uses the folder ${CHECK_FOLDER}: choose another one`,
        },
      ],
    },
    content: {
      type: 'string',
      description:
        'The blueprint, in the YAML of Home Assistant: `blueprint:` with `name`, `domain` and `input`, and the keys of the automation, script or ' +
        'template with `!input`. No other tag, such as `!secret`, is accepted. Up to 256 Ki characters.',
      minLength: 1,
      maxLength: 262144,
    },
    configMapRef: {
      type: 'object',
      description: 'The key of a ConfigMap that has the blueprint, as a file. Its changes are followed.',
      properties: {
        name: objectName('Name of the ConfigMap, in the namespace of this resource.'),
        key: objectName('Key inside the ConfigMap.'),
      },
      required: ['name', 'key'],
    },
    sourceUrl: {
      type: 'string',
      description:
        'Address from which the hub’s UI offers to import the blueprint again, which would replace this text until the operator puts it back. ' +
        'Absent: that in the text, else the one in the hub is kept. Removed from the spec: the one that the operator set is cleared.',
      pattern: '^https?://[^\\s]+$',
      maxLength: 2048,
    },
  },
  required: ['hubRef', 'domain', 'path'],
  'x-kubernetes-validations': [exactlyOneOf(['content', 'configMapRef'])],
} as const satisfies Schema;

const status = hubObjectStatusWith({
  path: text('Path of the blueprint in the hub.'),
  bodyHash: text(
    'Hash (`sha256:<hex>`) of the blueprint as the hub shows it: its metadata, and what becomes of given inputs.',
  ),
  users: {
    type: 'integer',
    description: 'Number of automations or scripts in the hub that use the blueprint.',
  },
  brokenUsers: atomicTexts(
    'Entities that use the blueprint and that the hub has disabled as invalid: at most 10.',
  ),
});

export const blueprint = defineChild({
  kind: 'HubBlueprint',
  rank: 3,
  shortNames: ['habp'],
  description:
    'Beta: HubBlueprint is one blueprint of a Home Assistant instance (the hub): a pattern of which automations, scripts or template entities are made.',
  spec,
  status,
  columns: [
    { name: 'Domain', type: 'string', jsonPath: '.spec.domain' },
    { name: 'Path', type: 'string', jsonPath: '.spec.path' },
    { name: 'Users', type: 'integer', jsonPath: '.status.users' },
  ],
  references: (resource) => [
    ...hubAndToken(resource),
    ...(resource.spec.configMapRef ? [{ kind: 'ConfigMap', name: resource.spec.configMapRef.name }] : []),
  ],
  identity: ({ spec: { domain, path } }) => blueprintIdentity(domain, path),
  identityField: 'spec.path',
  // Users of a blueprint wait for the outcome of the present spec, which may be Ready as that of the former one.
  dependentStatus: ({ status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready');
    return { ready: ready?.status, generation: ready?.observedGeneration };
  },
  access: [{ apiGroup: '', resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
});

export type HubBlueprint = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubBlueprintSpec = Defaulted<typeof spec>;
