import { readSettings, type Settings, SettingsRefused } from '../../operator/process/settings';
import type { ClusterObject } from '../../operator/runtime/objects';

/** The fields of an operator's container that contain its settings. */
export interface OperatorContainer {
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

/**
 * The scope of an operator's Deployment. `settings` is undefined if they cannot be read: the operator then
 * does not start.
 */
interface Installation {
  readonly namespace: string;
  readonly settings: Pick<Settings, 'leaseName' | 'watchNamespaces' | 'watchNamespaceSelector'> | undefined;
}

/**
 * Reads the settings from a Deployment. Values from other sources, such as the name of the pod, are ignored.
 */
export function installationOf({
  metadata: { namespace = '' },
  spec,
}: ClusterObject & {
  readonly spec: {
    readonly template: { readonly spec: { readonly containers?: readonly OperatorContainer[] } };
  };
}): Installation {
  const [{ args = [], env = [] } = {}] = spec.template.spec.containers ?? [];
  const given = env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  try {
    return { namespace, settings: readSettings(args, Object.fromEntries(given)) };
  } catch (error) {
    if (error instanceof SettingsRefused) return { namespace, settings: undefined };
    throw error;
  }
}

/**
 * A message that two installations reconcile the same namespaces; undefined if they do not, or share a Lease.
 */
export function sharedBy(first: Installation, second: Installation): string | undefined {
  const [one, other] = [first.settings, second.settings];
  if (!one || !other) return undefined;
  if (first.namespace === second.namespace && one.leaseName === other.leaseName) return undefined;
  const isAll = (each: typeof one) => each.watchNamespaces.length === 0 && !each.watchNamespaceSelector;
  if (one.watchNamespaceSelector || other.watchNamespaceSelector) {
    if (isAll(one) || isAll(other))
      return 'both work in the namespaces that WATCH_NAMESPACE_SELECTOR selects';
    const isSame = one.watchNamespaceSelector === other.watchNamespaceSelector;
    return `${isSame ? 'both' : 'may both'} work in the namespaces that WATCH_NAMESPACE_SELECTOR selects`;
  }
  if (isAll(one) && isAll(other)) return 'both work in all namespaces';
  const names = isAll(one) ? other.watchNamespaces : one.watchNamespaces;
  const shared =
    isAll(one) || isAll(other) ? names : names.filter((name) => other.watchNamespaces.includes(name));
  return shared.length === 0 ? undefined : `both work in the namespace ${shared.join(', ')}`;
}
