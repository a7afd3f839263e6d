/** The large input is this many times the small one. */
const FACTOR = 16;
/** Four times the result for linear work, and a quarter of that for quadratic work. */
export const NEARLY_LINEAR = 4 * FACTOR;

/**
 * Resolves with the processor time of `work` for an input of `size`, in multiples of that for a sixteenth
 * of it: 16 for linear work, 256 for quadratic work. A slow or busy machine changes both times, so the result
 * holds there too.
 */
export async function growth(work: (size: number) => unknown, size: number): Promise<number> {
  const time = (of: number) => processorTime(() => work(of));
  await time(size / FACTOR); // compiles the code
  const small = Math.min(await time(size / FACTOR), await time(size / FACTOR), await time(size / FACTOR));
  return Math.min(await time(size), await time(size)) / small;
}

/** Resolves with microseconds. */
async function processorTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
