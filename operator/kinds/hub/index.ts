import { readyColumn, suspend } from '../child';
import { defineKind } from '../kind';
import { objectNames } from '../object-names';
import type { Resource } from '../resource';
import type { Defaulted, Infer, Schema } from '../schema';
import { secretReferences } from '../secret-reference';
import { access } from './access';
import { backup } from './backup';
import { bootstrap } from './bootstrap';
import { external } from './external';
import { gateway } from './gateway';
import { ingress } from './ingress';
import { networkPolicy } from './network-policy';
import { service } from './service';
import { status } from './status';
import { storage } from './storage';
import { workload } from './workload';

/** True of a spec that asks for nothing that only a hub run by the operator has. Defaults ask for nothing. */
const noWorkload = [
  `self.version == '${workload.version.default}'`,
  `self.image == '${workload.image.default}'`,
  '!self.hostNetwork',
  ...[
    'imagePullPolicy',
    'imagePullSecrets',
    'resources',
    'podTemplate',
    'storage',
    'service',
    'ingress',
    'gateway',
    'networkPolicy',
  ].map((field) => `!has(self.${field})`),
].join(' && ');

/**
 * A field of `storage` that stays what it was, where absent means `standsFor`. (`self.?storage` would be shorter, but the
 * API server cannot bound the cost of comparing optionals.)
 */
function unchanged(field: string, standsFor: string): string {
  const valueOf = (spec: string) =>
    `(has(${spec}.storage) && has(${spec}.storage.${field}) ? ${spec}.storage.${field} : ${standsFor})`;
  return `${valueOf('self')} == ${valueOf('oldSelf')}`;
}

/** How the names of Secrets end that hold something else than the API token; see `objectNames`. */
const takenSecrets = ['-admin', '-secrets', '-operator', '-tls'];

/** A rule of the whole Hub about the name of the Secret with the API token, where it has one. */
function apiTokenSecretName(rule: (name: string) => string): string {
  const field = 'self.spec.bootstrap.apiTokenSecretName';
  return `!has(self.spec.bootstrap) || !has(${field}) || ${rule(field)}`;
}

const spec = {
  type: 'object',
  description: 'What hub there shall be.',
  properties: {
    suspend,
    ...workload,
    storage,
    service,
    ingress,
    gateway,
    networkPolicy,
    bootstrap,
    backup,
    banRecovery: {
      type: 'object',
      description:
        'What happens when the hub bans the operator’s address after failed logins. Not for external hubs.',
      default: {},
      properties: {
        enabled: {
          type: 'boolean',
          description:
            'True: the hub is restarted without the ban on the operator, at most 3 times in 30 minutes. False: it is only reported. Default true.',
          default: true,
        },
      },
    },
    delivery: {
      type: 'string',
      description:
        'How automations, scenes and scripts get into the hub. Api (default): one by one through its API; people can ' +
        'still edit them there. File: as mounted files with one reload for a burst, much faster for hundreds, but ' +
        'read-only in the hub; this version of the operator does not know it yet, and says so (`NotYetSupported`).',
      enum: ['Api', 'File'],
      default: 'Api',
    },
    external,
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.external) == has(oldSelf.external)',
      message: 'external cannot be added to or removed from a Hub: delete it and create a new one',
      fieldPath: '.external',
    },
    {
      rule: `!has(self.external) || (${noWorkload})`,
      message:
        'external: a hub that runs elsewhere has no version, image, hostNetwork, imagePullPolicy, imagePullSecrets, ' +
        'resources, podTemplate, storage, service, ingress, gateway or networkPolicy here: remove them',
      fieldPath: '.external',
    },
    {
      rule: unchanged('storageClassName', "'(default)'"),
      message:
        'storage.storageClassName cannot be changed: create a new Hub and move the data, or use storage.existingClaim',
      fieldPath: '.storage.storageClassName',
    },
    {
      rule: unchanged('accessModes', "['ReadWriteOnce']"),
      message:
        'storage.accessModes cannot be changed: create a new Hub and move the data, or use storage.existingClaim',
      fieldPath: '.storage.accessModes',
    },
  ],
} as const satisfies Schema;

/**
 * Conditions: `Ready`, `BootstrapReady`, `StorageReady`, `BackupConfigured`, `CertManagerAvailable`,
 * `BanRecoveryFailed`, `Exposed`.
 */
export const hub = defineKind({
  kind: 'Hub',
  plural: 'hubs',
  singular: 'hub',
  // `hub` is the singular already; as a short name it would conflict.
  shortNames: [],
  description:
    'Hub is one Home Assistant: the operator runs it, sets it up and keeps it well, or looks after one that runs ' +
    'elsewhere. A Hub that the operator runs needs a HubConfiguration.',
  spec,
  status,
  rules: [
    {
      // A StatefulSet's pod carries the name in a label with a hash: it fails to be created from 53 characters on.
      rule: "self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
      message:
        'metadata.name of a Hub has at most 52 characters, begins with a letter and is made of lower-case letters, digits and -',
      fieldPath: '.metadata.name',
    },
    {
      rule: apiTokenSecretName(
        (name) =>
          `!(${name} in [${takenSecrets.map((suffix) => `self.metadata.name + '${suffix}'`).join(', ')}])`,
      ),
      message:
        'bootstrap.apiTokenSecretName: the Secret of that name holds other things of this Hub: give the one of the token another name',
      fieldPath: '.spec.bootstrap.apiTokenSecretName',
    },
    {
      rule: apiTokenSecretName(
        (name) =>
          `!has(self.spec.bootstrap.credentials) || ${name} != self.spec.bootstrap.credentials.secretRef.name`,
      ),
      message:
        'bootstrap.apiTokenSecretName: that Secret holds the owner’s credentials: give the one of the token another name',
      fieldPath: '.spec.bootstrap.apiTokenSecretName',
    },
  ],
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    readyColumn,
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
  ],
  hubName: ({ metadata }) => metadata.name ?? '',
  // HubConfiguration and HubSecrets name the Hub, not the other way round. What the Hub waits for are the objects that
  // they generate, and those have fixed names.
  references: ({
    metadata,
    spec: { bootstrap: setUp, backup: backups, external: elsewhere, ingress: front },
  }) => {
    const names = objectNames(metadata.name ?? '');
    const secrets = elsewhere
      ? [elsewhere.tokenSecretRef.name, elsewhere.caSecretRef?.name]
      : [
          names.secrets,
          setUp?.apiTokenSecretName ?? names.apiToken,
          setUp?.credentials?.secretRef.name ?? names.admin,
          front?.tls && (front.tls.secretName ?? names.certificate),
        ];
    return [
      ...(elsewhere ? [] : [{ kind: 'ConfigMap', name: names.configuration }]),
      ...secretReferences(...secrets, backups?.passwordSecretRef?.name),
    ];
  },
  owns: [
    'PersistentVolumeClaim',
    'StatefulSet',
    // Made by the StatefulSet, with our labels: what it says of itself is what the Hub says.
    'Pod',
    'Service',
    'Ingress',
    'NetworkPolicy',
    'ConfigMap',
    'Secret',
  ],
  access,
});

export type Hub = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubSpec = Defaulted<typeof spec>;
export type HubStatus = Infer<typeof status>;
