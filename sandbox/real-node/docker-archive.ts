import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { arch } from 'node:os';
import { dirname, join } from 'node:path';
import { runCommand } from '../command';

export interface ImageDescription {
  /** With its tag. */
  readonly name: string;
  /** The folder whose content is the file system. */
  readonly root: string;
  readonly entrypoint: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** `uid:gid` */
  readonly user?: string;
}

/**
 * Writes an image of one layer as `docker save` does: an archive of `manifest.json`, the image's configuration and the
 * layer, which `ctr images import` reads.
 */
export async function writeDockerArchive(
  archive: string,
  { name, root, entrypoint, environment = {}, user }: ImageDescription,
  logFile: string,
): Promise<void> {
  const folder = await mkdtemp(join(dirname(archive), 'image-'));
  const tar = (...args: string[]) =>
    runCommand({ step: `Packing the image ${name}`, command: ['tar', ...args], logFile });
  try {
    await tar(
      '--create',
      '--numeric-owner',
      '--owner=0',
      '--group=0',
      '-f',
      join(folder, 'layer.tar'),
      '-C',
      root,
      '.',
    );
    const configuration = {
      architecture: arch() === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      config: {
        Entrypoint: entrypoint,
        Env: Object.entries(environment).map(([key, value]) => `${key}=${value}`),
        ...(user !== undefined && { User: user }),
      },
      rootfs: { type: 'layers', diff_ids: [`sha256:${await digestOf(join(folder, 'layer.tar'))}`] },
    };
    await writeFile(join(folder, 'config.json'), JSON.stringify(configuration));
    const manifest = [{ Config: 'config.json', RepoTags: [name], Layers: ['layer.tar'] }];
    await writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest));
    await tar(
      '--create',
      '-f',
      `${archive}.partial`,
      '-C',
      folder,
      'manifest.json',
      'config.json',
      'layer.tar',
    );
    await rename(`${archive}.partial`, archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
