import { digestOfSecret, type ReadSecrets } from '../../secrets-yaml/secrets-yaml';
import type { GeneratedConfiguration } from './generate';
import type { ContentHashes } from './content-marker';
import type { Files } from './config-files';
import { readSections, type Sections, withSecretDigests } from './sections';

/** A configuration with the secrets that it uses, as the hub gets it. */
export interface Content {
  /** By name; `configuration.yaml` is among them. */
  readonly files: Files;
  /** The value of the marker once the hub has read this content. */
  readonly marker: ContentHashes;
  readonly sections: Sections;
  /** The decision that restarts the hub for it. */
  readonly restart: ContentHashes;
  /** The sections of other files, with the secrets of now. */
  readonly sectionsOf: (files: Files) => Sections;
}

export function contentOf(
  { files, hash, sections }: GeneratedConfiguration,
  secrets: ReadSecrets | undefined,
  restart: ContentHashes,
): Content {
  const digest = (key: string): string => (secrets ? digestOfSecret(secrets, key) : '');
  const sectionsOf = (each: Files): Sections => withSecretDigests(readSections(each), digest);
  const marker = { configuration: hash, secrets: secrets?.hash };
  return { files, marker, sections: withSecretDigests(sections, digest), restart, sectionsOf };
}

/** The names of files that `before` does not have. They are linked into the hub's directory when its pod starts. */
export function addedFiles(before: Files, after: Files): string[] {
  return Object.keys(after).filter((name) => !Object.hasOwn(before, name));
}
