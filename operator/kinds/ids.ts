import type { Resource } from './resource';

/** Under which id or name the hub knows what a resource describes. */

/** An automation's or a scene's: `spec.id`, or `metadata.name` (spec: "Hub API calls", rule 2). */
export function effectiveId({ metadata, spec }: Resource<{ readonly id?: string }>): string {
  return spec.id || (metadata.name ?? '');
}

/** A script's: as above, but the hub takes only slugs as script ids. `movie-night.v2` → `movie_night_v2` */
export function scriptId(script: Resource<{ readonly id?: string }>): string {
  return effectiveId(script).replace(/[-._]+/g, '_');
}

/**
 * A floor's, label's or area's name as the hub compares it: case folded, blanks removed. `Ground  Floor` is
 * `groundfloor`, `Ground-Floor` is another one. JavaScript cannot fold case; where folding differs from lower case in
 * living languages (German ß, Greek final sigma) it is done here.
 */
export function registryName(name: string): string {
  return name.toLowerCase().replaceAll('ß', 'ss').replaceAll('ς', 'σ').replaceAll(' ', '');
}

/**
 * The entity id that the hub gives a *new* scene of this name: `Movie Night` → `scene.movie_night`. It holds for Latin
 * letters; a taken id gets `_2`, a renamed scene keeps its old one. The hub's entity registry is the truth.
 */
export function sceneEntityId(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return `scene.${plain.replace(/[^a-z0-9]+/g, '_').replace(/^_|_$/g, '')}`;
}
