import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { loadAll } from 'js-yaml';
import { freshNamespace, mustKubectl } from '../cluster';
import { expectStrictDryRunOf } from './strict-dry-run';

// Tests samples/fleet: one definition for several homes, built with kustomize and with cdk8s, and the
// resources of Argo CD and Flux for them.

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: object };
  readonly spec: { readonly [field: string]: unknown };
}

const repository = join(__dirname, '..', '..');
const fleet = join(repository, 'samples', 'fleet');

const manifestsIn = (text: string) => loadAll(text) as Manifest[];
const kustomized = async (home: string) =>
  manifestsIn(await mustKubectl(['kustomize', join(fleet, 'homes', home)]));

let homes: readonly string[];
let folder: string;

beforeAll(async () => {
  homes = await readdir(join(fleet, 'homes'));
  folder = await mkdtemp(join(tmpdir(), 'fleet-'));
  const tsx = join(repository, 'node_modules', '.bin', 'tsx');
  await promisify(execFile)(tsx, [join(fleet, 'homes.ts')], {
    env: { ...process.env, CDK8S_OUTDIR: folder },
  });
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const synthesized = async (home: string) =>
  manifestsIn(await readFile(join(folder, `${home}.k8s.yaml`), 'utf8'));

test('the API server accepts each home as it is built by kustomize and by cdk8s', async () => {
  const namespace = await freshNamespace('fleet');
  expect(homes.length).toBeGreaterThan(1);
  for (const home of homes)
    for (const built of [await kustomized(home), await synthesized(home)]) {
      const items = built.filter(({ kind }) => kind !== 'Namespace');
      expect(items.map(({ kind }) => kind).sort()).toEqual(['Hub', 'HubAutomation', 'HubConfiguration']);
      expect(built.map(({ metadata }) => metadata.namespace ?? metadata.name)).toEqual(
        built.map(() => `home-${home}`),
      );
      await expectStrictDryRunOf(
        items.map((item) => ({ ...item, metadata: { ...item.metadata, namespace } })),
      );
    }
});

test('both give each home its own values, and the same ones', async () => {
  const hubs = new Set<string>();
  for (const home of homes) {
    const [left, right] = [await kustomized(home), await synthesized(home)].map((built) =>
      built.map(({ kind, metadata: { name }, spec = {} }) => ({ kind, name, spec })).sort(byKind),
    );
    expect(left).toEqual(right);
    hubs.add(JSON.stringify(left!.find(({ kind }) => kind === 'Hub')));
  }
  expect(hubs.size).toBe(homes.length);
});

test('Argo CD and Flux refer to folders that exist', async () => {
  const read = async (file: string) => manifestsIn(await readFile(join(fleet, file), 'utf8'));
  const flux = await read('flux.yaml');
  expect(flux.map(({ spec }) => spec['path'])).toEqual(homes.map((home) => `./homes/${home}`));
  const [set] = await read('applicationset.yaml');
  expect(set!.spec['generators']).toMatchObject([{ git: { directories: [{ path: 'homes/*' }] } }]);
});

const byKind = (a: { readonly kind: string }, b: { readonly kind: string }) => (a.kind < b.kind ? -1 : 1);
