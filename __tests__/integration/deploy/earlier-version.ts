import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundle } from '../../../sandbox/operator-process';

const run = promisify(execFile);
const repository = join(__dirname, '..', '..', '..');

/** A commit whose objects the first users may have: pods, ConfigMaps and records in an older form. */
const COMMIT = 'cfb3f8eb5a73a86881a9b7b9a0642678172d40d8';

/** Files that are needed to bundle and install an operator. */
const SOURCES = ['operator', 'dist', 'LICENSE', 'package.json', 'tsconfig.json'];

export interface Version {
  /** Folder of the manifests. */
  readonly dist: string;
  /** Path of the bundle. */
  readonly bundle: string;
}

export const presentVersion: Version = { dist: join(repository, 'dist'), bundle };

export interface EarlierVersion extends Version {
  /** Removes the files of the version. */
  remove(): Promise<void>;
}

/**
 * Checks out and bundles an earlier version of the operator from the history of the repository. Without a
 * history it uses the current version.
 */
export async function earlierVersion(): Promise<EarlierVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'earlier-version-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const archive = join(folder, 'sources.tar');
  try {
    await run('git', ['archive', `--output=${archive}`, COMMIT, ...SOURCES], { cwd: repository });
  } catch (error) {
    console.log(`The earlier version is the present one, as there is no history: ${String(error)}`);
    return { ...presentVersion, remove };
  }
  const sources = join(folder, 'sources');
  await mkdir(sources);
  await run('tar', ['--extract', `--file=${archive}`, `--directory=${sources}`]);
  // Uses the installed packages: those of the earlier version would have to be installed from npm, and seldom
  // differ.
  await symlink(join(repository, 'node_modules'), join(sources, 'node_modules'));
  await run(process.execPath, [join(sources, 'operator', 'bundle.mjs'), join(folder, 'build')]);
  return { dist: join(sources, 'dist'), bundle: join(folder, 'build', 'operator.cjs'), remove };
}
