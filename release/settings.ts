import { versionMistake } from './version';

export interface ReleaseSettings {
  readonly version: string;
  /** The image with its digest, such as `registry.example/hub-operator@sha256:…`. */
  readonly image: string;
  /**
   * File with the notes of the release in Markdown. If absent, the notes are made from the commits since the
   * last release.
   */
  readonly notesFile?: string;
}

const BY_DIGEST = /^[\w.-]+(:\d+)?(\/[\w.-]+)+(:[\w.-]+)?@sha256:[0-9a-f]{64}$/;

/**
 * Reads the variables `VERSION`, `IMAGE` and `NOTES`.
 * @throws Error with one sentence for each mistake in the variables
 */
export function readReleaseSettings(
  environment: Readonly<Record<string, string | undefined>>,
): ReleaseSettings {
  const { VERSION: version = '', IMAGE: image = '', NOTES: notesFile } = environment;
  const mistakes = [versionMistake(version), imageMistake(image)].filter((each) => each !== undefined);
  if (mistakes.length > 0) throw new Error(mistakes.join('\n'));
  return { version, image, ...(notesFile && { notesFile }) };
}

function imageMistake(image: string): string | undefined {
  if (BY_DIGEST.test(image)) return undefined;
  return `IMAGE=${image} names no image by digest: a tag can be moved to another image. Push the image first (make version VERSION=…, then make image IMAGE=… PUSH=1), and give REGISTRY/NAME@sha256:DIGEST.`;
}
