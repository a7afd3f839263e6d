import {
  configuration,
  type Hub,
  hub,
  type HubConfiguration,
  secrets as secretsKind,
  type HubSecrets,
  type Resource,
} from '../kinds';
import type { KindDefinition } from '../kinds/kind';
import type { CustomResource } from '../kinds/resource';
import { isConfigMapOfHub, objectNames } from '../kinds/object-names';
import { isObject } from '../base/is-object';
import { identityInHub } from '../runtime/id-ownership';
import { refusalOf, reservation } from '../runtime/named-secret';
import { objectKeyOf } from '../runtime/object-key';
import type { NamedConfigMap } from '../sync/configuration/generate/given-files';
import type { ReadSecrets } from '../sync/secrets-yaml/secrets-yaml';
import type { ClusterState } from '../webhook/cluster-state';

/** A Secret in a manifest. */
export interface GivenSecret {
  readonly type?: unknown;
  readonly metadata?: {
    readonly name?: unknown;
    readonly namespace?: unknown;
    readonly labels?: unknown;
  };
  readonly data?: unknown;
  readonly stringData?: unknown;
}

/** A ConfigMap in a manifest. */
export interface GivenConfigMap {
  readonly metadata?: { readonly name?: unknown; readonly namespace?: unknown };
  readonly data?: unknown;
  readonly binaryData?: unknown;
}

/**
 * The state that the rules of the webhook read, built from objects in files instead of a cluster. A resource
 * sees the resources that were added before it, as if all were applied one by one. Secrets of its hub are
 * visible regardless of the order.
 */
export class GivenState implements ClusterState {
  private readonly added = new Set<string>();
  /** Resources by identity, then by key. */
  private readonly byIdentity = new Map<string, Map<string, CustomResource>>();

  /** @param resources all resources that will be added */
  constructor(
    private readonly resources: readonly CustomResource[],
    private readonly secrets: readonly GivenSecret[],
    private readonly configMaps: readonly GivenConfigMap[] = [],
  ) {}

  /** Whether a resource of the same kind, namespace and name was added before. */
  has(resource: CustomResource): boolean {
    return this.added.has(objectKeyOf(resource));
  }

  /**
   * Adds a resource. Like a second `kubectl apply`, it replaces an earlier resource with the same kind,
   * namespace and name, whose claim on an object in the hub ends.
   */
  add(definition: KindDefinition, resource: CustomResource): void {
    const key = objectKeyOf(resource);
    if (this.added.has(key)) for (const resources of this.byIdentity.values()) resources.delete(key);
    this.added.add(key);
    const identity = identityInHub(definition, resource);
    if (identity === undefined) return;
    const resources = this.byIdentity.get(identity) ?? new Map<string, CustomResource>();
    this.byIdentity.set(identity, resources.set(key, resource));
  }

  othersWithIdentity(definition: KindDefinition, resource: CustomResource): readonly CustomResource[] {
    const identity = identityInHub(definition, resource);
    const all = identity === undefined ? [] : [...(this.byIdentity.get(identity)?.values() ?? [])];
    return all.filter((other) => objectKeyOf(other) !== objectKeyOf(resource));
  }

  /**
   * The keys of the hub's secrets, without values. They are not known if there is no HubSecrets, or if it
   * takes all keys of a Secret that is not in the files.
   */
  secretsOf(namespace: string, hub: string): ReadSecrets | undefined {
    const source = this.resources.find(
      (resource) =>
        resource.kind === secretsKind.kind &&
        resource.metadata.namespace === namespace &&
        secretsKind.hubName(resource as unknown as HubSecrets) === hub,
    ) as HubSecrets | undefined;
    const keys = source?.spec.secretRefs.map(({ name, keys: chosen, items }) =>
      chosen === undefined && items === undefined
        ? this.keysOf(namespace, name)
        : [...(chosen ?? []), ...(items ?? []).map((item) => item.as)],
    );
    if (!keys?.every((each) => each !== undefined)) return undefined;
    return { values: new Map(keys.flat().map((key) => [key, ''])), kept: new Set(), hash: '', salt: '' };
  }

