/** Resolves as `request` does, and with undefined where it fails with an error that is expected. */
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
