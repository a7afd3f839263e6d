import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';
import { ControlPlane } from '../../../sandbox/control-plane';
import { builtPrograms, controlPlanePrograms } from '../../../sandbox/control-plane-programs';
import { mustKubectl } from '../../cluster';

// A stand-in of the hosts of the official releases: its programs are scripts that run those which this machine has built.

const files = new Map<string, Buffer | string>();
const requested: string[] = [];
let server: Server;
let url: string;
let folder: string;
const before = { ...process.env };
const sha256 = (content: Buffer | string) => createHash('sha256').update(content).digest('hex');
const isOfficial = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

beforeAll(async () => {
  const built = await builtPrograms(() => {});
  const script = (name: Parameters<typeof built>[0]) => `#!/bin/sh\nexec ${built(name).join(' ')} "$@"\n`;
  const machine = process.arch === 'x64' ? 'amd64' : 'arm64';
  for (const name of ['kube-apiserver', 'kube-controller-manager', 'kubectl'] as const) {
    files.set(`/release/v1.36.3/bin/linux/${machine}/${name}`, script(name));
    files.set(`/release/v1.36.3/bin/linux/${machine}/${name}.sha256`, sha256(script(name)));
  }
  const tar = pack();
  const archive = `etcd-v3.6.8-linux-${machine}.tar.gz`;
  tar.entry({ name: 'etcd-v3.6.8/README.md' }, 'about etcd');
  tar.entry({ name: 'etcd-v3.6.8/etcd', mode: 0o755 }, script('etcd'));
  tar.finalize();
  const packed = gzipSync(await buffer(tar));
  files.set(`/etcd/v3.6.8/${archive}`, packed);
  files.set('/etcd/v3.6.8/SHA256SUMS', `${sha256('other')}  etcd.zip\n${sha256(packed)}  ${archive}\n`);
  server = createServer((request, response) => {
    requested.push(request.url!);
    const content = files.get(request.url!);
    response.writeHead(content === undefined ? 404 : 200).end(content);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, 600_000);

afterAll(() => new Promise((resolve) => server.close(resolve)));

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'official-'));
  requested.length = 0;
});

afterEach(async () => {
  process.env = { ...before };
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** The programs with an empty cache, which is not that of other tests. */
async function providedBy(host: string) {
  process.env['HUB_OPERATOR_KUBERNETES_RELEASES'] = host;
  process.env['HUB_OPERATOR_ETCD_RELEASES'] = `${host}/etcd`;
  process.env['HUB_OPERATOR_CACHE'] = join(folder, 'cache');
  try {
    return await controlPlanePrograms(() => {});
  } finally {
    process.env = { ...before };
  }
}

(isOfficial ? describe : describe.skip)('controlPlanePrograms', () => {
  test('takes the official programs, with which a control plane starts, and downloads them once', async () => {
    const program = await providedBy(url);
    expect(await readdir(join(folder, 'cache'))).toEqual([expect.stringMatching(/^kubernetes-/)]);
    const plane = await ControlPlane.start(program, join(folder, 'cluster'));
    try {
      const answer = await mustKubectl([`--kubeconfig=${plane.kubeconfig}`, 'get', '--raw=/version']);
      expect(answer).toContain('v1.36.3');
    } finally {
      await plane.stopAll();
    }
    const downloads = requested.length;
    await providedBy(url);
    expect(requested).toHaveLength(downloads);
  }, 120_000);

  test('refuses a program with another checksum, and keeps nothing of it', async () => {
    const [path] = [...files.keys()].filter((name) => name.endsWith('kube-controller-manager'));
    const content = files.get(path!)!;
    files.set(path!, `${String(content)}# changed on the way\n`);
    try {
      await expect(providedBy(url)).rejects.toThrow(
        /^The checksum of \S+\/kube-controller-manager is wrong: [0-9a-f]{64} instead of/,
      );
    } finally {
      files.set(path!, content);
    }
    expect(await readdir(join(folder, 'cache'))).toEqual([]);
  });
});
