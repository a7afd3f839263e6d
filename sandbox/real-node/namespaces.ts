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

/** The beginning of the name of the device on this machine's side. */
const DEVICE = 'hubnode';

// Milliseconds.
const POLL_INTERVAL = 10;
const END_PAUSE = 500;
const END_ATTEMPTS = 20;

/**
 * Folders with a fixed path that a node's programs write to, among them that of the volumes of the controller manager's
 * hostPath provisioner. The node has empty ones of its own there.
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
 * The network, mount and process namespaces of a node. All that it makes vanishes with their first process: processes,
 * mounts, network devices, packet filter rules. That ends with this process, also after `kill -9`.
 */
export class Namespaces {
  /** The beginning of a command that runs the rest of it inside. */
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

  /** @param command that of the first process, which does nothing until it is killed */
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
        graceMs: 0, // nothing inside ends before it
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

  /** Runs a command inside to its end. @throws SandboxError its exit code is not 0 */
  async run(step: string, command: readonly string[]): Promise<string> {
    const [program, ...args] = this.enter;
    return runCommand({
      step,
      command: [program, ...args, ...command],
      logFile: join(this.directory, 'commands.log'),
    });
  }

  /** The path outside of one of the node's own folders. */
  folder(path: (typeof OWN_FOLDERS)[number]): string {
    return join(this.directory, 'folders', path);
  }

  /** Kills every process inside. */
  async stop(): Promise<void> {
    await this.first.stop();
    await removeDevice(`${DEVICE}${this.pid}`);
    await releaseFolders(this.claims);
  }

  private async connect(pid: number): Promise<void> {
    // Named after the node's process, since names are unique. The kernel removes it with the other end, which it may keep
    // for minutes after all processes have been killed.
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
    // The machine's name servers cannot be reached from here. Programs that ask them would wait for a minute.
    const names = join(this.directory, 'resolv.conf');
    await writeFile(names, '');
    lines.push(`[ ! -e /etc/resolv.conf ] || mount --bind ${names} /etc/resolv.conf`);
    await this.run('Mounting the folders of the node', [
      'sh',
      '-ec',
      // A kubelet wants its volumes to reach containers that already run.
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

/** Removes those of nodes whose first process has ended; returns the number of the others. */
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
 * The process id of the only child, as this machine sees it, once it runs the command: until then mounts inside may reach this
 * machine.
 */
async function childOf(first: SandboxProcess): Promise<number> {
  const { pid, logFile } = first;
  for (;;) {
    const { running } = first; // before it is asked for its child
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
    const child = children.trim();
    const name = await readFile(`/proc/${child}/comm`, 'utf8').catch(() => '');
    if (child !== '' && name !== '' && name.trim() !== 'unshare') return Number(child);
    if (!running) throw stepError('Making namespaces', await readFile(logFile, 'utf8'));
    await sleep(POLL_INTERVAL);
  }
}

/** Two neighbours of 198.18.0.0/15, which no network uses: it is reserved for measurements (RFC 2544). */
function freeAddresses(): [visitor: string, node: string] {
  const used = Object.values(networkInterfaces()).flatMap((all) => all?.map(({ address }) => address) ?? []);
  for (;;) {
    const number = randomInt(2 ** 15) * 4;
    const prefix = `198.${18 + (number >> 16)}.${(number >> 8) & 255}`;
    const [visitor, node] = [`${prefix}.${(number & 255) + 1}`, `${prefix}.${(number & 255) + 2}`];
    if (!used.includes(visitor)) return [visitor, node];
  }
}
