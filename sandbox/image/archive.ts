import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { pack, type Pack } from 'tar-stream';
import type { ImageDescription } from './description';
import { digestOf, hexOf, type Layer } from './layer';
import type { ImagePlatform } from './platform';

/** The command that a container of the image runs, and its user, environment and ports. */
export type ImageConfiguration = Pick<ImageDescription, 'entrypoint'> &
  Partial<Pick<ImageDescription, 'user' | 'environment' | 'ports' | 'labels'>>;

const EPOCH = '1970-01-01T00:00:00Z';

/**
 * Writes an image as an archive that `docker load` and `ctr images import` take: `manifest.json`, the configuration, and
 * the layers, lowest first.
 *
 * @param path of the archive, which appears complete or not at all
 * @param name of the image, with its tag
 */
export async function writeArchive(
  path: string,
  name: string,
  description: ImageConfiguration,
  platform: ImagePlatform,
  layers: readonly Layer[],
): Promise<void> {
  const config = JSON.stringify(configOf(description, platform, layers));
  const configName = `${hexOf(digestOf(config))}.json`;
  const layerName = ({ digest }: Layer) => `${hexOf(digest)}/layer.tar`;
  const manifest = [{ Config: configName, RepoTags: [name], Layers: layers.map(layerName) }];
  const tar = pack();
  const header = { mode: 0o644, uid: 0, gid: 0, mtime: new Date(0) };
  const write = async () => {
    tar.entry({ ...header, name: configName }, config);
    for (const layer of layers) {
      tar.entry({ ...header, name: `${hexOf(layer.digest)}/`, type: 'directory', mode: 0o755 });
      await addLayer(tar, { ...header, name: layerName(layer) }, layer);
    }
    tar.entry({ ...header, name: 'manifest.json' }, JSON.stringify(manifest));
    tar.finalize();
  };
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  const written = pipeline(tar, createWriteStream(unfinished));
  await Promise.all([written, write().catch((error: Error) => void tar.destroy(error))]);
  await rename(unfinished, path);
}

type Header = Parameters<Pack['entry']>[0];

async function addLayer(archive: Pack, header: Header, { tar }: Layer): Promise<void> {
  if (Buffer.isBuffer(tar)) archive.entry(header, tar);
  else await pipeline(createReadStream(tar.path), archive.entry({ ...header, size: tar.size }));
}

/** Returns the configuration of an image in the format of the OCI image specification. */
function configOf(
  { user = '', environment = {}, entrypoint, ports = [], labels = {} }: ImageConfiguration,
  platform: ImagePlatform,
  layers: readonly Layer[],
) {
  return {
    ...platform,
    created: EPOCH,
    config: {
      User: user,
      Env: Object.entries(environment).map(([name, value]) => `${name}=${value}`),
      Entrypoint: entrypoint,
      ExposedPorts: Object.fromEntries(ports.map((port) => [`${port}/tcp`, {}])),
      Labels: labels,
      WorkingDir: '/',
    },
    rootfs: { type: 'layers', diff_ids: layers.map(({ digest }) => digest) },
    history: layers.map(() => ({ created: EPOCH, created_by: 'hub-operator image' })),
  };
}
