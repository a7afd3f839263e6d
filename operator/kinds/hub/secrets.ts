import { objectNames } from '../object-names';
import type { Resource } from '../resource';
import type { Infer } from '../schema';
import type { backup } from './backup';
import type { bootstrap } from './bootstrap';
import type { external } from './external';
import type { ingress } from './ingress';
import type { workload } from './workload';

interface NamingSecrets {
  readonly bootstrap?: Infer<typeof bootstrap> | undefined;
  readonly external?: Infer<typeof external> | undefined;
  readonly backup?: Infer<typeof backup> | undefined;
  readonly ingress?: Infer<typeof ingress> | undefined;
  readonly imagePullSecrets?: Infer<typeof workload.imagePullSecrets> | undefined;
}

/** A Secret to which the spec of a Hub refers. */
interface NamedByHub {
  readonly name: string;
  /** Path of the field, such as `spec.backup.passwordSecretRef`. */
  readonly field: string;
}

/**
 * The Secrets that the operator generates for a hub. For an external hub these are only its own keys and the
 * hub's secrets.yaml.
 */
export function generatedSecrets(hub: string, isExternal: boolean): readonly string[] {
  const { admin, apiToken, operator, secrets } = objectNames(hub);
  return isExternal ? [operator, secrets] : [admin, apiToken, operator, secrets];
}

/**
 * The Secrets with logins, tokens, passwords and private keys to which the spec of a Hub refers. A
 * certificate authority (`caSecretRef`) is not included: it is public, and other resources may refer to its
 * Secret.
 */
export function secretsInSpec({ metadata, spec }: Resource<NamingSecrets>): readonly NamedByHub[] {
  const {
    bootstrap: setUp,
    external: elsewhere,
    backup: backups,
    ingress: front,
    imagePullSecrets = [],
  } = spec;
  const fields: readonly (readonly [field: string, name: string | undefined])[] = [
    ['bootstrap.credentials.secretRef', setUp?.credentials?.secretRef.name],
    ['bootstrap.apiTokenSecretName', setUp?.apiTokenSecretName],
    ['external.tokenSecretRef', elsewhere?.tokenSecretRef.name],
    ['backup.passwordSecretRef', backups?.passwordSecretRef?.name],
    ['ingress.tls', front?.tls && (front.tls.secretName ?? objectNames(metadata.name).certificate)],
    ...imagePullSecrets.map(({ name }, index) => [`imagePullSecrets[${index}]`, name] as const),
  ];
  return fields.flatMap(([field, name]) => (name === undefined ? [] : { field: `spec.${field}`, name }));
}
