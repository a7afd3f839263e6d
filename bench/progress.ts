/** Prints what a bench does, with the seconds since it began. */
export function progressOf(bench: string): (what: string) => void {
  const began = Date.now();
  return (what) => console.log(`${bench}, ${((Date.now() - began) / 1_000).toFixed(0)} s: ${what}`);
}
