/** The fields of `metadata` that the API server sets at creation. */
interface Created {
  /** RFC 3339 with whole seconds. */
  readonly creationTimestamp?: string;
  readonly uid?: string;
}

/**
 * Orders objects by their age, the oldest first. Objects of the same second are ordered by uid, so that every
 * replica and every restart finds the same order.
 */
export function byAge(a: Created, b: Created): number {
  const [first, second] = [a, b].map(({ creationTimestamp = '', uid = '' }) => `${creationTimestamp} ${uid}`);
  return first! < second! ? -1 : 1;
}
