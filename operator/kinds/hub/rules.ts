import type { CelRule } from '../schema';
import type { workload } from './workload';

/**
 * The CEL rules over several fields of a Hub, by name. Each has a test case with the same name in
 * __tests__/schema/rules/hub.ts.
 */

/** Fields without a default that apply only to a hub that the operator runs. */
const workloadFields = [
  'imagePullPolicy',
  'imagePullSecrets',
  'resources',
  'podTemplate',
  'storage',
  'service',
  'ingress',
  'gateway',
  'networkPolicy',
] as const;

/**
 * Every default that the API server ever filled in for these fields. Stored objects keep the default of the
 * time when they were created, so a new default is added here and no old one removed.
 */
const persistedDefaults = {
  version: ['stable'],
  image: ['ghcr.io/home-assistant/home-assistant'],
  hostNetwork: [false],
} as const satisfies Partial<Record<keyof typeof workload, readonly unknown[]>>;

/**
 * CEL expressions that are true of a spec without fields for a hub that the operator runs, apart from
 * defaults.
 */
const noWorkload = [
  ...Object.entries(persistedDefaults).map(
    ([field, values]) => `self.${field} in [${values.map(literal).join(', ')}]`,
  ),
  ...workloadFields.map((field) => `!has(self.${field})`),
].join(' && ');

/** A value as a CEL literal. */
function literal(value: string | boolean): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** Suffixes of Secret names that do not hold the API token; see `objectNames`. */
const takenSuffixes = ['-admin', '-secrets', '-operator', '-tls'];
const takenNames = takenSuffixes.map((suffix) => `self.metadata.name + '${suffix}'`).join(', ');

const tokenSecret = 'self.spec.bootstrap.apiTokenSecretName';
const noTokenSecret = `!has(self.spec.bootstrap) || !has(${tokenSecret})`;

/**
 * CEL: whether a field of `storage` is unchanged. An absent field equals `absentValue`. (`self.?storage`
 * would be shorter, but the API server cannot bound the cost of comparing optionals.)
 */
function unchanged(field: string, absentValue: string): string {
  const valueOf = (spec: string) =>
    `(has(${spec}.storage) && has(${spec}.storage.${field}) ? ${spec}.storage.${field} : ${absentValue})`;
  return `${valueOf('self')} == ${valueOf('oldSelf')}`;
}

/** CEL rules over the whole object. */
export const objectRules = {
  nameFitsPod: {
    // The label with the pod's name and a hash is limited to 63 characters: from 53 characters on, a
    // StatefulSet cannot create the pod.
    rule: "self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
    message:
      'metadata.name of a Hub has at most 52 characters, begins with a letter and consists of lower-case letters, digits and -',
    fieldPath: '.metadata.name',
  },
  tokenSecretIsFree: {
    rule: `${noTokenSecret} || !(${tokenSecret} in [${takenNames}])`,
    message:
      'bootstrap.apiTokenSecretName: the Secret of that name holds other data of this Hub: choose another name',
    fieldPath: '.spec.bootstrap.apiTokenSecretName',
  },
  tokenSecretIsNotCredentials: {
    rule: `${noTokenSecret} || !has(self.spec.bootstrap.credentials) || ${tokenSecret} != self.spec.bootstrap.credentials.secretRef.name`,
    message: 'bootstrap.apiTokenSecretName: that Secret holds the owner’s credentials: choose another name',
    fieldPath: '.spec.bootstrap.apiTokenSecretName',
  },
} as const satisfies Record<string, CelRule>;

/** CEL rules over `spec`. */
export const specRules = {
  externalIsImmutable: {
    rule: 'has(self.external) == has(oldSelf.external)',
    message: 'external cannot be added to or removed from a Hub: delete it and create a new one',
    fieldPath: '.external',
  },
  externalHasNoWorkload: {
    rule: `!has(self.external) || (${noWorkload})`,
    message: `external: a hub that runs elsewhere has no version, image, hostNetwork, ${workloadFields.slice(0, -1).join(', ')} or networkPolicy: remove them`,
    fieldPath: '.external',
  },
  storageClassIsImmutable: {
    rule: unchanged('storageClassName', "'(default)'"),
    message:
      'storage.storageClassName cannot be changed: create a new Hub and move the data, or use storage.existingClaim',
    fieldPath: '.storage.storageClassName',
  },
  accessModesAreImmutable: {
    rule: unchanged('accessModes', "['ReadWriteOnce']"),
    message:
      'storage.accessModes cannot be changed: create a new Hub and move the data, or use storage.existingClaim',
    fieldPath: '.storage.accessModes',
  },
} as const satisfies Record<string, CelRule>;
