/** Where an image runs, in the words of OCI. */
export interface ImagePlatform {
  readonly os: 'linux';
  readonly architecture: 'amd64' | 'arm64';
}

/** That of this machine. */
export function imagePlatform(): ImagePlatform {
  return { os: 'linux', architecture: process.arch === 'arm64' ? 'arm64' : 'amd64' };
}
