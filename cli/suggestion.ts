import { nearestName } from '../operator/base/nearest-name';
import type { CustomResource } from '../operator/kinds/resource';

/**
 * The resource that a wrong name probably means: the one with this entity id, alias or name in its hub, or
 * else the one with the nearest name.
 */
export function meantBy(name: string, resources: readonly CustomResource[]): CustomResource | undefined {
  const word = name.toLowerCase();
  const isWord = (text: unknown) => typeof text === 'string' && text.toLowerCase() === word;
  const inHub = resources.find(({ spec, status }) => {
    const { alias, name: shown } = spec as Readonly<Record<string, unknown>>;
    return [status?.['entityId'], alias, shown].some(isWord);
  });
  if (inHub) return inHub;
  const nearest = nearestName(
    word,
    resources.map(({ metadata }) => metadata.name),
  );
  return resources.find(({ metadata }) => metadata.name === nearest);
}

/**
 * The remedy in a message about a name that does not exist, after a colon. It suggests the name that the user
 * may have meant.
 */
export const orElse = (meant: string | undefined, wayOut: string): string =>
  meant === undefined
    ? wayOut
    : `did you mean ${meant}? ${wayOut.replace(/^./, (first) => first.toUpperCase())}`;
