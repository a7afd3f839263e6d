import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';

/**
 * `dist/` and `imports/` are committed, since GitOps repositories and charts refer to them. This test
 * generates them again and compares.
 */

const run = promisify(execFile);
const cdk8s = (...args: string[]) => run('node_modules/.bin/cdk8s', [...args, '--no-check-upgrade']);

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'generated-'));
  await cdk8s('synth', '--output', join(folder, 'dist'));
  await cdk8s('import', join(folder, 'dist/crds.yaml'), '--no-save', '--output', join(folder, 'imports'));
});

afterAll(() => rm(folder, { recursive: true }));

describe('generated files', () => {
  test.each(['dist', 'imports'])(
    '%s is equal to the output of the sources: run `make synth` when this fails',
    async (name) => {
      const contents = async (directory: string) => {
        const entries = await readdir(directory, { recursive: true, withFileTypes: true });
        const files = entries
          .filter((entry) => entry.isFile())
          .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
          .sort();
        return Promise.all(
          files.map(async (file) => ({ file, text: await readFile(join(directory, file), 'utf8') })),
        );
      };
      const [fresh, committed] = await Promise.all([contents(join(folder, name)), contents(name)]);
      expect(committed.map(({ file }) => file)).toEqual(fresh.map(({ file }) => file));
      for (const [index, { text }] of fresh.entries()) expect(committed[index]!.text === text).toBe(true);
    },
  );
});
