import { execFile } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { runCommand } from '../command';
import { SandboxProcess } from '../process';
import { isAlive } from '../run-directory';
import { stepError } from '../sandbox-error';
import { claimFolders, releaseFolders, releaseOldClaims } from './folders';

/** Prefix of the name of the network device on this machine's side. */
const DEVICE = 'hubnode';

// Durations in milliseconds.
const POLL_INTERVAL = 10;
const END_PAUSE = 500;
const END_ATTEMPTS = 20;

/**
 * Folders with a fixed path to which a node's programs write, among them the volumes of the controller
 * manager's hostPath provisioner. Each node mounts an empty folder of its own there.
 */
const OWN_FOLDERS = [
  '/run/containerd',
  '/run/netns',
  '/tmp/hostpath_pv',
  '/var/lib/cni',
  '/var/lib/containerd',
  '/var/lib/kubelet',
  '/var/log/containers',
  '/var/log/pods',
] as const;

/**
 * The network, mount and process namespaces of a node. Processes, mounts, network devices and packet filter
 * rules of the node vanish with the first process of the namespaces. That process ends with this one, also
 * after `kill -9`.
 */
export class Namespaces {
  /** The first words of a command line that runs a command inside the namespaces. */
  readonly enter: readonly [program: string, ...args: string[]];

  private constructor(
    private readonly first: SandboxProcess,
    private readonly directory: string,
    private readonly claims: readonly string[],
    /** Address of the node, reachable from this machine. */
    readonly address: string,
    /** Address of this machine, as the node sees it. */
    readonly visitor: string,
    private readonly pid: number,
  ) {
    this.enter = ['nsenter', '--target', String(pid), '--net', '--mount', '--pid', '--'];
  }

  /** @param command of the first process, which does nothing until it is killed */
  static async start(directory: string, command: readonly string[]): Promise<Namespaces> {
    const claims = await claimFolders(OWN_FOLDERS);
    const unshare = [
      'unshare',
      '--net',
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
    ] as const;
    let first: SandboxProcess | undefined;
    try {
      first = await SandboxProcess.start({
        name: 'namespaces',
        command: [...unshare, ...command],
        directory,
        graceMs: 0, // no process inside ends earlier
      });
      const pid = await childOf(first);
      const [visitor, address] = freeAddresses();
      const namespaces = new Namespaces(first, directory, claims, address, visitor, pid);
      await namespaces.connect(pid);
      await namespaces.mount();
      return namespaces;
    } catch (error) {
      await first?.stop();
      await releaseFolders(claims);
      throw error;
    }
  }

  /**
   * Runs a command inside the namespaces to its end.
   * @throws SandboxError the exit code is not 0
   */
  async run(step: string, command: readonly string[]): Promise<string> {
    const [program, ...args] = this.enter;
    return runCommand({
      step,
      command: [program, ...args, ...command],
      logFile: join(this.directory, 'commands.log'),
    });
  }

  /** Returns the path on this machine of one of the node's own folders. */
  folder(path: (typeof OWN_FOLDERS)[number]): string {
    return join(this.directory, 'folders', path);
  }

  /** Kills every process inside the namespaces. */
  async stop(): Promise<void> {
    await this.first.stop();
    await removeDevice(`${DEVICE}${this.pid}`);
    await releaseFolders(this.claims);
  }

  private async connect(pid: number): Promise<void> {
    // The device has the process id of the node in its name, since names are unique. The kernel removes the
    // device with the other end of the pair, which may take minutes after all processes were killed.
    await removeDevices();
    const device = `${DEVICE}${pid}`;
    const outside = async (...command: string[]) =>
      runCommand({
        step: 'Connecting the network of the node',
        command: ['ip', ...command],
        logFile: join(this.directory, 'commands.log'),
      });
    await outside(...['link', 'add', device, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)]);
    await outside('address', 'add', `${this.visitor}/30`, 'dev', device);
    await outside('link', 'set', device, 'up');
    await this.run('Setting up the network of the node', [
      'sh',
      '-ec',
      `ip link set lo up
       ip address add ${this.address}/30 dev eth0
       ip link set eth0 up
       ip route add default via ${this.visitor}
       echo 1 > /proc/sys/net/ipv4/ip_forward`,
    ]);
  }

  private async mount(): Promise<void> {
    const lines = OWN_FOLDERS.map((path) => `mkdir -p "$0${path}" && mount --bind "$0${path}" ${path}`);
    // The machine's name servers cannot be reached from inside the namespaces. Programs that query them would
    // wait for a minute.
    const names = join(this.directory, 'resolv.conf');
    await writeFile(names, '');
    lines.push(`[ ! -e /etc/resolv.conf ] || mount --bind ${names} /etc/resolv.conf`);
    await this.run('Mounting the folders of the node', [
      'sh',
      '-ec',
      // A kubelet needs its mounts to reach containers that already run.
      `mount --make-rshared /\n${lines.join('\n')}\nmount --make-rshared /`,
      join(this.directory, 'folders'),
    ]);
  }
}

/**
 * Removes the namespaces of nodes whose process has ended. The first process of such a node may still be about to end:
 * the function waits some seconds for it.
 */
export async function removeRemainsOfNamespaces(): Promise<void> {
  for (let attempt = 1; (await removeDevices()) > 0 && attempt < END_ATTEMPTS; attempt++)
    await sleep(END_PAUSE);
  await releaseOldClaims(OWN_FOLDERS);
}

/**
 * Removes the devices of nodes whose first process has ended. Returns the number of devices of running nodes.
 */
async function removeDevices(): Promise<number> {
  let others = 0;
  for (const device of await readdir('/sys/class/net')) {
    const [, pid] = new RegExp(`^${DEVICE}(\\d+)$`).exec(device) ?? [];
    if (pid === undefined) continue;
    if (isAlive(Number(pid))) others++;
    else await removeDevice(device);
  }
  return others;
}

async function removeDevice(device: string): Promise<void> {
  // The kernel may just have removed it.
  await promisify(execFile)('ip', ['link', 'delete', device]).catch(() => undefined);
}

/**
 * Returns the process id of the only child, as this machine sees it, as soon as it runs the command. Before
 * that, mounts inside could still reach this machine.
 */
async function childOf(first: SandboxProcess): Promise<number> {
  const { pid, logFile } = first;
  for (;;) {
    const { running } = first; // must be read before the process is asked for its child
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    const child = children.trim();
    const name = await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '');
    if (child !== '' && name !== '' && name.trim() !== 'unshare') return Number(child);
    if (!running) throw stepError('Making namespaces', await readFile(logFile, 'utf8'));
    await sleep(POLL_INTERVAL);
  }
}

/**
 * Returns two adjacent addresses of 198.18.0.0/15, a range that networks do not use because it is reserved
 * for measurements (RFC 2544).
 */
function freeAddresses(): [visitor: string, node: string] {
  const used = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
  for (;;) {
    const number = randomInt(2 ** 15) * 4;
    const prefix = `198.${18 + (number >> 16)}.${(number >> 8) & 255}`;
    const [visitor, node] = [`${prefix}.${(number & 255) + 1}`, `${prefix}.${(number & 255) + 2}`];
    if (!used.includes(visitor)) return [visitor, node];
  }
}
