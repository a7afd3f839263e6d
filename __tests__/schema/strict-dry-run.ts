import { kubectl } from '../cluster';

/** Asserts that the API server accepts all objects of a file in `dist/`, with strict validation and without a warning. */
export async function expectStrictDryRun(file: string): Promise<void> {
  const { stderr, code } = await kubectl([
    'apply',
    '--server-side',
    '--force-conflicts',
    '--validate=strict',
    '--dry-run=server',
    '-f',
    file,
  ]);
  expect(stderr).not.toContain('Warning');
  expect(code).toBe(0);
}
