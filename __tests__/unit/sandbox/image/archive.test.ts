import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { extract } from 'tar-stream';
import { writeArchive } from '../../../../sandbox/image/archive';
import { layerOf, packLayer } from '../../../../sandbox/image/layer';

const platform = { os: 'linux', architecture: 'arm64' } as const;
const name = 'registry.example/some/image:1';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archive-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const bytesOf = async (archive: string): Promise<ReadonlyMap<string, Buffer>> => {
  const entries = new Map<string, Buffer>();
  const reader = Readable.from([await readFile(archive)]).pipe(extract());
  for await (const entry of reader) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) chunks.push(chunk as Buffer);
    entries.set(entry.header.name, Buffer.concat(chunks));
  }
  return entries;
};

describe('writeArchive', () => {
  test('writes manifest, configuration and layers, whose names and digests match their bytes', async () => {
    const layers = [
      await packLayer([{ path: '/lower', content: 'one' }]),
      await packLayer([{ path: '/upper', content: 'two' }]),
    ];
    const archive = join(folder, 'image.tar');
    await writeArchive(
      archive,
      name,
      { entrypoint: ['/lower'], environment: { LANG: 'C' } },
      platform,
      layers,
    );
    const entries = await bytesOf(archive);
    const [manifest] = JSON.parse(entries.get('manifest.json')!.toString()) as [
      { Config: string; RepoTags: string[]; Layers: string[] },
    ];
    expect(manifest.RepoTags).toEqual([name]);
    expect(manifest.Layers.map((layer) => entries.get(layer))).toEqual(layers.map(({ tar }) => tar));
    const config = JSON.parse(entries.get(manifest.Config)!.toString()) as object;
    expect(config).toMatchObject({
      ...platform,
      config: { Entrypoint: ['/lower'], Env: ['LANG=C'], User: '' },
      rootfs: { diff_ids: layers.map(({ digest }) => digest) },
    });
    expect(await readdir(folder)).toEqual(['image.tar']);
  });

  test('reads a layer from a file, with the same result as from memory', async () => {
    const content = Buffer.alloc(300_000, 'some content'); // more than one chunk of a file
    const small = await packLayer([{ path: '/small', content: 'one' }]);
    const large = await packLayer([{ path: '/large', content }]);
    await writeFile(join(folder, 'layer.tar'), large.tar);
    const fromFile = await layerOf(join(folder, 'layer.tar'));
    expect(fromFile.digest).toBe(large.digest);
    const digests: string[] = [];
    for (const layers of [
      [large, small],
      [fromFile, small],
    ]) {
      const archive = join(folder, 'image.tar');
      await writeArchive(archive, name, { entrypoint: ['/large'] }, platform, layers);
      digests.push(
        createHash('sha256')
          .update(await readFile(archive))
          .digest('hex'),
      );
    }
    expect(digests[1]).toBe(digests[0]);
  });

  test('fails without an archive when the file of a layer is gone', async () => {
    await writeFile(join(folder, 'layer.tar'), 'content');
    const layer = await layerOf(join(folder, 'layer.tar'));
    await rm(join(folder, 'layer.tar'));
    const archive = join(folder, 'image.tar');
    await expect(writeArchive(archive, name, { entrypoint: ['/it'] }, platform, [layer])).rejects.toThrow(
      'ENOENT',
    );
    expect(await readdir(folder)).not.toContain('image.tar');
  });
});
