import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const SEMANTIC_VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const PACKAGES = ['', 'cli', 'operator'];

interface Manifest {
  version: string;
}

/** Returns the mistake in a version as a sentence, or undefined if the version is correct. */
export function versionMistake(version: string): string | undefined {
  if (SEMANTIC_VERSION.test(version)) return undefined;
  return `VERSION=${version} is no version: give one such as 1.2.3 or 1.2.3-rc.1.`;
}

/**
 * Sets the version of the packages below the folder `source`, and replaces the former version in `texts`
 * where they name the image by its tag.
 * @returns the former version
 */
export async function setVersion(source: string, version: string, texts: readonly string[]): Promise<string> {
  const before = (await readJson<Manifest>(join(source, 'package.json'))).version;
  for (const name of PACKAGES) {
    const file = join(source, name, 'package.json');
    await writeJson(file, { ...(await readJson<Manifest>(file)), version });
  }
  // npm itself would resolve all packages again.
  const lockFile = join(source, 'package-lock.json');
  const lock = await readJson<Manifest & { packages: Record<string, Manifest> }>(lockFile);
  lock.version = version;
  for (const name of PACKAGES) lock.packages[name]!.version = version;
  await writeJson(lockFile, lock);
  for (const name of texts) {
    const file = join(source, name);
    const text = await readFile(file, 'utf8');
    const renamed = withVersion(text, before, version);
    if (renamed !== text) await writeFile(file, renamed);
  }
  return before;
}

/**
 * Replaces version `from` by `to` after `hub-operator:`, `newTag: ` and `hub-operator-`, and at the beginning
 * of a line.
 */
export function withVersion(text: string, from: string, to: string): string {
  const escaped = from.replaceAll('.', '\\.');
  return text.replace(
    new RegExp(`(hub-operator:|newTag: |hub-operator-|^)${escaped}(?!\\w|\\.\\d|-[0-9A-Za-z])`, 'gm'),
    `$1${to}`,
  );
}

async function readJson<T>(file: string): Promise<T> {
  return JSON.parse(await readFile(file, 'utf8')) as T;
}

async function writeJson(file: string, value: unknown): Promise<void> {
  await writeFile(file, `${JSON.stringify(value, null, 2)}\n`);
}
