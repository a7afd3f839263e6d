import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { BoundedTasks } from '../base/bounded-task';
import { OperationalError } from '../base/errors';
import { API_GROUP } from '../kinds/group';
import { type Manifest, readManifestsWithin, type SyntaxProblem } from './manifests';

/** The arguments, or a file that they name, cannot be read. Its message is for the user. */
export class NotRead extends OperationalError {
  override readonly name = 'NotRead';
}

/** Whether a file has tests for `kubectl hub test` instead of resources. */
export const isTestFile = (name: string): boolean => /\.hubtest\.ya?ml$/.test(name);

const hasManifests = (name: string): boolean => /\.(ya?ml|json)$/.test(name) && !isTestFile(name);

/**
 * The files of a path, sorted by name: a file itself, or the YAML and JSON files in a directory. Test files,
 * names that begin with a dot, node_modules and templates of Helm charts are left out. Links to directories
 * are left out too, since they may form a cycle. What cannot be read, such as a link to nothing or a folder of another
 * user, is included.
 *
 * @param counts selects other files of a directory by their names
 * @throws NotRead
 */
export async function filesOf(path: string, counts = hasManifests): Promise<string[]> {
  try {
    if (!(await isDirectory(path))) return [path];
    const entries = (await readdir(path, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
    // The templates of a chart are not YAML until Helm renders them.
    const isChart = existsSync(join(path, 'Chart.yaml'));
    const files = await Promise.all(
      entries.map(async (entry) => {
        const { name } = entry;
        if (name.startsWith('.') || name === 'node_modules') return [];
        const file = join(path, name);
        if (entry.isDirectory())
          return isChart && name === 'templates' ? [] : filesOf(file, counts).catch(() => [file]);
        if (!counts(name)) return [];
        const isLinkToDirectory = (await stat(file).catch(() => undefined))?.isDirectory();
        return isLinkToDirectory ? [] : [file];
      }),
    );
    return files.flat();
  } catch (error) {
    throw notRead(path, error);
  }
}

async function isDirectory(path: string): Promise<boolean> {
  const stats = await stat(path).catch((error: unknown) => {
    throw notRead(path, error);
  });
  return stats.isDirectory();
}

/**
 * Reads the manifests of a file.
 *
 * @param named whether the user has named the file itself
 * @throws NotRead
 */
export async function read(
  file: string,
  named: boolean,
  texts: BoundedTasks,
): Promise<(Manifest | SyntaxProblem)[]> {
  const bytes = await bytesOf(file, named);
  if ('problem' in bytes) return [{ file, line: 1, message: bytes.problem }];
  const content = bytes.toString('utf8');
  const found = await readManifestsWithin(texts, file, content);
  // A directory may contain files of other programs, whose syntax errors are not reported.
  return named || content.includes(API_GROUP) ? found : found.filter((each) => 'object' in each);
}

/**
 * The content of a file, or a sentence that says why a file of a directory cannot be read: the other ones are read
 * nevertheless. A pipe is read only if the user has named it, since another one may never get any content.
 *
 * @param named whether the user has named the file itself
 * @throws NotRead
 */
export async function bytesOf(file: string, named: boolean): Promise<Buffer | { readonly problem: string }> {
  try {
    const stats = await stat(file);
    if (named || stats.isFile()) return await readFile(file);
    if (stats.isDirectory()) await readdir(file); // says why it cannot be read
    return { problem: 'It is no file, such as a pipe, and is not read: remove it, or give it another name.' };
  } catch (error) {
    if (named) throw notRead(file, error);
    return { problem: `It cannot be read: ${reasonOf(error)}.` };
  }
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' ? 'there is no such file or directory' : message;
}

function notRead(path: string, error: unknown): NotRead {
  if (error instanceof NotRead) return error;
  return new NotRead(`cannot read ${path}: ${reasonOf(error)}`);
}
