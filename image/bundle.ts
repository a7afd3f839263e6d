import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export const repository = join(__dirname, '..');

/** Bundles the operator, as the Dockerfile does, into `build/` of the folder with its sources. */
export async function bundleOperator(source = repository): Promise<void> {
  await promisify(execFile)(process.execPath, [join(source, 'operator', 'bundle.mjs')], { cwd: source });
}
