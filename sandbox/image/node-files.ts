import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ImageFile } from './layer';

/**
 * Libraries that Node.js opens by name at run time, beside those that it is linked with. Since glibc 2.34
 * their code is part of libc itself.
 */
const NAME_SERVICES = ['libnss_files.so.2', 'libnss_dns.so.2', 'libresolv.so.2'];

/**
 * Returns the files that a Node.js program needs, all from this machine: the program at `destination`, the
 * loader, and the shared libraries in the folders that the loader searches.
 * @param node path on this machine
 */
export async function nodeFiles(node: string, destination: string): Promise<ImageFile[]> {
  const libraries = await sharedLibraries(node);
  const folder = dirname(libraries.find((path) => path.includes('/libc.so.'))!);
  const services = NAME_SERVICES.map((name) => join(folder, name));
  const present = await Promise.all(
    services.map((path) =>
      access(path).then(
        () => [path],
        () => [],
      ),
    ),
  );
  const paths = [...new Set([...libraries, ...present.flat()])];
  return Promise.all([
    readFile(node).then((content) => ({ path: destination, mode: 0o755, content })),
    ...paths.map(async (path) => ({ path, mode: 0o755, content: await readFile(path) })),
  ]);
}

/** Paths of the loader and the libraries, as `ldd` lists them: `name => path (address)`, or `path (address)` for the loader. */
async function sharedLibraries(program: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)('ldd', [program]);
  if (stdout.includes('not found')) throw new Error(`cannot read libraries of ${program}: ${stdout.trim()}`);
  return [...stdout.matchAll(/(?:=>|^)\s*(\/\S+) \(/gm)].map(([, path]) => path!);
}
