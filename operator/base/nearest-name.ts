/**
 * Longest name that is compared. Names of Kubernetes are no longer, and the work grows with the square of the
 * length.
 */
const LONGEST = 253;
/** A mistyped name may differ by one change for each this many of its characters. */
const CHARACTERS_PER_CHANGE = 3;
const MOST_CHANGES = 3;

/**
 * The known name that a mistyped one is probably meant to be: the one with the fewest letters changed, added,
 * left out or swapped with the next. Among equals, the first in alphabetical order.
 *
 * @returns undefined if no name is near
 */
export function nearestName(name: string, known: readonly string[]): string | undefined {
  const most = Math.min(MOST_CHANGES, Math.floor((name.length + 1) / CHARACTERS_PER_CHANGE));
  let nearest: { readonly name: string; readonly changes: number } | undefined;
  for (const each of known) {
    if (Math.abs(each.length - name.length) > most || each.length > LONGEST) continue;
    const changes = changesBetween(name, each);
    if (changes > most || changes > (nearest?.changes ?? most)) continue;
    if (!nearest || changes < nearest.changes || each < nearest.name) nearest = { name: each, changes };
  }
  return nearest?.name;
}

/** The distance of optimal string alignment (Damerau and Levenshtein, each place changed once). */
function changesBetween(a: string, b: string): number {
  let [beforeLast, last] = [[] as number[], Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= a.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= b.length; column += 1) {
      const isSame = a[row - 1] === b[column - 1];
      const isExchanged = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      current.push(
        Math.min(
          last[column]! + 1,
          current[column - 1]! + 1,
          last[column - 1]! + (isSame ? 0 : 1),
          isExchanged ? beforeLast[column - 2]! + 1 : Infinity,
        ),
      );
    }
    [beforeLast, last] = [last, current];
  }
  return last[b.length]!;
}
