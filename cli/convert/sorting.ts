import { helperDomains } from '../../operator/kinds/helper/domains';
import { CommandError } from '../command-error';

/** A file that is not converted. */
export interface Left {
  /** Path in the folder /config; the path of a folder ends with a slash. */
  readonly path: string;
  /** The reason, and what to do: a sentence without a capital at its start and without a full stop. */
  readonly reason: string;
}

/** The text files of a hub, by path, and the other files. */
export interface Source {
  readonly type: 'folder' | 'file';
  readonly files: Readonly<Record<string, string>>;
  readonly left: readonly Left[];
}

/** Top-level folders that are not converted, with the reasons. */
const FOLDERS: Readonly<Record<string, string>> = {
  custom_components: 'integrations of the community: write a HubCommunityRepository for each repository',
  www: 'files of the web server: copy them to the volume; cards come by HubCommunityRepository',
  backups: 'backups stay where they are',
  deps: 'the hub installs its packages itself',
  tts: 'the hub writes it again',
  media: 'media stay on the volume',
  image: 'pictures of the UI stay on the volume',
};
const OF_HUB =
  'users, entries and registries: a restored backup brings them, kubectl hub export describes them';
const DATABASE = 'history of the hub: it stays on the volume';

/** The collections of the hub's storage that `convert` reads, in addition to text files: zones and helpers of the UI. */
export const STORED_TYPES = ['zone', ...Object.values(helperDomains)] as const;
const STORED: ReadonlySet<string> = new Set(STORED_TYPES.map((type) => `.storage/${type}`));

/** Reason for a link or a device. */
export const NOT_FOLLOWED = 'it is a link or a device, which is not followed: copy the file itself';

const TEXT = /\.(yaml|yml|jinja|txt|json)$/;
/** Largest file in bytes. */
const LARGEST_FILE = 4 * 1024 * 1024;
const LARGEST_SOURCE = 32 * 1024 * 1024;
const MOST_FILES = 10_000;

/** Sorts the files of a hub by their paths, before their content is read. */
export class Sorting {
  private readonly files = new Map<string, string>();
  private readonly left = new Map<string, string>();
  private size = 0;

  has(path: string): boolean {
    return this.files.has(path);
  }

  /** Whether a folder is read. A folder that is not is added to the list with the reason. */
  enters(folder: string): boolean {
    if (folder === '.storage') {
      this.leave('.storage/', OF_HUB);
      return true;
    }
    if (folder.startsWith('.storage/')) return false;
    const reason = Object.hasOwn(FOLDERS, folder) ? FOLDERS[folder] : undefined;
    if (reason !== undefined) this.leave(`${folder}/`, reason);
    return reason === undefined && !/(^|\/)(\.|__pycache__|node_modules)/.test(folder);
  }

  /** @throws CommandError the source is too large */
  async add(path: string, size: number, read: () => Promise<Buffer>): Promise<void> {
    if (path.startsWith('.storage/')) {
      if (!STORED.has(path)) return;
    } else if (/^home-assistant(_v2)?\.(db|log)/.test(path)) return this.leave(path, DATABASE);
    else if (/(^|\/)\./.test(path)) return;
    else if (!TEXT.test(path))
      return this.leave(path, 'it is no text of a configuration: copy it to the volume');
    if (size > LARGEST_FILE)
      return this.leave(
        path,
        `it has ${size} bytes, and a ConfigMap has room for 1 MiB: copy it to the volume`,
      );
    this.size += size;
    if (this.size > LARGEST_SOURCE || this.files.size >= MOST_FILES) throw tooMany();
    const text = textOf(await read());
    if (text === undefined) this.leave(path, 'it is not in UTF-8: store it in this encoding first');
    else this.files.set(path, text);
  }

  /** @throws CommandError the source has more files than a configuration can have */
  leave(path: string, reason: string): void {
    this.left.set(path, reason);
    if (this.left.size > MOST_FILES) throw tooMany();
  }

  source(type: Source['type']): Source {
    return {
      type,
      files: Object.fromEntries(this.files),
      left: [...this.left].map(([path, reason]) => ({ path, reason })),
    };
  }
}

const tooMany = () =>
  new CommandError(
    `there are more than ${MOST_FILES} files, or ${LARGEST_SOURCE / 1024 / 1024} MiB of texts: name a copy with the files of the configuration alone`,
  );

/** @returns undefined if the bytes are not UTF-8 */
function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
