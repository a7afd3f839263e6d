/**
 * The object id that the hub makes of a name: `Hall, off!` is `hall_off`. Of other letters than Latin the hub makes Latin ones, which this
 * does not: no entity id begins with such a name.
 */
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/[\p{Diacritic}’]|(?<=\d),(?=\d)/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replaceAll(/[^\p{L}\d]+/gu, '_')
    .replaceAll(/^_|_$/g, '');

/** The entity id that an entity would have if another one had not had it; undefined: its own does not tell of that. */
export function takenEntityId(domain: string, name: string, entityId: string): string | undefined {
  const expected = `${domain}.${slugOf(name)}`;
  return entityId.startsWith(`${expected}_`) && /^\d+$/.test(entityId.slice(expected.length + 1))
    ? expected
    : undefined;
}
