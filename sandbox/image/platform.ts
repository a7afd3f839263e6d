/** The platform for which an image is made, in the terms of OCI. */
export interface ImagePlatform {
  readonly os: 'linux';
  readonly architecture: 'amd64' | 'arm64';
}

/** The image platform of this machine. */
export function imagePlatform(): ImagePlatform {
  return { os: 'linux', architecture: process.arch === 'arm64' ? 'arm64' : 'amd64' };
}
