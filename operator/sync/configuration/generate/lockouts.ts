import { isMap, isScalar, isSeq } from 'yaml';
import type { TopLevel } from './additions';
import { type Anchors, dereference, entryOf } from './merge-keys';

const NO_PASSWORD_LOGIN =
  'homeassistant.auth_providers in spec.configuration lacks type: homeassistant, so no user can log in by password: the operator could not make or renew its token. Add `- type: homeassistant`.';

/**
 * Sentences about sections that the hub accepts, but that lock the operator out of it. Sections in other
 * files are not read.
 */
export function lockoutsIn(sections: TopLevel, anchors: Anchors): readonly string[] {
  const core = dereference(sections.get('homeassistant') ?? null, anchors);
  const providers = isMap(core)
    ? dereference(entryOf(core, 'auth_providers', anchors) ?? null, anchors)
    : null;
  if (!isSeq(providers)) return [];
  const types = providers.items.map((item) => {
    const provider = dereference(item as Parameters<typeof dereference>[0], anchors);
    const type = isMap(provider) ? dereference(entryOf(provider, 'type', anchors) ?? null, anchors) : null;
    return isScalar(type) ? type.value : undefined;
  });
  // An include or a provider of unknown form may be the homeassistant provider.
  if (types.some((type) => type === undefined || type === 'homeassistant')) return [];
  return [NO_PASSWORD_LOGIN];
}
