import { childSpec, defineChild } from './child';
import { hubColumn, readyColumn } from './columns';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { statusWith } from './status';

const spec = {
  type: 'object',
  description: 'Desired community repository, at one version.',
  properties: {
    ...childSpec,
    category: {
      type: 'string',
      description: 'What the repository contains. It cannot be changed.',
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
        'The version: a tag or a commit. Do not name a branch: it moves, and the installed version would be unknown.',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._+/-]*$',
      maxLength: 255,
    },
  },
  required: ['hubRef', 'category', 'repository', 'ref'],
} as const satisfies Schema;

const status = statusWith({
  phase: {
    type: 'string',
    description: 'Progress of the installation.',
    enum: ['Pending', 'Validating', 'Installing', 'Installed', 'Failed', 'Removing'],
  },
  installedVersion: { type: 'string', description: 'The `ref` that is installed.' },
  target: { type: 'string', description: 'Folder below `/config` in which it is installed.' },
});

export const communityRepository = defineChild({
  kind: 'HubCommunityRepository',
  plural: 'hubcommunityrepositories',
  shortNames: ['hacr'],
  description:
    'HubCommunityRepository is one community integration, dashboard plugin, theme, Python script or template, installed ' +
    'into a Home Assistant instance (the hub) that the operator runs.',
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
  // GitHub compares owners and names without case.
  identity: ({ spec: { repository } }) => repository.toLowerCase(),
});

export type HubCommunityRepository = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubCommunityRepositorySpec = Defaulted<typeof spec>;
export type HubCommunityRepositoryStatus = Infer<typeof status>;
