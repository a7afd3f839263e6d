import { nearestName } from '../operator/base/nearest-name';
import type { CustomResource } from '../operator/kinds/resource';

/** The resource that a name is meant for: the one with this entity id, alias or name in its hub, else that of the nearest name. */
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

/** The way out of a message about a name that is not there, after a colon, with the name that may be meant. */
export const orElse = (meant: string | undefined, wayOut: string): string =>
  meant === undefined
    ? wayOut
    : `did you mean ${meant}? ${wayOut.replace(/^./, (first) => first.toUpperCase())}`;
