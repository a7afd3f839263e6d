import type { BoundedTasks } from '../../operator/base/bounded-task';
import { isObject } from '../../operator/base/is-object';
import { hub as hubKind } from '../../operator/kinds';
import { API_GROUP } from '../../operator/kinds/group';
import { filesOf, read } from '../../operator/offline/files';
import { type Finding, findingsOf, isConfigMap, isOurs } from '../../operator/offline/findings';
import { type Manifest, readManifestsWithin, type SyntaxProblem } from '../../operator/offline/manifests';
import { CommandError } from '../command-error';

/** The resources of one Hub in files. */
export interface HomeFiles {
  /** Undefined if the resources have no namespace. */
  readonly namespace?: string;
  readonly hub: string;
  /** The resources, and the ConfigMaps from the files. */
  readonly manifests: readonly Manifest[];
  /** Errors for which the operator would not deliver the resources. */
  readonly errors: readonly Finding[];
  /** Files with resources from the folders that the user named. */
  readonly filesInFolders: readonly string[];
}

export interface HubChoice {
  readonly hub?: string;
  readonly namespace?: string;
}

/**
 * Reads the resources of the chosen Hub.
 *
 * @param paths files, directories, or `-` for the standard input
 * @throws NotRead, CommandError
 */
export async function readHome(
  paths: readonly string[],
  choice: HubChoice,
  input: () => Promise<string>,
  texts: BoundedTasks,
): Promise<HomeFiles> {
  const found: (Manifest | SyntaxProblem)[] = [];
  const filesInFolders: string[] = [];
  for (const path of paths) {
    if (path === '-') found.push(...(await readManifestsWithin(texts, 'stdin', await input())));
    else
      for (const file of await filesOf(path)) {
        const manifests = await read(file, file === path, texts);
        if (file !== path && manifests.some((each) => 'object' in each && isOurs(each)))
          filesInFolders.push(file);
        found.push(...manifests);
      }
  }
  const manifests = found.filter((each) => 'object' in each);
  const unreadable = found.filter((each): each is SyntaxProblem => !('object' in each));
  const syntax = unreadable.map((each) => ({ ...each, severity: 'error' as const, object: 'file' }));
  const ours = manifests.filter(isOurs);
  if (ours.length === 0 && syntax.length === 0) throw new CommandError(nothingIn(paths));
  const { chosen, ...place } = choose(ours, choice);
  const others = manifests.filter((each) => !isOurs(each));
  const findings = await findingsOf([...chosen, ...others], texts);
  const errors = [...syntax, ...findings.filter(({ severity }) => severity === 'error')];
  return { ...place, manifests: [...chosen, ...others.filter(isConfigMap)], errors, filesInFolders };
}

function nothingIn(paths: readonly string[]): string {
  const named = paths.length === 0 ? 'beside the tests' : `in ${paths.join(', ')}`;
  return `there is no resource of ${API_GROUP} ${named}: name the folder or the files of the home as well, or - to read what kustomize build prints`;
}

/**
 * Chooses the resources of one Hub. Resources without a valid reference to a Hub are included, so that their
 * error is reported.
 */
function choose(
  ours: readonly Manifest[],
  { hub, namespace }: HubChoice,
): { readonly hub: string; readonly namespace?: string; readonly chosen: readonly Manifest[] } {
  const placed = placesOf(ours, namespace);
  const places = new Map(
    placed.flatMap((each) => (each.hub === undefined ? [] : [[keyOfPlace(each), each] as const])),
  );
  const fitting = [...places.values()].filter(
    (each) =>
      (hub === undefined || each.hub === hub) && (namespace === undefined || each.namespace === namespace),
  );
  const all = [...places.keys()].sort().join(', ');
  if (places.size > 0 && fitting.length === 0)
    throw new CommandError(
      `there is no resource of the Hub ${namespace === undefined ? '' : `${namespace}/`}${hub ?? '(any)'} in these files: they have those of ${all}`,
    );
  if (fitting.length > 1)
    throw new CommandError(
      `the files have the resources of ${fitting.length} Hubs (${all}): choose one with --hub NAME, and with -n NAMESPACE if two have the same name`,
    );
  const [place] = fitting;
  const chosen = placed.filter(
    (each) => each.hub === undefined || (place && keyOfPlace(each) === keyOfPlace(place)),
  );
  return {
    hub: place?.hub ?? '',
    ...(place?.namespace !== undefined && { namespace: place.namespace }),
    chosen: chosen.map(({ manifest }) => manifest),
  };
}

interface Place {
  readonly hub?: string;
  readonly namespace?: string;
}

const keyOfPlace = ({ hub, namespace }: Place): string =>
  namespace === undefined ? `${hub}` : `${namespace}/${hub}`;

/**
 * The namespace of each resource. A resource without one gets that of the option -n, or else that of the
 * other resources of its Hub.
 */
function placesOf(
  ours: readonly Manifest[],
  namespace: string | undefined,
): (Place & { readonly manifest: Manifest })[] {
  const namespaces = new Map<string | undefined, Set<string>>();
  for (const manifest of ours) {
    const own = namespaceOf(manifest);
    if (own === undefined) continue;
    const hub = hubOf(manifest);
    namespaces.set(hub, (namespaces.get(hub) ?? new Set()).add(own));
  }
  return ours.map((manifest) => {
    const hub = hubOf(manifest);
    const others = [...(namespaces.get(hub) ?? [])];
    const place = namespaceOf(manifest) ?? namespace ?? (others.length === 1 ? others[0] : undefined);
    return { manifest, ...(hub !== undefined && { hub }), ...(place !== undefined && { namespace: place }) };
  });
}

function hubOf({ object: { kind, metadata, spec } }: Manifest): string | undefined {
  const reference = isObject(spec) ? spec['hubRef'] : undefined;
  const named = kind === hubKind.kind ? metadata : reference;
  const name = isObject(named) ? named['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}

function namespaceOf({ object: { metadata } }: Manifest): string | undefined {
  const namespace = isObject(metadata) ? metadata['namespace'] : undefined;
  return typeof namespace === 'string' && namespace !== '' ? namespace : undefined;
}
