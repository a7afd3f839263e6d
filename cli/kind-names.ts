import { hub, kinds } from '../operator/kinds';
import type { KindDefinition } from '../operator/kinds/kind';
import { type Cluster, resourceType } from './cluster';
import { CommandError } from './command-error';
import { meantBy, orElse } from './suggestion';

/** All names that kubectl accepts for a kind, in lower case. */
const byName: ReadonlyMap<string, KindDefinition> = new Map(
  kinds.flatMap((definition) =>
    [definition.kind.toLowerCase(), definition.plural, definition.singular, ...definition.shortNames].map(
      (name) => [name, definition] as const,
    ),
  ),
);

/** A resource that an argument names. */
export interface Target {
  readonly definition: KindDefinition;
  readonly name: string;
}

/**
 * Parses `KIND/NAME`, where KIND is any name that kubectl accepts; `NAME` alone is a Hub. @throws
 * CommandError
 */
function parseTarget(argument: string): Target {
  const slash = argument.indexOf('/');
  const [kind, name] =
    slash < 0 ? [undefined, argument] : [argument.slice(0, slash), argument.slice(slash + 1)];
  if (!name || name.includes('/'))
    throw new CommandError(`${argument} names no resource: write KIND/NAME, or the name of a Hub`);
  return { definition: kind === undefined ? hub : kindNamed(kind), name };
}

/**
 * Like {@link parseTarget}, but a name alone may also be that of the only other resource with this name.
 *
 * @param fitting the kinds to choose from; default: all
 * @throws CommandError
 */
export async function findTarget(
  cluster: Cluster,
  argument: string,
  fitting: readonly KindDefinition[] = kinds,
): Promise<Target> {
  const target = parseTarget(argument);
  if (argument.includes('/')) return target;
  const { name } = target;
  if (fitting.includes(hub) && (await cluster.api.find(resourceType(hub), cluster.namespace, name)))
    return target;
  const { resources } = await cluster.listReadable();
  const found = fitting.filter(({ kind }) =>
    resources.get(kind)?.some(({ metadata }) => metadata.name === name),
  );
  const [only] = found;
  if (only && found.length === 1) return { definition: only, name };
  const ways = found.map(({ shortNames, singular }) => `${shortNames[0] ?? singular}/${name}`);
  if (found.length > 1)
    throw new CommandError(`several resources are called ${name}: write ${ways.join(' or ')}`);
  const nouns = fitting.includes(hub)
    ? 'Hub and no other resource'
    : fitting.length > 3
      ? 'resource with an object in a hub'
      : fitting.map(({ kind }) => kind).join(' or ');
  const meant = meantBy(
    name,
    fitting.flatMap(({ kind }) => resources.get(kind) ?? []),
  );
  const wayOut = orElse(meant?.metadata.name, 'write KIND/NAME, or choose the namespace with -n');
  throw new CommandError(`no ${nouns} in the namespace ${cluster.namespace} is called ${name}: ${wayOut}`);
}

/** @throws CommandError */
export function kindNamed(name: string): KindDefinition {
  const definition = byName.get(name.toLowerCase().replace(/\..*$/, ''));
  if (definition) return definition;
  throw new CommandError(`there is no kind ${name}: use one of ${kinds.map(({ kind }) => kind).join(', ')}`);
}

/** The word for a kind in a sentence, such as `floor` for HubFloor. */
export function nounOf(kind: string): string {
  if (kind === hub.kind) return 'hub';
  return kind
    .replace(/^Hub(?=[A-Z])/, '')
    .replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter}`)
    .toLowerCase();
}
