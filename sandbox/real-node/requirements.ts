import { execFile } from 'node:child_process';
import { access, constants, mkdir, open, readdir, readFile, statfs } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { operatorNode } from '../image/operator-node';
import { cacheRoot } from '../cache';
import { runsDirectory } from '../run-directory';
import { errorLine, isRefusal } from '../sandbox-error';
import { missingControllers } from './cgroups';
import { tryNode } from './trial';

const run = promisify(execFile);

/** Debian packages that a node needs, each with one of its files. */
const PACKAGES = {
  runc: '/usr/sbin/runc',
  'containernetworking-plugins': '/usr/lib/cni/ptp',
  iptables: '/usr/sbin/iptables',
  conntrack: '/usr/sbin/conntrack',
  debootstrap: '/usr/sbin/debootstrap',
} as const;

/** Programs that a node needs, which Linux distributions have in differently named packages. */
const PROGRAMS = ['chroot', 'curl', 'find', 'ip', 'mount', 'nsenter', 'ss', 'tar', 'unshare'];

/** In milliseconds. A package server that does not answer must not delay all other tests. */
const INSTALL_TIMEOUT = 300_000;

const PROGRAM_TIMEOUT = 30_000;

/** Cgroup controllers with which the kubelet limits pods. */
const CONTROLLERS = ['cpu', 'cpuset', 'memory', 'pids'];

const GIB = 2 ** 30;
/** Available memory in bytes. The cluster with two hubs needs 3 GB of a machine with 8 GB. */
const MEMORY = 4 * GIB;
/**
 * Free disk space in bytes. The first start builds and downloads. Later starts only copy the images and write
 * the data of hubs, which is small.
 */
const FIRST_DISK = 10 * GIB;
const DISK = 3 * GIB;
/** Free share of the disk. The kubelet evicts pods where less than half of this is free. */
const DISK_SHARE = 0.02;
/**
 * Number of inotify instances for kubelet, containerd and similar programs. The limit applies to a user, and
 * thus to all of root's processes.
 */
const INOTIFY_INSTANCES = 24;

/**
 * Returns why a real node cannot run on this machine, or undefined when it can. Installs Debian packages that
 * are missing.
 * @throws Error the check fails for a reason that does not lie in the machine
 */
export const whyNoRealNode = (): Promise<string | undefined> =>
  obstacle().catch((error: unknown) => {
    if (isRefusal(error)) return errorLine(error);
    throw error;
  });

async function obstacle(): Promise<string | undefined> {
  if (process.platform !== 'linux') return 'it needs Linux';
  if (process.getuid?.() !== 0) return 'it needs root';
  const missing = await missingPrograms(process.env['PATH'] ?? '');
  if (missing.length > 0) return `it needs ${missing.join(', ')}, which PATH does not have`;
  const { departure } = operatorNode();
  if (departure !== undefined) return `the operator's image cannot be made: ${departure}`;
  const absent = await absentPackages();
  if (absent.length > 0) {
    const failure = await install(absent);
    if (failure !== undefined) return `apt-get cannot install ${absent.join(', ')}: ${failure}`;
  }
  const lack = await shortage();
  if (lack === undefined) await tryNode();
  return lack;
}

/** Checks resources that a node needs and that the trial does not show. Returns the one that is missing. */
async function shortage(): Promise<string | undefined> {
  const controllers = await missingControllers(CONTROLLERS);
  if (controllers.length > 0) return `there are no cgroups of ${controllers.join(', ')}`;
  const messages = await open('/dev/kmsg').then(
    (file) => file.close(),
    (error: Error) => error,
  );
  if (messages) return `the kubelet cannot read the messages of the kernel: ${messages.message}`;
  const memory = await availableMemory();
  if (memory < MEMORY)
    return `it needs ${gigabytes(MEMORY)} of memory, and ${gigabytes(memory)} are available`;
  return (await diskShortage()) ?? inotifyShortage();
}

async function availableMemory(): Promise<number> {
  const [, kib] = /^MemAvailable: +(\d+) kB$/m.exec(await readFile('/proc/meminfo', 'utf8')) ?? [];
  // limit of the cgroup; 0 or more than the machine's memory means no limit
  const limit = process.constrainedMemory();
  return Math.min(Number(kib) * 1024, limit > 0 ? limit : Infinity);
}

async function diskShortage(): Promise<string | undefined> {
  const isFirst = !(await readdir(cacheRoot()).catch(() => [])).some((name) =>
    name.startsWith('image-store-'),
  );
  for (const [folder, least] of [
    [cacheRoot(), isFirst ? FIRST_DISK : DISK],
    [runsDirectory(), DISK],
  ] as const) {
    await mkdir(folder, { recursive: true });
    const { bavail, blocks, bsize } = await statfs(folder);
    const needed = Math.max(least, DISK_SHARE * blocks * bsize);
    if (bavail * bsize < needed)
      return `it needs ${gigabytes(needed)} of disk in ${folder}, and ${gigabytes(bavail * bsize)} are free`;
  }
  return undefined;
}

/**
 * Counts the instances of all processes. Those of other users count too, although these have limits of their
 * own.
 */
async function inotifyShortage(): Promise<string | undefined> {
  const limit = Number(await readFile('/proc/sys/fs/inotify/max_user_instances', 'utf8'));
  const search = "find /proc/[0-9]*/fd -lname 'anon_inode:*inotify*' 2>/dev/null | wc -l";
  const used = Number((await run('sh', ['-c', search], { timeout: PROGRAM_TIMEOUT })).stdout);
  if (limit - used >= INOTIFY_INSTANCES) return undefined;
  return `it needs ${INOTIFY_INSTANCES} instances of inotify, and ${used} of ${limit} are in use`;
}

const gigabytes = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`;

/** @param path folders in the format of the variable PATH */
async function missingPrograms(path: string): Promise<string[]> {
  const folders = path.split(delimiter);
  const found = await Promise.all(
    PROGRAMS.map((name) =>
      Promise.any(folders.map((folder) => access(join(folder, name), constants.X_OK))).then(
        () => [],
        () => [name],
      ),
    ),
  );
  return found.flat();
}

async function absentPackages(): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(PACKAGES).map(async ([name, file]) =>
      access(file).then(
        () => [],
        () => [name],
      ),
    ),
  );
  return found.flat();
}

async function install(packages: readonly string[]): Promise<string | undefined> {
  console.log(`Installing ${packages.join(', ')} with apt-get, for the real node …`);
  const command = ['install', '--yes', '--no-install-recommends', ...packages];
  if ((await failureOf('apt-get', command)) === undefined) return undefined;
  return (await failureOf('apt-get', ['update'])) ?? (await failureOf('apt-get', command));
}

/** Runs a command. Returns the last line of its output if it fails. */
async function failureOf(program: string, args: readonly string[]): Promise<string | undefined> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  return run(program, args, { env, timeout: INSTALL_TIMEOUT }).then(
    () => undefined,
    (error: Error & { stderr?: string }) => (error.stderr || error.message).trim().split('\n').at(-1),
  );
}