  /**
   * The entries of a ConfigMap in the files. A ConfigMap that the operator itself generates for a hub in the
   * files is only marked as such. @returns undefined if it is neither
   */
  configMap(namespace: string, name: string): NamedConfigMap | undefined {
    const isGenerated = this.hubsOf(namespace).some((each) => isConfigMapOfHub(each, name));
    if (isGenerated) return { isOfOperator: true };
    return configMapIn(this.configMaps, namespace, name);
  }

  /**
   * The Secrets that the resource refers to but must not use, one sentence each. Only the Hubs and Secrets in
   * the files are considered.
   */
  refusedSecrets(definition: KindDefinition, resource: CustomResource): string[] {
    const given = resource as unknown as Resource<object, object>;
    const { namespace } = resource.metadata;
    const hubName = definition.hubName(given);
    const isHub = resource.kind === hub.kind;
    const hubs = this.resources.filter(
      (each): each is Hub => each.kind === hub.kind && each.metadata.namespace === namespace,
    );
    // The references of a Hub do not tell which of them is for the owner's login.
    const use = isHub ? 'OwnerLogin' : undefined;
    return secretsNamedIn(definition, given).flatMap((name) => {
      const { type, metadata } = this.secretOf(namespace, name) ?? {};
      const marks = {
        type: typeof type === 'string' ? type : undefined,
        labels: isObject(metadata?.labels) ? (metadata.labels as Record<string, string>) : undefined,
      };
      const problem = refusalOf(marks) ?? reservation({ hub: hubName, name, use }, hubs);
      return problem === undefined ? [] : `The Secret ${name} that the spec names ${problem}`;
    });
  }

  /**
   * The names of the hubs of a namespace, from its Hubs and its HubConfigurations: the files may lack the Hub
   * itself.
   */
  private hubsOf(namespace: string): readonly string[] {
    const given = this.resources.filter(({ metadata }) => metadata.namespace === namespace);
    return given.flatMap((each) => {
      if (each.kind === hub.kind) return [hub.hubName(each)];
      return each.kind === configuration.kind
        ? [configuration.hubName(each as unknown as HubConfiguration)]
        : [];
    });
  }

  private secretOf(namespace: string, name: string): GivenSecret | undefined {
    return this.secrets.find(
      ({ metadata }) => metadata?.name === name && (metadata.namespace ?? '') === namespace,
    );
  }

  private keysOf(namespace: string, name: string): readonly string[] | undefined {
    const secret = this.secretOf(namespace, name);
    return (
      secret && [secret.data, secret.stringData].flatMap((part) => (isObject(part) ? Object.keys(part) : []))
    );
  }
}

/** @returns undefined if no ConfigMap has this name */
export function configMapIn(
  configMaps: readonly GivenConfigMap[],
  namespace: string,
  name: string,
): NamedConfigMap | undefined {
  const found = configMaps.find(
    ({ metadata }) => metadata?.name === name && (metadata.namespace ?? '') === namespace,
  );
  return found && { data: textsOf(found.data), binaryData: textsOf(found.binaryData) };
}

const textsOf = (part: unknown): Readonly<Record<string, string>> =>
  isObject(part)
    ? Object.fromEntries(
        Object.entries(part).filter((each): each is [string, string] => typeof each[1] === 'string'),
      )
    : {};

/**
 * The Secrets to which the spec refers. The references of a child also contain generated Secrets of its Hub,
 * whose names depend on the name of the hub: these are left out. A Hub may refer to its own Secrets.
 */
function secretsNamedIn(definition: KindDefinition, resource: Resource<object, object>): string[] {
  const secretsOf = (each: Resource<object, object>) =>
    definition
      .references(each)
      .filter(({ kind }) => kind === 'Secret')
      .map(({ name }) => name);
  const hubName = definition.hubName(resource);
  if (definition.kind === hub.kind) {
    const { secrets, apiToken, admin } = objectNames(hubName);
    const generated: readonly string[] = [secrets, apiToken, admin];
    return secretsOf(resource).filter((name) => !generated.includes(name));
  }
  const elsewhere = { ...resource, spec: { ...resource.spec, hubRef: { name: `not-${hubName}` } } };
  const named = new Set(secretsOf(elsewhere));
  return [...new Set(secretsOf(resource))].filter((name) => named.has(name));
}
