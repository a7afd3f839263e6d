import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const repository = join(__dirname, '..', '..');

/** Bundles the operator, as the Dockerfile does, by default into `build/` of the folder with its sources. */
export async function bundleOperator(source = repository, output = join(source, 'build')): Promise<void> {
  const program = join(source, 'operator', 'bundle.mjs');
  await promisify(execFile)(process.execPath, [program, output], { cwd: source });
}
