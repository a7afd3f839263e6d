import { OperationalError } from '../base/errors';
import { HUB_LABEL } from '../kinds/annotations';
import { hub as hubDefinition, type Hub } from '../kinds/hub';
import { generatedSecrets, secretsInSpec } from '../kinds/hub/secrets';
import { objectNames, OPERATOR_LABELS } from '../kinds/object-names';
import { FIELD_MANAGER, MANAGED_BY_LABEL } from './object-ownership';
import type { ClusterObject } from './objects';
import type { SecretContent, SecretReader } from './secrets';

/** A Secret to which the resource must not refer. The message is that of the condition. */
export class SecretRefused extends OperationalError {
  override readonly name = 'SecretRefused';
}

/** A reference to a Secret in the spec of a resource. */
interface NamedSecret {
  readonly namespace: string;
  /** Name of the Hub to which the resource belongs. */
  readonly hub: string;
  readonly name: string;
  /** Path of the reference, such as `spec.secretRefs[0]`. */
  readonly field: string;
  /** Absent if a resource other than the Hub refers to the Secret. */
  readonly use?: HubUse | undefined;
}

/**
 * The purpose for which a Hub refers to a Secret. Several Hubs may share one, such as the login of an
 * integrator. The Secret with the owner's login may be the one that was generated for another Hub, if this
 * Hub uses the volume of that one. The operator creates no token for an external hub, so a user may have
 * stored the token under a name that is reserved otherwise.
 */
export type HubUse = 'OwnerLogin' | 'ExternalToken' | 'Other';

/** The parts of a Secret that the rules read. */
type Marked = Pick<SecretContent, 'labels' | 'type'>;

/**
 * Types whose values are credentials for the cluster itself: with them a hub, or a server to which it
 * connects, could act in the cluster.
 */
const REFUSED_TYPES: ReadonlySet<string> = new Set([
  'kubernetes.io/service-account-token',
  'bootstrap.kubernetes.io/token',
  'helm.sh/release.v1',
]);

/**
 * Reads a Secret to which a resource refers (rules.md, "Secrets that a resource may name"). Every reference
 * in a spec is resolved here, because a user who may write a resource of a hub can have the hub send the
 * value anywhere.
 *
 * @returns undefined if there is no such Secret
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

/**
 * Why no resource may refer to the Secret, as the end of a sentence whose subject is the Secret. @returns
 * undefined if a resource may
 */
export function refusalOf({ type, labels }: Marked): string | undefined {
  if (type !== undefined && REFUSED_TYPES.has(type))
    return `has the type ${type}, whose values are for the cluster and not for a hub: ${ELSEWHERE}`;
  const isOwn =
    labels?.[MANAGED_BY_LABEL] === FIELD_MANAGER ||
    labels?.['app.kubernetes.io/name'] === OPERATOR_LABELS['app.kubernetes.io/name'];
  return isOwn ? OWN : undefined;
}

/**
 * Why the Secret is reserved for a Hub, as the end of a sentence like that of {@link refusalOf}. A Secret
 * that a user created in place of the operator, such as the login of a hub with an existing volume, is
 * reserved too. A Hub that is being deleted keeps its Secrets until it is gone.
 *
 * @param hubs the Hubs of the namespace
 * @returns undefined if the Secret is not reserved
 */
export function reservation(
  { hub, name, use }: Pick<NamedSecret, 'hub' | 'name' | 'use'>,
  hubs: Iterable<Hub>,
): string | undefined {
  // The names of the own Hub's Secrets are reserved before the Hub exists.
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
  /** The field that refers to each Secret, by name of the Secret. */
  readonly named: ReadonlyMap<string, string>;
}

/** Cached per version of the Hub, because each read of a Secret checks all Hubs of the namespace. */
const secretNames = new WeakMap<Hub, HubSecretNames>();

function secretsOf(hub: Hub): HubSecretNames {
  const known = secretNames.get(hub);
  if (known) return known;
  const fields = secretsInSpec(hub).map(({ name, field }) => [name, field] as const);
  const names = {
    generated: new Set(generatedSecrets(hub.metadata.name, hub.spec.external !== undefined)),
    named: new Map(fields.reverse()), // if several fields refer to one Secret, the first is shown
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
