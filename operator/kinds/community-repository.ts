import { childSpec, hubColumn, hubOfChild, readyColumn, talksToHub } from './child';
import { defineKind } from './kind';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { commonStatus } from './status';

const spec = {
  type: 'object',
  description: 'One community repository, at one version.',
  properties: {
    ...childSpec,
    category: {
      type: 'string',
      description: 'What the repository holds. It cannot be changed.',
      enum: ['integration', 'plugin', 'theme', 'python_script', 'template'],
      maxLength: 32,
      'x-kubernetes-validations': [
        {
          rule: 'self == oldSelf',
          message: 'category cannot be changed: delete this resource and create one of the other category',
        },
      ],
    },
    repository: {
      type: 'string',
      description: 'The repository, as `owner/name`.',
      pattern: '^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.-]+$',
      maxLength: 140,
    },
    ref: {
      type: 'string',
      description:
        'The version: a tag or a commit. A branch moves: what is installed would not be what was tried.',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._+/-]*$',
      maxLength: 255,
    },
  },
  required: ['hubRef', 'category', 'repository', 'ref'],
} as const satisfies Schema;

const status = {
  type: 'object',
  description: 'What the operator last saw and did.',
  properties: {
    ...commonStatus,
    phase: {
      type: 'string',
      description: 'How far the installation is.',
      enum: ['Pending', 'Validating', 'Installing', 'Installed', 'Failed', 'Removing'],
    },
    installedVersion: { type: 'string', description: 'The `ref` that is installed.' },
    target: { type: 'string', description: 'Folder below `/config` in which it is installed.' },
  },
} as const satisfies Schema;

export const communityRepository = defineKind({
  kind: 'HubCommunityRepository',
  plural: 'hubcommunityrepositories',
  singular: 'hubcommunityrepository',
  shortNames: ['hacr'],
  description:
    'HubCommunityRepository installs one community integration, dashboard plugin, theme, Python script or template ' +
    'into a hub that the operator runs.',
  spec,
  status,
  columns: [
    hubColumn,
    { name: 'Category', type: 'string', jsonPath: '.spec.category' },
    { name: 'Repository', type: 'string', jsonPath: '.spec.repository' },
    { name: 'Ref', type: 'string', jsonPath: '.spec.ref' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    readyColumn,
  ],
  hubName: hubOfChild,
  references: talksToHub,
  // GitHub compares owners and names without case.
  identity: ({ spec: { repository } }) => repository.toLowerCase(),
  access: [],
});

export type HubCommunityRepository = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubCommunityRepositorySpec = Defaulted<typeof spec>;
export type HubCommunityRepositoryStatus = Infer<typeof status>;
