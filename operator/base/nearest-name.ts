/**
 * Longest name that is compared. Names of Kubernetes are no longer, and the work grows with the square of the
 * length.
 */
const LONGEST = 253;
/** A mistyped name may differ by one change for each this many of its characters. */
const CHARACTERS_PER_CHANGE = 3;
const MOST_CHANGES = 3;
/** More than any distance. */
const BEYOND = 2 * LONGEST;
/** Three rows of the table, for all names. */
const rows = [0, 1, 2].map(() => new Uint16Array(LONGEST + 2)) as [Uint16Array, Uint16Array, Uint16Array];

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
    const changes = changesBetween(name, each, most);
    if (changes > most || changes > (nearest?.changes ?? most)) continue;
    if (!nearest || changes < nearest.changes || each < nearest.name) nearest = { name: each, changes };
  }
  return nearest?.name;
}

/**
 * The distance of optimal string alignment (Damerau and Levenshtein, each place changed once), or Infinity beyond `most`. A hub has
 * thousands of names: only the cells that `most` changes can reach are computed, and of two names the different middle alone.
 */
function changesBetween(a: string, b: string, most: number): number {
  const start = commonStart(a, b);
  const end = commonEnd(a, b, start);
  const [height, width] = [a.length - start - end, b.length - start - end];
  if (height === 0 || width === 0) return height + width;
  let [beforeLast, last, current] = rows;
  for (let column = 0; column <= width; column += 1) last[column] = column;
  let leastOfLast = 0;
  for (let row = 1; row <= height; row += 1) {
    const [first, until] = [Math.max(1, row - most), Math.min(width, row + most)];
    current[first - 1] = first === 1 ? row : BEYOND;
    let least = BEYOND;
    for (let column = first; column <= until; column += 1) {
      const [i, j] = [start + row - 1, start + column - 1];
      let changes = last[column - 1]! + (a[i] === b[j] ? 0 : 1);
      changes = Math.min(changes, current[column - 1]! + 1, column < row + most ? last[column]! + 1 : BEYOND);
      const isExchanged = row > 1 && column > 1 && a[i] === b[j - 1] && a[i - 1] === b[j];
      if (isExchanged) changes = Math.min(changes, beforeLast[column - 2]! + 1);
      current[column] = changes;
      least = Math.min(least, changes);
    }
    if (least > most && leastOfLast > most) return Infinity;
    leastOfLast = least;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  return last[width]!;
}

function commonStart(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** After a common start, which may not be counted twice. */
function commonEnd(a: string, b: string, start: number): number {
  const longest = Math.min(a.length, b.length) - start;
  let length = 0;
  while (length < longest && a.at(-1 - length) === b.at(-1 - length)) length += 1;
  return length;
}
