import { chosenId, registryName } from '../../kinds/ids';
import type { Resource } from '../../kinds/resource';
import type { EntryIdentity } from './entry-type';

/** Entries whose names are unique. */
export const byName: EntryIdentity = {
  of: ({ spec }) => registryName(spec.name),
  ofEntry: (_, { name }) => registryName(name),
  isName: true,
  newName: ({ spec }) => spec.name,
  specOf: () => ({}),
};

/** Characters of an id that a spec can have. */
const LONGEST_ID = 64;

/** Entries whose ids a person chooses. The hub makes the id of the name when it creates an entry, and keeps it. */
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
 * The id that the hub makes of a name: lower case, `_` for all but letters and digits, no accents. Undefined: a name with other
 * letters or signs, which it transcribes or drops.
 */
function slugOf(name: string): string | undefined {
  const plain = name.normalize('NFD').replace(/\p{Mn}/gu, '');
  if (!/^[A-Za-z0-9 _.'()/-]+$/.test(plain)) return undefined;
  return plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^_|_$/g, '');
}
