import { OperationalError } from '../base/errors';
import { HUB_LABEL } from '../kinds/annotations';
import { objectNames, OPERATOR_LABELS } from '../kinds/object-names';
import { FIELD_MANAGER, MANAGED_BY_LABEL } from './object-ownership';
import type { SecretContent, SecretReader } from './secrets';

/** A Secret that the resource must not name. The message is that of the condition. */
export class SecretRefused extends OperationalError {
  override readonly name = 'SecretRefused';
}

/** A Secret that the spec of a resource names. */
export interface NamedSecret {
  readonly namespace: string;
  /** The Hub that the resource belongs to. */
  readonly hub: string;
  readonly name: string;
  /** The field with the reference, such as `spec.secretRefs[0]`. */
  readonly field: string;
  /** The operator makes no Secrets for an external hub: a person may have stored its token under such a name. */
  readonly isExternalToken?: boolean | undefined;
}

/** The part of a Secret that the rule looks at. */
export type Marked = Pick<SecretContent, 'labels' | 'type'>;

/**
 * Types whose values are for the cluster itself: with one of them a hub, or a server that it connects to, would act in
 * the cluster.
 */
const REFUSED_TYPES: ReadonlySet<string> = new Set([
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
  'helm.sh/release.v1',
]);

/**
 * Reads a Secret that a resource names (rules.md, "Secrets that a resource may name"). Every reference of a spec is resolved
 * here: who may write a resource of a hub can have the hub send a value anywhere.
 *
 * @returns undefined: there is no such Secret
 * @throws SecretRefused
 */
export async function readNamedSecret(
  { secrets, settings }: NamedSecretServices,
  { namespace, hub, name, field, isExternalToken = false }: NamedSecret,
): Promise<SecretContent | undefined> {
  const content = await secrets.find(namespace, name);
  if (!content) return undefined;
  const problem =
    refusalOf(content) ??
    (isExternalToken ? undefined : ownProblem(hub, name)) ??
    (settings.requireSecretLabel ? labelProblem(content, hub) : undefined);
  if (problem) throw new SecretRefused(`The Secret ${name} in ${field} ${problem}`);
  return content;
}

export interface NamedSecretServices {
  readonly secrets: Pick<SecretReader, 'find'>;
  readonly settings: { readonly requireSecretLabel: boolean };
}

/** Why no resource may name the Secret, as the end of a sentence that begins with the Secret; undefined: one may. */
export function refusalOf({ type, labels }: Marked): string | undefined {
  if (type !== undefined && REFUSED_TYPES.has(type))
    return `has the type ${type}, whose values are for the cluster and not for a hub: store the value that the hub needs in another Secret.`;
  const isOwn =
    labels?.[MANAGED_BY_LABEL] === FIELD_MANAGER ||
    labels?.['app.kubernetes.io/name'] === OPERATOR_LABELS['app.kubernetes.io/name'];
  return isOwn ? OWN : undefined;
}

/** Also a Secret that a person has made in the place of the operator, such as the login of a hub on a brought volume. */
function ownProblem(hub: string, name: string): string | undefined {
  const { admin, apiToken, operator, secrets } = objectNames(hub);
  const own: readonly string[] = [admin, apiToken, operator, secrets];
  return own.includes(name) ? OWN : undefined;
}

const OWN = 'is the operator’s own: store the value that the hub needs in another Secret.';

function labelProblem({ labels }: Marked, hub: string): string | undefined {
  const label = labels?.[HUB_LABEL];
  return label === hub || label === ''
    ? undefined
    : `lacks the label ${HUB_LABEL}: ${hub}, which the operator requires of each Secret that a resource names (REQUIRE_SECRET_LABEL): add the label.`;
}
