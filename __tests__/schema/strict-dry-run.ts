import { kubectl } from '../cluster';

/**
 * Asserts that the API server accepts all objects of a file or, with `-k`, of a kustomization in `dist/`, with strict
 * validation and without a warning.
 */
export function expectStrictDryRun(path: string, flag: '-f' | '-k' = '-f'): Promise<void> {
  return expectAccepted([flag, path]);
}

/** Asserts that a strict dry run of the objects succeeds. */
export function expectStrictDryRunOf(items: readonly object[]): Promise<void> {
  return expectAccepted(['-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
}

async function expectAccepted(source: readonly string[], input = ''): Promise<void> {
  const dryRun = ['apply', '--server-side', '--force-conflicts', '--validate=strict', '--dry-run=server'];
  const { stderr, code } = await kubectl([...dryRun, ...source], { input });
  expect({ stderr, code }).toEqual({ stderr: expect.not.stringContaining('Warning') as unknown, code: 0 });
}
