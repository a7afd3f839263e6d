import { chmod, copyFile, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { type ImageConfiguration, writeArchive } from '../image/archive';
import { layerOf } from '../image/layer';
import { imagePlatform } from '../image/platform';
import { cached, contentKey } from '../cache';
import { runCommand } from '../command';
import { type HubSoftware, provideHubSoftware } from '../hub-software';
import type { Report } from '../progress';

/** An image as an archive, without a registry. */
export interface ImageArchive {
  /** Path of the archive, in Docker's format. */
  readonly archive: string;
  /** Name of the image with its tag, as pods refer to it. */
  readonly name: string;
}

export const PAUSE_IMAGE = 'localhost/hub-operator/pause:1';
export const DNS_IMAGE = 'localhost/hub-operator/coredns:1';

interface ImageContent extends ImageConfiguration {
  /** Name of the image with its tag. */
  readonly name: string;
  /** A folder whose content becomes the file system of the image. The folder is removed. */
  readonly root: string;
  readonly logFile: string;
}

/** Writes an image of one layer as `image.tar` in a folder. */
async function writeImage(
  folder: string,
  { name, root, logFile, ...configuration }: ImageContent,
): Promise<void> {
  const layer = join(folder, 'layer.tar');
  await runCommand({
    step: `Packing the image ${name}`,
    command: [
      ...(['tar', '--create', '--numeric-owner', '--owner=0', '--group=0'] as const),
      ...(['-f', layer, '-C', root, '.'] as const),
    ],
    logFile,
  });
  await rm(root, { recursive: true });
  const archive = join(folder, 'image.tar');
  await writeArchive(archive, name, configuration, imagePlatform(), [await layerOf(layer)]);
  await rm(layer);
}

/** Makes an image that contains one static program. */
export async function programImage(name: string, program: string): Promise<ImageArchive> {
  const file = basename(program);
  const folder = await cached(`image-${file}`, contentKey([name, program]), async (partial, logFile) => {
    const root = join(partial, 'root');
    await mkdir(root);
    await copyFile(program, join(root, file));
    await chmod(join(root, file), 0o755);
    await writeImage(partial, { name, root, entrypoint: [`/${file}`], logFile });
  });
  return { archive: join(folder, 'image.tar'), name };
}

/** The exit code by which the hub requests a restart. The entry point of the hub's image obeys it. */
const RESTART = 100;

/** The start script, which follows the hub's own image: its programs are on PATH, and it runs on /config. */
const START = `#!/bin/sh
# Packages that integrations ask for are in the image, or absent: nothing is downloaded.
ended=
while :; do
  /opt/hub/bin/hass --config /config --skip-pip &
  hub=$!
  trap 'ended=1; kill -TERM $hub' TERM INT
  wait $hub
  code=$?
  [ $code -gt 128 ] && { wait $hub; code=$?; }
  # One that was about to start again is not started when the container is to end.
  [ -z "$ended" ] && [ $code -eq ${RESTART} ] || exit $code
done
`;

const SUITE = 'bookworm';
const MIRROR = 'http://deb.debian.org/debian';

/** Folders of Debian that no container of a hub reads. */
const UNUSED = ['usr/share/doc', 'usr/share/locale', 'usr/share/man', 'var/cache/apt', 'var/lib/apt/lists'];

/**
 * Makes the image of the hub: a Debian root, the portable Python and Home Assistant.
 * @param repository name of the image without tag, as a Hub refers to it
 */
export async function hubImage(repository: string, report: Report): Promise<ImageArchive> {
  // A Python of this machine would need libraries of this machine.
  const software = await provideHubSoftware(report, { portable: true });
  const name = `${repository}:${software.version}`;
  const key = contentKey([name, software.venv, START, SUITE, ...UNUSED]);
  const folder = await cached(
    'image-hub',
    key,
    (partial, logFile) => buildHubImage(partial, { name, software, logFile, report }),
    () => report('waiting for another process that is building it'),
  );
  return { archive: join(folder, 'image.tar'), name };
}

async function buildHubImage(
  folder: string,
  {
    name,
    software,
    logFile,
    report,
  }: { name: string; software: HubSoftware; logFile: string; report: Report },
): Promise<void> {
  const root = join(folder, 'root');
  const run = (step: string, ...command: [string, ...string[]]) => runCommand({ step, command, logFile });
  report('installing Debian');
  // debootstrap writes errors to either stream.
  const debootstrap = ['sh', '-c', 'exec debootstrap --variant=minbase "$@" 2>&1', 'debootstrap'] as const;
  await run('Installing Debian', ...debootstrap, SUITE, root, MIRROR);
  for (const path of UNUSED) await rm(join(root, path), { recursive: true, force: true });

  report('copying Home Assistant');
  await copySoftware(software, root, (from, to) =>
    run('Copying Home Assistant', 'cp', '--archive', from, to),
  );
  await writeFile(join(root, 'init'), START, { mode: 0o755 });

  // Without this step each container would compile the modules when it starts.
  report('compiling Python');
  await run(
    'Compiling Home Assistant',
    ...(['chroot', root, '/opt/hub/bin/python', '-m', 'compileall', '-q', '-j2'] as const),
    ...(['/opt/hub/lib', '/opt/python/lib'] as const),
    // compileall fails for files of another version of Python, which no program imports
  ).catch(() => undefined);

  report('packing the image');
  await writeImage(folder, {
    name,
    root,
    entrypoint: ['/init'],
    environment: {
      PATH: '/opt/hub/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      LANG: 'C.UTF-8',
      HOME: '/root',
    },
    logFile,
  });
}

/** Copies Home Assistant and its interpreter, and makes one refer to the copy of the other. */
async function copySoftware(
  { venv }: HubSoftware,
  root: string,
  copy: (from: string, to: string) => Promise<unknown>,
): Promise<void> {
  const configuration = await readFile(join(venv, 'pyvenv.cfg'), 'utf8');
  const [, home] = /^home = (.*)$/m.exec(configuration) ?? [];
  if (home === undefined) throw new Error(`cannot find the interpreter of ${venv}`);
  await copy(dirname(home), join(root, 'opt/python'));
  await copy(venv, join(root, 'opt/hub'));
  await writeFile(join(root, 'opt/hub/pyvenv.cfg'), configuration.replace(home, '/opt/python/bin'));
  for (const link of ['python', 'python3', 'python3.14']) {
    await rm(join(root, 'opt/hub/bin', link), { force: true });
    await symlink('/opt/python/bin/python3', join(root, 'opt/hub/bin', link));
  }
}
