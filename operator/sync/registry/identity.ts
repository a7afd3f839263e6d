import { chosenId, registryName } from '../../kinds/ids';
import type { Resource } from '../../kinds/resource';
import type { EntryIdentity } from './entry-type';

/** Identity of entries with unique names. */
export const byName: EntryIdentity = {
  of: ({ spec }) => registryName(spec.name),
  ofEntry: (_, { name }) => registryName(name),
  isName: true,
  newName: ({ spec }) => spec.name,
  specOf: () => ({}),
};

/** Maximum number of characters of an id in a spec. */
const LONGEST_ID = 64;

/**
 * Identity of entries whose ids users choose. The hub derives the id from the name when it creates an entry,
 * and never changes it.
 */
export const byId: EntryIdentity = {
  of: (resource) => chosenId(resource as Resource<{ readonly id?: string }>),
  ofEntry: (id) => id,
  isName: false,
  newName: (resource) => {
    const id = byId.of(resource);
    const { name } = resource.spec;
    return slugOf(name) === id ? name : id;
  },
  specOf: (id) => (id.length > LONGEST_ID ? {} : { id }),
};

/**
 * The id that the hub derives from a name: in lower case, without accents, and with `_` for everything except
 * letters and digits.
 *
 * @returns undefined when the name has other letters or characters, which the hub transliterates or drops
 */
export function slugOf(name: string): string | undefined {
  const plain = name.normalize('NFD').replace(/\p{Mn}/gu, '');
  if (!/^[A-Za-z0-9 _.'()/-]+$/.test(plain)) return undefined;
  return plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}
