import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { cacheRoot } from '../cache';
import { SandboxProcess } from '../process';
import { makeRunDirectory } from '../run-directory';
import { SandboxError, stepError } from '../sandbox-error';
import { withTimeLimit } from '../time-limit';
import { makeCgroup, removeCgroup } from './cgroups';
import { Namespaces } from './namespaces';

// Tries the operations of a node on this machine on a small scale before the whole node is built, which takes
// an hour. The trial uses the code and programs of the node where they exist.

/**
 * In milliseconds. The trial takes two seconds; a machine that needs longer than this is too slow for a node.
 */
const TRIAL_TIMEOUT = 120_000;
const RETRY_PAUSE = 100;

const PORT = 8123;
const LISTENER = `require('node:net').createServer((socket) => socket.end()).listen(${PORT}, '0.0.0.0')`;

/** Packet filter rules with each match and target that kube-proxy and kubelet use, in the same tables. */
const RULES = `
*mangle
:TRIAL - [0:0]
COMMIT
*filter
:TRIAL - [0:0]
-A TRIAL -m conntrack --ctstate NEW -m comment --comment "trial" -j ACCEPT
-A TRIAL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP
-A TRIAL -m conntrack --ctstate INVALID -j DROP
-A TRIAL -d 10.96.0.1/32 -p tcp -m tcp --dport 443 -j REJECT
COMMIT
*nat
:TRIAL - [0:0]
:TRIAL-LAST - [0:0]
-A TRIAL -m addrtype --dst-type LOCAL -j RETURN
-A TRIAL -m addrtype --src-type LOCAL -j RETURN
-A TRIAL -m statistic --mode random --probability 0.5 -j RETURN
-A TRIAL -p tcp -m tcp -j DNAT --to-destination 10.88.0.2:53
-A TRIAL -p udp -m udp -j DNAT --to-destination 10.88.0.2:53
-A TRIAL-LAST -m mark ! --mark 0x4000/0x4000 -j RETURN
-A TRIAL-LAST -j MARK --set-xmark 0x4000/0x0
-A TRIAL-LAST -j MASQUERADE --random-fully
-A PREROUTING -j TRIAL
-A OUTPUT -j TRIAL
-A POSTROUTING -j TRIAL-LAST
COMMIT
`;

/** Folders of this machine that are mounted in the container of the trial, for its program and libraries. */
const SYSTEM_FOLDERS = ['/bin', '/lib', '/lib64', '/usr'];

/**
 * Makes namespaces with network and mounts, packet filter rules, and a container with limits in the cgroup of
 * a node, and removes all of them.
 * @throws SandboxError, or an error of a system call, when one of these operations fails
 */
export async function tryNode(): Promise<void> {
  const directory = await makeRunDirectory();
  const cached = join(cacheRoot(), `trial-${process.pid}`);
  try {
    const cgroup = await makeCgroup();
    try {
      const namespaces = await Namespaces.start(directory, ['sleep', 'infinity']);
      try {
        await withTimeLimit(TRIAL_TIMEOUT, tryAll(namespaces, { directory, cached, cgroup }), () => {
          throw new SandboxError(
            `A trial of its parts takes longer than ${TRIAL_TIMEOUT / 1000} s.`,
            'The machine may be overloaded.',
          );
        });
      } finally {
        await namespaces.stop();
      }
    } finally {
      await removeCgroup(cgroup);
    }
  } finally {
    for (const path of [directory, cached]) await rm(path, { recursive: true, force: true });
  }
}

interface Places {
  readonly directory: string;
  /** A folder in the cache. */
  readonly cached: string;
  readonly cgroup: string;
}

async function tryAll(namespaces: Namespaces, { directory, cached, cgroup }: Places): Promise<void> {
  await tryConnection(namespaces, directory);
  const rules = join(directory, 'rules');
  await writeFile(rules, RULES);
  await namespaces.run('Making packet filter rules', [
    'sh',
    '-ec',
    `iptables-restore --noflush --counters "$0" && iptables-save > /dev/null`,
    rules,
  ]);
  // Images are unpacked in the cache, and containers use them in the folder of the run, so overlays are tried
  // in both.
  await overlay(namespaces, join(cached, 'overlay'));
  await tryContainer(namespaces, {
    directory,
    root: await overlay(namespaces, join(directory, 'overlay')),
    cgroup,
  });
}

/** Checks that this machine reaches a server in the network namespace of the node. */
async function tryConnection(namespaces: Namespaces, directory: string): Promise<void> {
  const listener = await SandboxProcess.start({
    name: 'listener',
    command: [...namespaces.enter, process.execPath, '-e', LISTENER],
    directory,
  });
  while (!(await accepts(namespaces.address))) {
    if (!listener.running)
      throw stepError('A server in a network namespace', await readFile(listener.logFile, 'utf8'));
    await sleep(RETRY_PAUSE);
  }
}

function accepts(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port: PORT, timeout: 5_000 });
    const end = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.on('connect', () => end(true));
    socket.on('error', () => end(false));
    socket.on('timeout', () => end(false));
  });
}

/** Mounts an overlay inside the namespaces. Returns the folder where it is mounted. */
async function overlay(namespaces: Namespaces, folder: string): Promise<string> {
  const path = (name: string) => join(folder, name);
  for (const name of ['lower', 'upper', 'work', 'merged']) await mkdir(path(name), { recursive: true });
  const layers = `lowerdir=${path('lower')},upperdir=${path('upper')},workdir=${path('work')}`;
  await namespaces.run('Mounting the layers of an image', [
    ...['mount', '-t', 'overlay', 'overlay', '-o', layers, path('merged')],
  ]);
  return path('merged');
}

/** Runs a program as containerd has runc run it: with limits, a seccomp profile, and namespaces. */
async function tryContainer(
  namespaces: Namespaces,
  { directory, root, cgroup }: { directory: string; root: string; cgroup: string },
): Promise<void> {
  const bundle = join(directory, 'bundle');
  await mkdir(bundle);
  await writeFile(join(bundle, 'config.json'), JSON.stringify(containerConfiguration(root, cgroup)));
  await namespaces.run('Running a container', [
    ...['runc', '--root', join(directory, 'runc'), 'run', '--bundle', bundle, 'trial'],
  ]);
}

const containerConfiguration = (root: string, cgroup: string) => ({
  ociVersion: '1.0.2',
  process: {
    user: { uid: 0, gid: 0 },
    args: ['/bin/sh', '-c', 'exit 0'],
    env: ['PATH=/usr/bin:/bin'],
    cwd: '/',
    noNewPrivileges: true,
  },
  root: { path: root, readonly: true },
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc' },
    ...SYSTEM_FOLDERS.filter((path) => existsSync(path)).map((path) => ({
      destination: path,
      type: 'bind',
      source: path,
      options: ['rbind', 'ro'],
    })),
  ],
  linux: {
    cgroupsPath: `/${cgroup}/trial`,
    namespaces: ['pid', 'network', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
    resources: {
      devices: [{ allow: false, access: 'rwm' }],
      memory: { limit: 2 ** 28 },
      cpu: { shares: 100, quota: 50_000, period: 100_000 },
      pids: { limit: 100 },
    },
    seccomp: {
      defaultAction: 'SCMP_ACT_ALLOW',
      syscalls: [{ names: ['swapon'], action: 'SCMP_ACT_ERRNO' }],
    },
  },
});
