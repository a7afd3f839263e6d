/**
 * Files that change atomically, in the layout of the kubelet's AtomicWriter: `..data` links to the directory of one
 * generation, each visible name links into `..data`, and a change is one rename. An open file keeps its content.
 */
import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export interface File {
  data: Buffer;
  mode: number;
}

/** The files by their relative paths. */
export type Files = ReadonlyMap<string, File>;

export async function replaceFiles(directory: string, files: Files): Promise<void> {
  await mkdir(directory, { recursive: true });
  const previous = await readlink(join(directory, '..data')).catch(ignoreMissing);
  const generation = `..${new Date().toISOString().replace(/\W/g, '_')}.${randomUUID().slice(0, 8)}`;
  for (const [path, { data, mode }] of files) {
    const file = join(directory, generation, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, data);
    // The mode is not an option of writeFile, because the umask would apply.
    await chmod(file, mode);
  }
  await mkdir(join(directory, generation), { recursive: true });
  await symlink(generation, join(directory, '..data_tmp'));
  await rename(join(directory, '..data_tmp'), join(directory, '..data'));
  await updateLinks(directory, new Set([...files.keys()].map((path) => path.split('/')[0] ?? path)));
  if (previous) await rm(join(directory, previous), { recursive: true, force: true });
}

async function updateLinks(directory: string, desired: ReadonlySet<string>): Promise<void> {
  const visible = (await readdir(directory)).filter((name) => !name.startsWith('..'));
  for (const name of desired) {
    if (!visible.includes(name)) await symlink(join('..data', name), join(directory, name));
  }
  for (const name of visible) {
    if (!desired.has(name)) await rm(join(directory, name));
  }
}

function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error;
}
