import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { operatorNode } from '../../image/operator-node';
import { makeCgroup, removeCgroup } from './cgroups';

const run = promisify(execFile);

/** What a node needs of Debian, and a file of each package. */
const PACKAGES = {
  runc: '/usr/sbin/runc',
  'containernetworking-plugins': '/usr/lib/cni/ptp',
  iptables: '/usr/sbin/iptables',
  conntrack: '/usr/sbin/conntrack',
  debootstrap: '/usr/sbin/debootstrap',
} as const;

/** What Linux systems have in packages with names of their own. */
const PROGRAMS = ['curl', 'ip', 'mount', 'nsenter', 'ss', 'tar', 'unshare'];

/** Mounts, a network device and packet filter rules in namespaces of their own, as the node makes them. */
const PROBE = [
  'mount -t tmpfs none /mnt',
  'mkdir /mnt/lower /mnt/upper /mnt/work /mnt/merged',
  'mount -t overlay none -o lowerdir=/mnt/lower,upperdir=/mnt/upper,workdir=/mnt/work /mnt/merged',
  'ip link add probe type veth peer name peer',
  'iptables -t nat -A POSTROUTING -m comment --comment probe -j MASQUERADE',
].join(' && ');

/** Why a real node cannot run on this machine; undefined: it can. Installs Debian packages that are absent. */
export async function whyNoRealNode(): Promise<string | undefined> {
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
  return (
    (await failureOf('unshare', [
      '--net',
      '--mount',
      '--pid',
      '--fork',
      '--mount-proc',
      'sh',
      '-c',
      PROBE,
    ])) ??
    (await makeCgroup()
      .then(removeCgroup)
      .then(
        () => undefined,
        (error: Error) => `cannot make a cgroup: ${error.message}`,
      ))
  );
}

/** @param path as the variable PATH */
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

/** The last line of what a command that fails says. */
async function failureOf(program: string, args: readonly string[]): Promise<string | undefined> {
  return run(program, args, { env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } }).then(
    () => undefined,
    (error: Error & { stderr?: string }) => (error.stderr || error.message).trim().split('\n').at(-1),
  );
}
