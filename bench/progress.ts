/** Prints the current step of a bench, with the seconds since the bench began. */
export function progressOf(bench: string): (what: string) => void {
  const began = Date.now();
  return (what) => console.log(`${bench}, ${((Date.now() - began) / 1_000).toFixed(0)} s: ${what}`);
}
