/**
 * The object id that the hub derives from a name: `hall_off` from `Hall, off!`. The hub also transliterates
 * letters of other scripts to Latin. This function does not, so no entity id begins with its result for such
 * a name.
 */
const slugOf = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/[\p{Diacritic}’]|(?<=\d),(?=\d)/gu, '')
    .replaceAll('ß', 'ss')
    .toLowerCase()
    .replaceAll(/[^\p{L}\d]+/gu, '_')
    .replaceAll(/^_|_$/g, '');

/**
 * The entity id that an entity would have got if another entity had not had that id.
 *
 * @returns undefined when the present id does not show that
 */
export function takenEntityId(domain: string, name: string, entityId: string): string | undefined {
  const expected = `${domain}.${slugOf(name)}`;
  return entityId.startsWith(`${expected}_`) && /^\d+$/.test(entityId.slice(expected.length + 1))
    ? expected
    : undefined;
}
