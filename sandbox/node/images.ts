import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { HubSoftware } from '../hub-software';

/** The folder for the virtual environment of containers with an image, below the directory of the node. */
export const imageDirectory = (directory: string, image: string): string =>
  join(directory, 'images', encodeURIComponent(image));

/**
 * Returns the software for an image: that in the folder of the image if a test has put one there, otherwise
 * that of the sandbox.
 */
export function softwareOf(directory: string, image = '', standard: HubSoftware): HubSoftware {
  const venv = imageDirectory(directory, image);
  if (image === '' || !existsSync(venv)) return standard;
  const bin = join(venv, 'bin');
  const version = image.slice(image.lastIndexOf(':') + 1);
  return { venv, python: join(bin, 'python'), hass: join(bin, 'hass'), version, isForkable: false };
}
