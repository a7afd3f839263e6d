import { OperationalError } from '../base/errors';
import { HUB_LABEL } from '../kinds/annotations';
import { hub as hubDefinition, type Hub } from '../kinds/hub';
import { generatedSecrets, secretsInSpec } from '../kinds/hub/secrets';
import { objectNames, OPERATOR_LABELS } from '../kinds/object-names';
import { FIELD_MANAGER, MANAGED_BY_LABEL } from './object-ownership';
import type { ClusterObject } from './objects';
import type { SecretContent, SecretReader } from './secrets';

/** A Secret that the resource must not name. The message is that of the condition. */
export class SecretRefused extends OperationalError {
  override readonly name = 'SecretRefused';
}

/** A Secret that the spec of a resource names. */
interface NamedSecret {
  readonly namespace: string;
  /** The Hub that the resource belongs to. */
  readonly hub: string;
  readonly name: string;
  /** The field with the reference, such as `spec.secretRefs[0]`. */
  readonly field: string;
  /** Absent: another resource than the Hub names it. */
  readonly use?: HubUse | undefined;
}

/**
 * What a Hub itself names a Secret for. Hubs may share one, such as the login of an integrator. The owner's login may be the one that
 * was made for another Hub, whose volume this one has or gets. The operator makes no token for an external hub: a person may have stored it
 * under such a name.
 */
export type HubUse = 'OwnerLogin' | 'ExternalToken' | 'Other';

/** The part of a Secret that the rule looks at. */
type Marked = Pick<SecretContent, 'labels' | 'type'>;

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
  { cache, secrets, settings }: NamedSecretServices,
  { namespace, hub, name, field, use }: NamedSecret,
): Promise<SecretContent | undefined> {
  const content = await secrets.find(namespace, name);
  if (!content) return undefined;
  const problem =
    refusalOf(content) ??
    reservation({ hub, name, use }, cache.list<Hub>(hubDefinition.kind, namespace)) ??
    (settings.requireSecretLabel ? labelProblem(content, hub) : undefined);
  if (problem) throw new SecretRefused(`The Secret ${name} in ${field} ${problem}`);
  return content;
}

export interface NamedSecretServices {
  readonly cache: { list<T extends ClusterObject>(kind: string, namespace: string): Iterable<T> };
  readonly secrets: Pick<SecretReader, 'find'>;
  readonly settings: { readonly requireSecretLabel: boolean };
}

/** Why no resource may name the Secret, as the end of a sentence that begins with the Secret; undefined: one may. */
export function refusalOf({ type, labels }: Marked): string | undefined {
  if (type !== undefined && REFUSED_TYPES.has(type))
    return `has the type ${type}, whose values are for the cluster and not for a hub: ${ELSEWHERE}`;
  const isOwn =
    labels?.[MANAGED_BY_LABEL] === FIELD_MANAGER ||
    labels?.['app.kubernetes.io/name'] === OPERATOR_LABELS['app.kubernetes.io/name'];
  return isOwn ? OWN : undefined;
}

/**
 * Why the Secret is one of a Hub, as the end of a sentence like that of {@link refusalOf}; undefined: it is none. Also a Secret that a
 * person has made in the place of the operator, such as the login of a hub on a brought volume. A Hub that is being deleted has its Secrets
 * until it is gone.
 *
 * @param hubs those of the namespace
 */
export function reservation(
  { hub, name, use }: Pick<NamedSecret, 'hub' | 'name' | 'use'>,
  hubs: Iterable<Hub>,
): string | undefined {
  // The own Hub may come later than the resource.
  if (use !== 'ExternalToken' && generatedSecrets(hub, false).includes(name)) return OWN;
  for (const each of hubs) {
    const { generated, named } = secretsOf(each);
    const other = each.metadata.name;
    const isOther = other !== hub && generated.has(name);
    const isLogin = use === 'OwnerLogin' && isOther && name === objectNames(other).admin;
    if (isOther && !isLogin) return `is that of the Hub ${other}: ${ELSEWHERE}`;
    const field = use === undefined && named.get(name);
    if (field) return `is that of the Hub ${other}, which names it in ${field}: ${ELSEWHERE}`;
  }
  return undefined;
}

interface HubSecretNames {
  readonly generated: ReadonlySet<string>;
  /** The field that names each. */
  readonly named: ReadonlyMap<string, string>;
}

/** By the object of the cache, which another version replaces: each read of a Secret looks at all Hubs of the namespace. */
const secretNames = new WeakMap<Hub, HubSecretNames>();

function secretsOf(hub: Hub): HubSecretNames {
  const known = secretNames.get(hub);
  if (known) return known;
  const fields = secretsInSpec(hub).map(({ name, field }) => [name, field] as const);
  const names = {
    generated: new Set(generatedSecrets(hub.metadata.name, hub.spec.external !== undefined)),
    named: new Map(fields.reverse()), // of several fields the first one is shown
  };
  secretNames.set(hub, names);
  return names;
}

const ELSEWHERE = 'store the value that the hub needs in another Secret.';
const OWN = `is the operator’s own: ${ELSEWHERE}`;

function labelProblem({ labels }: Marked, hub: string): string | undefined {
  const label = labels?.[HUB_LABEL];
  return label === hub || label === ''
    ? undefined
    : `lacks the label ${HUB_LABEL}: ${hub}, which the operator requires of each Secret that a resource names (REQUIRE_SECRET_LABEL): add the label.`;
}
