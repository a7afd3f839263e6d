import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { defaultSettings } from '../../manifests/settings';
import { writeArchive } from './archive';
import { baseFiles } from './base-files';
import { bundleOperator, repository } from './bundle';
import { APP_FOLDER, operatorImage } from './description';
import { type ImageFile, packLayer } from './layer';
import { nodeFiles } from './node-files';
import { operatorNode } from './operator-node';
import { imagePlatform } from './platform';

interface OperatorImage {
  /** Path of a tar archive that `docker load` and `ctr images import` take. */
  readonly archive: string;
  /** Name of the image with its tag, as the manifests in `dist/` refer to it. */
  readonly name: string;
}

/** Returns the reason why the image cannot be made on this machine, or undefined when it can. */
export function whyNoImage(): string | undefined {
  if (process.platform !== 'linux') return `an image has programs for Linux, and this is ${process.platform}`;
  return operatorNode().departure;
}

interface ImageOptions {
  /** Path of the archive to write. */
  readonly archive?: string;
  /** Name of the image with its tag. Default: the name in the manifests of `dist/`. */
  readonly name?: string;
  /** A folder with the sources of the operator, for example of another version. Default: the repository. */
  readonly source?: string;
}

/**
 * Makes the image of `description.ts` without a container engine, for the platform of this machine. Instead
 * of the Dockerfile's base image it has npm's Node.js and the libraries and CA certificates of this machine.
 * The image is for tests; the published one is made from the Dockerfile.
 * @throws Error the image cannot be made here ({@link whyNoImage})
 */
export async function buildOperatorImage({
  archive = join(repository, 'build', 'operator-image.tar'),
  name = defaultSettings.image,
  source = repository,
}: ImageOptions = {}): Promise<OperatorImage> {
  const obstacle = whyNoImage();
  if (obstacle) throw new Error(`cannot make image: ${obstacle}`);
  await bundleOperator(source);
  const node = operatorNode();
  const lowest = [
    ...(await nodeFiles(node.path, operatorImage.entrypoint[0]!)),
    ...(await baseFiles(operatorImage.user)),
  ];
  const layers = [await packLayer(lowest), await packLayer(await copiedFiles(source))];
  await writeArchive(archive, name, operatorImage, imagePlatform(), layers);
  return { archive, name };
}

function copiedFiles(folder: string): Promise<ImageFile[]> {
  return Promise.all(
    operatorImage.files.map(async (file) => ({
      path: `${APP_FOLDER}/${basename(file)}`,
      content: await readFile(join(folder, file)),
    })),
  );
}
