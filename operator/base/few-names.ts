/** Joins names for a message and counts those beyond `most`: `a, b and 3 more`. */
export function fewNames(names: readonly string[], most: number): string {
  const rest = names.length > most ? ` and ${names.length - most} more` : '';
  return `${names.slice(0, most).join(', ')}${rest}`;
}
