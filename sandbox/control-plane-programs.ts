import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { chmod, readFile, rm } from 'node:fs/promises';
import { arch, platform } from 'node:os';
import { join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import axios from 'axios';
import { extract } from 'tar-stream';
import { cached, contentKey } from './cache';
import { goBinary } from './go-build';
import { goModule } from './go-module';
import { errorLine, SandboxError } from './sandbox-error';
import type { Report } from './progress';

const KUBERNETES_PROGRAMS = ['kube-apiserver', 'kube-controller-manager', 'kubectl'] as const;
type Program = 'etcd' | (typeof KUBERNETES_PROGRAMS)[number];

/** The beginning of the command line of a program of the control plane, or of kubectl. */
export type ControlPlaneProgram = (program: Program) => readonly [program: string, ...args: string[]];

/**
 * Where official programs are downloaded, by the environment variable that overrides the host. A mirror needs
 * the same layout. With the value `none` the programs are built instead.
 */
const HOSTS = {
  HUB_OPERATOR_KUBERNETES_RELEASES: 'https://dl.k8s.io',
  HUB_OPERATOR_ETCD_RELEASES: 'https://github.com/etcd-io/etcd/releases/download',
} as const;
/** In milliseconds: a machine that cannot reach the hosts must not wait long. */
const REACH_TIMEOUT = 5_000;
const PLATFORMS: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/**
 * Returns the programs of the control plane. On Linux, where this machine reaches their hosts, these are the
 * official ones, verified by their published checksums. Elsewhere Go builds them from the same version, which
 * takes minutes. Both are kept in the cache.
 */
export async function controlPlanePrograms(report: Report): Promise<ControlPlaneProgram> {
  const folder = await officialPrograms(report).catch((error: unknown) => {
    if (!(error instanceof Unreachable)) throw error;
    report(`${error.message}: building it`);
    return undefined;
  });
  return folder === undefined ? builtPrograms(report) : (program) => [join(folder, program)];
}

/** The programs built by Go, in one binary. */
export async function builtPrograms(report: Report): Promise<ControlPlaneProgram> {
  const kube = await goBinary('kube', 'the Kubernetes control plane', report);
  return (program) => [kube, program];
}

/** The host of the releases does not answer, so the programs are built. */
class Unreachable extends Error {}

/**
 * Returns the folder of the official programs.
 * @returns undefined where none exist for this machine, or when they must not be used
 */
async function officialPrograms(report: Report): Promise<string | undefined> {
  const hosts = {
    kubernetes: host('HUB_OPERATOR_KUBERNETES_RELEASES'),
    etcd: host('HUB_OPERATOR_ETCD_RELEASES'),
  };
  const machine = PLATFORMS[arch()];
  if (hosts.kubernetes === 'none' || hosts.etcd === 'none' || platform() !== 'linux' || machine === undefined)
    return undefined;
  const versions = versionsOf(await readFile(join(goModule, 'go.mod'), 'utf8'));
  const etcdName = `etcd-${versions.etcd}-linux-${machine}.tar.gz`;
  const kubernetes = `${hosts.kubernetes}/release/${versions.kubernetes}/bin/linux/${machine}`;
  const etcd = `${hosts.etcd}/${versions.etcd}`;
  return cached(
    'kubernetes',
    contentKey([machine, versions.kubernetes, versions.etcd]),
    async (partial) => {
      report('looking for the official programs');
      const checksums = await textOf(`${etcd}/SHA256SUMS`);
      for (const name of KUBERNETES_PROGRAMS) {
        const checksum = (await textOf(`${kubernetes}/${name}.sha256`)).trim();
        await download(`${kubernetes}/${name}`, join(partial, name), checksum, report);
      }
      const archive = join(partial, etcdName);
      const checksum = checksums.split('\n').find((line) => line.endsWith(` ${etcdName}`)) ?? '';
      await download(`${etcd}/${etcdName}`, archive, checksum.split(/\s/)[0]!, report);
      await unpack(archive, 'etcd', join(partial, 'etcd'));
      await rm(archive);
      for (const name of ['etcd', ...KUBERNETES_PROGRAMS]) await chmod(join(partial, name), 0o755);
    },
    () => report('waiting for another process that downloads it'),
  );
}

const host = (name: keyof typeof HOSTS): string => process.env[name] || HOSTS[name];

/** The versions that Go would build, each with its leading `v`. */
function versionsOf(goMod: string): { readonly kubernetes: string; readonly etcd: string } {
  const version = (module: string) => new RegExp(`^\\s*${module} (v[\\d.]+)$`, 'm').exec(goMod)![1]!;
  return { kubernetes: version('k8s\\.io/kubernetes'), etcd: version('go\\.etcd\\.io/etcd/server/v3') };
}

async function textOf(url: string): Promise<string> {
  const answer = await axios
    .get<string>(url, {
      responseType: 'text',
      timeout: REACH_TIMEOUT,
    })
    .catch((error: unknown) => {
      throw new Unreachable(`cannot read ${url} (${error instanceof Error ? error.message : String(error)})`);
    });
  return answer.data;
}

/**
 * @param checksum SHA-256 in hexadecimal digits.
 * @throws SandboxError the content has another checksum
 */
async function download(url: string, file: string, checksum: string, report: Report): Promise<void> {
  const hash = createHash('sha256');
  let received = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      received += chunk.length;
      report(`downloading ${url.split('/').at(-1)}: ${Math.round(received / 2 ** 20)} MB`);
      done(null, chunk);
    },
  });
  try {
    const { data } = await axios.get<NodeJS.ReadableStream>(url, { responseType: 'stream' });
    await pipeline(data, counted, createWriteStream(file));
  } catch (error) {
    if (axios.isAxiosError(error) || (error as NodeJS.ErrnoException).code?.startsWith('ECONN'))
      throw new Unreachable(`cannot download ${url} (${errorLine(error)})`);
    throw error;
  }
  const digest = hash.digest('hex');
  if (digest === checksum) return;
  throw new SandboxError(
    `The checksum of ${url} is wrong: ${digest} instead of “${checksum}”.`,
    'Start again. If the error persists, a proxy or mirror changes downloads: set HUB_OPERATOR_KUBERNETES_RELEASES=none to build the control plane.',
  );
}

/** Extracts the file with this name from a compressed archive, from any of its folders. */
async function unpack(archive: string, name: string, file: string): Promise<void> {
  const entries = extract();
  entries.on('entry', (header, stream, next) => {
    const written = header.name.endsWith(`/${name}`)
      ? pipeline(stream, createWriteStream(file))
      : new Promise<void>((resolve) => stream.on('end', resolve).resume());
    written.then(() => next(), next);
  });
  await pipeline(createReadStream(archive), createGunzip(), entries);
}
