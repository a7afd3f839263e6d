import type { ConfigEntityKind } from '../../client/connection/config-entity';
import { operatorAnnotations } from '../../kinds/annotations';
import { objectNames } from '../../kinds/object-names';
import type { ClusterObject } from '../../runtime/objects';
import { builtin } from '../../runtime/types';
import type { Services } from '../services';

/** The ids of the automations, scenes and scripts that the hub's own configuration defines, by kind. */
export type OwnDefinitions = Readonly<Partial<Record<ConfigEntityKind, readonly string[]>>>;

/** The annotation with these ids on the ConfigMap of the accepted configuration. Empty if there are none. */
export const definitionsAnnotation = (definitions: OwnDefinitions = {}): Readonly<Record<string, string>> =>
  Object.keys(definitions).length === 0
    ? {}
    : { [operatorAnnotations.definitions]: JSON.stringify(definitions) };

/** Reports whether the configuration that the hub has loaded defines an object of this id. */
export function isInConfiguration(
  { cache }: { readonly cache: Pick<Services['cache'], 'get'> },
  { namespace, hub }: { readonly namespace: string; readonly hub: string },
  kind: ConfigEntityKind,
  id: string,
): boolean {
  const { acceptedConfiguration } = objectNames(hub);
  const accepted = cache.get<ClusterObject>(builtin.ConfigMap.kind, namespace, acceptedConfiguration);
  return (accepted && idsIn(accepted, kind).has(id)) ?? false;
}

/** A cache of parsed annotations, since hundreds of resources read the ids of one hub. */
const parsed = new WeakMap<ClusterObject, Map<string, ReadonlySet<string>>>();

function idsIn(accepted: ClusterObject, kind: ConfigEntityKind): ReadonlySet<string> {
  const known = parsed.get(accepted) ?? new Map<string, ReadonlySet<string>>();
  parsed.set(accepted, known);
  const ids = known.get(kind) ?? new Set(definitionsIn(accepted)[kind]);
  known.set(kind, ids);
  return ids;
}

/** The ids in the annotation of {@link definitionsAnnotation}. Empty if a user has broken the annotation. */
export function definitionsIn({ metadata: { annotations } }: ClusterObject): OwnDefinitions {
  try {
    return (JSON.parse(annotations?.[operatorAnnotations.definitions] ?? '{}') ?? {}) as OwnDefinitions;
  } catch {
    return {};
  }
}
