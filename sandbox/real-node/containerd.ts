import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cached, contentKey } from '../cache';
import { runCommand } from '../command';
import { SandboxProcess } from '../process';
import type { Report } from '../progress';
import { SandboxError, serverError } from '../sandbox-error';
import { containerdConfiguration, podNetwork } from './configuration';
import type { ImageArchive } from './images';
import { Namespaces } from './namespaces';

// Durations in milliseconds.
const START_TIMEOUT = 300_000;
const POLL_INTERVAL = 100;

/** The folder where containerd keeps images. */
const DATA = '/var/lib/containerd';

/** The container runtime of a node. */
export class Containerd {
  private constructor(
    readonly process: SandboxProcess,
    private readonly namespaces: Namespaces,
    private readonly programs: string,
  ) {}

  /**
   * @param programs the folder of containerd, its shim and ctr
   * @param directory for the configuration and the log
   */
  static async start(namespaces: Namespaces, programs: string, directory: string): Promise<Containerd> {
    const networks = join(directory, 'networks');
    await mkdir(networks, { recursive: true });
    await writeFile(join(networks, 'pods.conflist'), JSON.stringify(podNetwork));
    const configuration = join(directory, 'containerd.toml');
    await writeFile(configuration, containerdConfiguration(networks));
    const started = await SandboxProcess.start({
      name: 'containerd',
      command: [...namespaces.enter, join(programs, 'containerd'), '--config', configuration],
      directory,
      // The daemon starts its shim by name.
      env: { PATH: `${programs}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin` },
    });
    const containerd = new Containerd(started, namespaces, programs);
    await containerd.untilItAnswers();
    return containerd;
  }

  /** The first words of a command line of containerd's client, inside the namespaces. */
  get client(): readonly [string, ...string[]] {
    return [join(this.programs, 'ctr'), '--namespace=k8s.io'];
  }

  /** Imports an image, as if the node had pulled it. */
  async importImage({ archive, name }: ImageArchive): Promise<void> {
    await this.ctr(`Importing the image ${name}`, 'images', 'import', archive);
  }

  private async ctr(step: string, ...args: string[]): Promise<void> {
    await this.namespaces.run(step, [...this.client, ...args]);
  }

  private async untilItAnswers(): Promise<void> {
    const deadline = Date.now() + START_TIMEOUT;
    for (;;) {
      const failure = await this.ctr('Asking containerd', 'version').then(
        () => undefined,
        (error: Error) => error,
      );
      if (!failure) return;
      const { running, logFile } = this.process;
      if (!running) throw serverError('containerd', await readFile(logFile, 'utf8'), logFile);
      if (Date.now() > deadline)
        throw new SandboxError('containerd does not answer.', `Read the log. ${failure.message}`, {
          logFile,
        });
      await sleep(POLL_INTERVAL);
    }
  }
}

interface ImageStoreOptions {
  /** The folder of containerd, its shim and ctr. */
  readonly containerd: string;
  /** Path of the binary of go/cmd/pause. */
  readonly pause: string;
  readonly images: readonly ImageArchive[];
}

/**
 * Returns the data folder of a containerd that has the images. They are imported when the cache has none,
 * which takes a minute; a copy of the folder takes seconds.
 */
export async function imageStore(
  { containerd, pause, images }: ImageStoreOptions,
  report: Report,
): Promise<string> {
  const key = contentKey([containerd, ...images.flatMap(({ name, archive }) => [name, archive])]);
  const folder = await cached('image-store', key, async (partial) => {
    const directory = join(partial, 'node');
    const namespaces = await Namespaces.start(directory, [pause]);
    try {
      const runtime = await Containerd.start(namespaces, containerd, directory);
      for (const image of images) {
        report(`importing ${image.name} (first start only)`);
        await runtime.importImage(image);
      }
    } finally {
      await namespaces.stop();
    }
    await rename(namespaces.folder(DATA), join(partial, 'data'));
    await rm(directory, { recursive: true });
  });
  return join(folder, 'data');
}

/** Copies the images of a store to a node that has no containerd yet. */
export async function useImageStore(store: string, namespaces: Namespaces): Promise<void> {
  const data = namespaces.folder(DATA);
  const logFile = join(data, '..', 'image-store.log');
  const copy = (...args: string[]) =>
    runCommand({ step: 'Copying the images', command: ['cp', '--archive', ...args], logFile });
  // Files of images are never changed, only removed. Where the cache is on the same disk, a hard link to each
  // file is enough.
  await copy('--link', `${store}/.`, data).catch(() => copy(`${store}/.`, data));
  // Databases are changed in place, so these need a real copy.
  const find = [
    'find',
    data,
    '-name',
    '*.db',
    '-exec',
    'cp',
    '{}',
    '{}.own',
    ';',
    '-exec',
    'mv',
    '{}.own',
    '{}',
    ';',
  ];
  await runCommand({ step: 'Copying the databases of images', command: find as [string], logFile });
}
