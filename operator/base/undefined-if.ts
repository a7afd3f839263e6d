/**
 * Settles as `request` does, except that it resolves to undefined where `request` rejects with an expected
 * error.
 */
export async function undefinedIf<T>(
  isExpected: (error: unknown) => boolean,
  request: Promise<T>,
): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isExpected(error)) return undefined;
    throw error;
  }
}
