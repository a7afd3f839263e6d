import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildOperatorImage } from '../../sandbox/image';
import { repository } from '../../sandbox/image/bundle';
import { importImage } from '.';

const run = promisify(execFile);

/**
 * An older version of the operator from which to upgrade: its sources, including `dist/`, and its image on
 * the node.
 */
export interface FormerVersion {
  readonly folder: string;
  readonly version: string;
  /** Removes the folder. */
  remove(): Promise<void>;
}

/**
 * Returns the last version in the history of the repository that had different kinds or roles. Without a
 * history it returns the current version under another image name.
 * @param repositoryOfImage the name of its image, without the tag, which is its version
 */
export async function formerVersion(repositoryOfImage: string): Promise<FormerVersion> {
  const folder = await mkdtemp(join(tmpdir(), 'former-version-'));
  const source = join(folder, 'source');
  await mkdir(source);
  const commit = await formerCommit();
  console.log(`The version to upgrade from: ${commit ?? 'the present one, as there is no history'}`);
  // Uses the installed packages: the former version's own would have to be installed from npm, and they
  // seldom differ.
  await symlink(join(repository, 'node_modules'), join(source, 'node_modules'));
  if (commit === undefined)
    for (const name of SOURCES) await run('cp', ['--recursive', join(repository, name), source]);
  else {
    await checkOut(commit, source);
    await symlink(join(repository, 'operator', 'node_modules'), join(source, 'operator', 'node_modules'));
  }
  const text = await readFile(join(source, 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  const archive = join(folder, 'image.tar');
  await buildOperatorImage({ archive, name: `${repositoryOfImage}:${version}`, source });
  await importImage(archive);
  return { folder: source, version, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** Folders and files that are needed to bundle, install and try an operator. */
const SOURCES = [
  'cli',
  'operator',
  'dist',
  'samples',
  'Dockerfile',
  'LICENSE',
  'package.json',
  'tsconfig.json',
];

/** Returns the commit before the last change of the installation. */
async function formerCommit(): Promise<string | undefined> {
  const installed = ['dist/install.yaml', 'dist/crds.yaml'];
  const { stdout } = await run('git', ['log', '--max-count=2', '--format=%H', '--', ...installed], {
    cwd: repository,
  }).catch(() => ({ stdout: '' }));
  return stdout.split('\n')[1] || undefined;
}

async function checkOut(commit: string, folder: string): Promise<void> {
  const archive = join(folder, 'sources.tar');
  await run('git', ['archive', `--output=${archive}`, commit, ...SOURCES], { cwd: repository });
  await run('tar', ['--extract', `--file=${archive}`, `--directory=${folder}`]);
}
