import { execFile } from 'node:child_process';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildOperatorImage, whyNoImage } from '../../../../sandbox/image';
import { operatorNode } from '../../../../sandbox/image/operator-node';
import { repository } from '../../../../sandbox/image/bundle';
import { version } from '../../../../package.json';

const run = promisify(execFile);
const MB = 1_000_000;

const obstacle =
  whyNoImage() ?? (process.getuid?.() === 0 ? undefined : 'only root can change the root directory');
const asRoot = obstacle === undefined ? describe : describe.skip;

describe('buildOperatorImage', () => {
  asRoot(`unpacked${obstacle === undefined ? '' : ` (skipped: ${obstacle})`}`, () => {
    let folder: string;
    let root: string;
    let config: { readonly User: string; readonly Entrypoint: readonly string[] };

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'operator-image-'));
      root = join(folder, 'root');
      await mkdir(root);
      const { archive, name } = await buildOperatorImage({ archive: join(folder, 'image.tar') });
      await run('tar', ['--extract', `--file=${archive}`, `--directory=${folder}`]);
      const [image] = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as [
        { Config: string; RepoTags: readonly string[]; Layers: readonly string[] },
      ];
      expect(image.RepoTags).toEqual([name]);
      for (const layer of image.Layers)
        await run('tar', ['--extract', `--file=${join(folder, layer)}`, `--directory=${root}`]);
      ({ config } = JSON.parse(await readFile(join(folder, image.Config), 'utf8')) as {
        config: typeof config;
      });
    });
    afterAll(() => rm(folder, { recursive: true, force: true }));

    /** Runs the image as a container runtime does: its entrypoint, as its user, with only its files. */
    async function container(...args: readonly string[]): Promise<{ stdout: string; stderr: string }> {
      const command = [...config.Entrypoint, ...args];
      return run('chroot', [`--userspec=${config.User}`, root, ...command], {
        env: { PATH: process.env['PATH'] },
      });
    }

    test('runs as its user, prints its version and nothing else', async () => {
      expect(await container('--version')).toEqual({ stdout: `${version}\n`, stderr: '' });
    });

    test('has the Node.js that the tests of the bundle run on', async () => {
      const [node] = config.Entrypoint;
      const { stdout } = await run('chroot', [`--userspec=${config.User}`, root, node!, '--version']);
      expect(stdout).toBe(`v${operatorNode().version}\n`);
    });

    test('validates a file with its second program', async () => {
      await writeFile(join(root, 'home.yaml'), await readFile(join(repository, 'samples', '10-home.yaml')));
      const { stdout, stderr } = await container('validate', '--strict', '/home.yaml');
      expect(stderr).toBe('');
      expect(stdout).toMatch(/^\d+ resources checked, .* 0 errors, 0 warnings\n$/);
    });

    test('is smaller than 150 MB', async () => {
      expect((await stat(join(folder, 'image.tar'))).size).toBeLessThan(150 * MB);
    });

    test('has a bundle without code that the operator does not use, since all of its source stays in memory', async () => {
      // includes the program that parses texts, 0.2 MB
      expect((await stat(join(root, 'app', 'operator.cjs'))).size).toBeLessThan(2 * MB);
    });

    test('belongs to root, and its user can change nothing in it', async () => {
      const paths = await readdir(root, { recursive: true });
      expect(paths).toContain('app/operator.cjs');
      for (const path of paths) {
        const { uid, gid, mode } = await lstat(join(root, path));
        expect([path, uid, gid, mode & 0o022]).toEqual([path, 0, 0, 0]);
      }
    });
  });
});
