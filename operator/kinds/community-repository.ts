import { childSpec, defineChild, hubAndToken, hubOfChild } from './child';
import { atomicTexts, immutable, text } from './fields';
import type { Resource } from './resource';
import type { Defaulted, Infer, Schema } from './schema';
import { secretKeyRef, secretReferences } from './secret-reference';
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
        immutable('category cannot be changed: delete this resource and create one of the other category'),
      ],
    },
    repository: {
      type: 'string',
      description: 'The repository, as `owner/name`.',
      pattern: '^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9_.-]*[A-Za-z0-9_-][A-Za-z0-9_.-]*$',
      maxLength: 140,
    },
    ref: {
      type: 'string',
      description:
        'The version: a tag or a commit. Do not name a branch: it moves, and the installed version would be unknown. Of a ' +
        'repository that attaches its files to its releases, the tag of a release.',
      pattern: '^[A-Za-z0-9][A-Za-z0-9._+/-]*$',
      maxLength: 255,
      'x-kubernetes-validations': [
        {
          rule: "!self.contains('..')",
          message: 'ref contains two dots in a row, which no tag does: correct it',
        },
      ],
    },
    digest: {
      type: 'string',
      description:
        'Digest (`sha256:<hex>`) of the files that may be installed, as in `status.digest`. Other files are refused ' +
        '(`DigestMismatch`). Absent: what the code host has under `ref` is installed.',
      pattern: '^sha256:[0-9a-f]{64}$',
      maxLength: 71,
    },
    tokenSecretRef: secretKeyRef(
      'Secret with a token for a private repository. It is sent to the code host of the operator only. Absent: no token.',
      'token',
    ),
  },
  required: ['hubRef', 'category', 'repository', 'ref'],
} as const satisfies Schema;

const status = statusWith({
  phase: {
    type: 'string',
    description: 'Progress of the installation.',
    enum: ['Pending', 'Validating', 'Installing', 'Installed', 'Failed', 'Removing'],
  },
  installedVersion: text('The `ref` that is installed.'),
  installedRepository: text('The `repository` that is installed.'),
  target: text('Folder or file below `/config` to which it is installed.'),
  digest: text(
    'Digest (`sha256:<hex>`) of the installed files: of the list that `sha256sum` prints for them, sorted by path.',
  ),
  activeDigest: text('Digest of the files that the hub has loaded.'),
  provides: atomicTexts(
    'What the hub gets by it: the domain of an integration, the names of themes, the URL of a plugin, the name of a ' +
      'Python script or of a template.',
  ),
  claimUID: text(
    'UID of the PersistentVolumeClaim on which it is installed: another volume gets the files again.',
  ),
  installationID: text(
    'Changes when files were written to the volume: the hub is then restarted to load an integration.',
  ),
});

export const communityRepository = defineChild({
  kind: 'HubCommunityRepository',
  rank: 7,
  plural: 'hubcommunityrepositories',
  shortNames: ['hacr'],
  description:
    'HubCommunityRepository is one community integration, dashboard plugin, theme, Python script or template, installed ' +
    'into a Home Assistant instance (the hub) that the operator runs.',
  spec,
  status,
  columns: [
    { name: 'Category', type: 'string', jsonPath: '.spec.category' },
    { name: 'Repository', type: 'string', jsonPath: '.spec.repository' },
    { name: 'Ref', type: 'string', jsonPath: '.spec.ref' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  ],
  references: (resource) => [
    ...hubAndToken(resource),
    // The configuration decides whether the hub loads themes and Python scripts.
    { kind: 'HubConfiguration', name: `configuration of ${hubOfChild(resource)}` },
    ...secretReferences(resource.spec.tokenSecretRef?.name),
  ],
  // GitHub compares owners and names without case.
  identity: ({ spec: { repository } }) => repository.toLowerCase(),
  // The pod that writes the files to the volume, and the Secrets that contain them.
  owns: ['Pod', 'Secret'],
  access: [
    { apiGroup: '', resources: ['pods'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
    { apiGroup: '', resources: ['secrets'], verbs: ['get', 'list', 'watch', 'create', 'patch', 'delete'] },
  ],
});

export type HubCommunityRepository = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubCommunityRepositorySpec = Defaulted<typeof spec>;
export type HubCommunityRepositoryStatus = Infer<typeof status>;
