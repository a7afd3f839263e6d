import { loadAll } from 'js-yaml';
import { type Scrub, scrubber } from '../../client/scrub';
import type { Hub } from '../../kinds';
import { objectNames } from '../../kinds/object-names';
import type { Services } from '../services';

/** Enough of a Hub to know where its secrets are. */
type NamedHub = { readonly metadata: Pick<Hub['metadata'], 'namespace' | 'name'> };

/** Masks the values of the hub's `secrets.yaml` in a text: the hub and its check quote its files, and so its secrets. */
export async function scrubOf(
  { secrets }: Services,
  { metadata: { namespace, name } }: NamedHub,
): Promise<Scrub> {
  const generated = await secrets.get(namespace, objectNames(name).secrets);
  // An empty file is no document.
  const [values] = loadAll(generated?.get('secrets.yaml') ?? '');
  return scrubber(Object.values(values ?? {}).map(String));
}
