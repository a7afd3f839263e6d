import { suspend } from '../child';
import { readyColumn } from '../columns';
import { flagWithDefault } from '../fields';
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
import { objectRules, specRules } from './rules';
import { generatedSecrets, secretsInSpec } from './secrets';
import { service } from './service';
import { status } from './status';
import { storage } from './storage';
import { workload } from './workload';

const spec = {
  type: 'object',
  description: 'Desired state of the Hub.',
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
        'Recovery when the hub bans the operator’s address after failed logins. Not for external hubs.',
      default: {},
      properties: {
        enabled: flagWithDefault(
          true,
          'True: the hub is restarted without the ban, at most 3 times in 30 minutes. False: the ban is only reported. Default true.',
        ),
      },
    },
    markManaged: flagWithDefault(
      true,
      'True: the entities of automations, scenes and scripts carry the label `Managed by Hub Operator` in the hub, so ' +
        'that people see what is defined in Kubernetes, and a resource that is restored without its status recognizes its ' +
        'object. False: the label is removed. Default true.',
    ),
    notifyHousehold: flagWithDefault(
      true,
      'True: when a change that someone made in the hub is taken back (driftPolicy: Correct), a notification in the hub says ' +
        'so and names the resource. It goes by itself after a day. False: only the event DriftDetected says so. Default true.',
    ),
    delivery: {
      type: 'string',
      description:
        'How automations, scenes and scripts are written to the hub. Api (default): one by one through its API; people ' +
        'can edit them in the hub. File: as mounted files with one reload for a burst; faster for hundreds, but ' +
        'read-only in the hub. A change moves what is there; nothing is lost, and the hub is not restarted.',
      enum: ['Api', 'File'],
      default: 'Api',
    },
    external,
  },
  'x-kubernetes-validations': Object.values(specRules),
} as const satisfies Schema;

export const hub = defineKind({
  kind: 'Hub',
  rank: 0,
  plural: 'hubs',
  singular: 'hub',
  // A short name `hub` would conflict with the singular.
  shortNames: [],
  description:
    'Hub is one Home Assistant instance, called the hub: the operator runs, sets up and maintains it, or manages one ' +
    'that runs elsewhere. A Hub that the operator runs needs a HubConfiguration.',
  spec,
  status,
  rules: Object.values(objectRules),
  columns: [
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    readyColumn,
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
  ],
  validated: true,
  hubName: ({ metadata }) => metadata.name ?? '',
  // HubConfiguration and HubSecrets refer to the Hub, which does not refer to them. The Hub depends on the
  // objects that they generate, whose names are fixed.
  references: ({
    metadata,
    spec: { bootstrap: setUp, backup: backups, external: elsewhere, ingress: front, storage: volume },
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
      ...hubOfClaim(volume?.existingClaim),
      ...secretReferences(...secrets, backups?.passwordSecretRef?.name),
      // Entries of integrations provide locations for backups.
      ...(backups?.agents ?? []).map(({ integrationRef: { name } }) => ({ kind: 'HubIntegration', name })),
    ];
  },
  reservedSecrets: (resource) => [
    ...generatedSecrets(resource.metadata.name, resource.spec.external !== undefined),
    ...secretsInSpec(resource).map(({ name }) => name),
  ],
  // Progress of bootstrap and backups is irrelevant to children: a Hub may have hundreds of them, which would
  // be reconciled for nothing.
  dependentStatus: (resource) => [
    isUsable(resource),
    isInRecoveryMode(resource),
    resource.status?.url,
    resource.status?.version,
    resource.status?.restartHeld,
  ],
  owns: [
    'PersistentVolumeClaim',
    'StatefulSet',
    // The StatefulSet creates the pod with labels of the operator. The status of the pod becomes part of the
    // Hub's status.
    'Pod',
    'Service',
    'Ingress',
    'NetworkPolicy',
    'ConfigMap',
    'Secret',
  ],
  access,
});

/**
 * The Hub that owns the volume claim which another Hub refers to: when that Hub is deleted, the claim is
 * free.
 */
function hubOfClaim(claim = ''): { readonly kind: string; readonly name: string }[] {
  const { volumeClaim: suffix } = objectNames('');
  return claim.endsWith(suffix) ? [{ kind: 'Hub', name: claim.slice(0, -suffix.length) }] : [];
}

/**
 * Whether the hub runs and has accepted the token. The condition `Ready` is not used here: children can use a
 * running hub even if the Hub's spec has an error.
 */
export const isUsable = ({ status: observed }: Resource<unknown, Infer<typeof status>>): boolean =>
  observed?.url !== undefined && observed.phase === 'Running';

/** Whether the hub is in recovery mode, because it could not start with its configuration or its storage. */
export const isInRecoveryMode = ({ status: observed }: Resource<unknown, Infer<typeof status>>): boolean =>
  observed?.conditions?.some(({ type, reason }) => type === 'Ready' && reason === 'RecoveryMode') ?? false;

export type Hub = Resource<Infer<typeof spec>, Infer<typeof status>>;
export type HubSpec = Defaulted<typeof spec>;
export type HubStatus = Infer<typeof status>;
