import { execFile } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * The pages of docs/reference and the API group in the samples are generated from the sources. This test
 * generates them again and compares.
 */

const folders = ['docs/reference', 'samples'];

describe('reference pages', () => {
  test('docs/reference and samples are equal to the output of the sources: run `make synth` when this fails', async () => {
    const fresh = await mkdtemp(join(tmpdir(), 'reference-'));
    try {
      for (const folder of folders) await cp(folder, join(fresh, folder), { recursive: true });
      await promisify(execFile)('node_modules/.bin/tsx', ['manifests/reference.ts', fresh]);
      for (const folder of folders)
        expect(await contents(join(fresh, folder))).toEqual(await contents(folder));
    } finally {
      await rm(fresh, { recursive: true });
    }
  });

  async function contents(folder: string): Promise<Record<string, string>> {
    const files = (await readdir(folder)).filter((file) => /\.\w+$/.test(file)).sort();
    return Object.fromEntries(
      await Promise.all(files.map(async (file) => [file, await readFile(join(folder, file), 'utf8')])),
    );
  }
});
