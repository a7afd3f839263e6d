import { loadAll, YAMLException } from 'js-yaml';
import { type Redact, redactor } from '../client/redact';
import type { Hub } from '../kinds';
import { objectNames } from '../kinds/object-names';
import type { Services } from './services';

/** Enough of a Hub to know where its secrets are. */
type NamedHub = { readonly metadata: Pick<Hub['metadata'], 'namespace' | 'name'> };

/** Masks the values of the hub's `secrets.yaml` in a text: the hub and its check quote its files, and so its secrets. */
export async function scrubOf(
  { secrets }: Services,
  { metadata: { namespace, name } }: NamedHub,
): Promise<Redact> {
  const generated = await secrets.get(namespace, objectNames(name).secrets);
  return redactor(secretValues(generated?.get('secrets.yaml') ?? ''));
}

/** The values of a `secrets.yaml`. */
export function secretValues(yaml: string): string[] {
  try {
    const [values] = loadAll(yaml); // an empty file is no document
    return Object.values(values ?? {}).map(String);
  } catch (error) {
    if (error instanceof YAMLException) return yaml.split('\n'); // somebody else's: not what we would write
    throw error;
  }
}
