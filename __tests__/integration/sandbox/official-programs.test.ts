import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ControlPlane } from '../../../sandbox/control-plane';
import { controlPlanePrograms } from '../../../sandbox/control-plane-programs';
import { mustKubectl } from '../../cluster';
import { ReleaseHost } from '../../cluster/release-host';

let releases: ReleaseHost;
let folder: string;
const before = { ...process.env };
const isOfficial = process.platform === 'linux' && ['x64', 'arm64'].includes(process.arch);

beforeAll(async () => {
  releases = await ReleaseHost.start();
});

afterAll(() => releases?.stop());

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'official-'));
  releases.requested.length = 0;
});

afterEach(async () => {
  process.env = { ...before };
  await rm(folder, { recursive: true, force: true, maxRetries: 10 });
});

/** Returns the programs with an empty cache, separate from that of other tests. */
async function provided() {
  Object.assign(process.env, releases.environment, { HUB_OPERATOR_CACHE: join(folder, 'cache') });
  try {
    return await controlPlanePrograms(() => {});
  } finally {
    process.env = { ...before };
  }
}

(isOfficial ? describe : describe.skip)('controlPlanePrograms', () => {
  test('downloads the official programs once, and a control plane starts with them', async () => {
    const program = await provided();
    expect(await readdir(join(folder, 'cache'))).toEqual([expect.stringMatching(/^kubernetes-/)]);
    const plane = await ControlPlane.start(program, join(folder, 'cluster'));
    try {
      const answer = await mustKubectl([`--kubeconfig=${plane.kubeconfig}`, 'get', '--raw=/version']);
      expect(answer).toContain('v1.36.3');
    } finally {
      await plane.stopAll();
    }
    const downloads = releases.requested.length;
    await provided();
    expect(releases.requested).toHaveLength(downloads);
  });

  test('refuses a program with another checksum, and keeps nothing of it', async () => {
    const { files } = releases;
    const [path] = [...files.keys()].filter((name) => name.endsWith('kube-controller-manager'));
    const content = files.get(path!)!;
    files.set(path!, Buffer.from(`${String(content)}# changed on the way\n`));
    try {
      await expect(provided()).rejects.toThrow(
        /^The checksum of \S+\/kube-controller-manager is wrong: [0-9a-f]{64} instead of/,
      );
    } finally {
      files.set(path!, content);
    }
    expect(await readdir(join(folder, 'cache'))).toEqual([]);
  });
});
