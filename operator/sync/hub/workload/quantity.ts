const SUFFIXES = ['', 'k', 'M', 'G', 'T', 'P', 'E'];

/**
 * A Kubernetes quantity as a number for comparisons: `500m` is 0.5, `1Ki` is 1024. NaN for any other text.
 */
export function parseQuantity(quantity: string): number {
  const [, digits, exponent, suffix = ''] =
    /^([+-]?(?:\d+\.?\d*|\.\d+))(?:[eE]([+-]?\d+))?([numkKMGTPE]i?)?$/.exec(quantity) ?? [];
  if (digits === undefined) return NaN;
  const number = Number(digits) * 10 ** Number(exponent ?? 0);
  const small = ['n', 'u', 'm'].indexOf(suffix);
  if (small >= 0) return number / 1_000 ** (3 - small);
  const base = suffix.endsWith('i') ? 1_024 : 1_000;
  return number * base ** SUFFIXES.indexOf(suffix.replace('i', '').replace('K', 'k'));
}
