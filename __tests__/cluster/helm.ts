import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { helmProgram } from '../../sandbox/helm';
import { tether } from '../../sandbox/tether';
import { readManifests } from '../../manifests/read-manifests';

export const CHART = 'dist/chart';

/** In milliseconds. Helm is built from its sources once. */
export const HELM_BUILD_TIMEOUT = 1_800_000;

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** Runs the real Helm and returns its standard output. @throws Error with its standard error */
export async function helm(...args: readonly string[]): Promise<string> {
  await tether();
  const program = await helmProgram();
  return (await promisify(execFile)(program, [...args], { maxBuffer: 64 * 1024 * 1024 })).stdout;
}

/** Returns the objects that `helm template` renders. `values` are JSON by path. */
export async function rendered(
  namespace: string,
  values: Readonly<Record<string, unknown>> = {},
): Promise<Manifest[]> {
  const set = Object.entries(values).map(([path, value]) => `--set-json=${path}=${JSON.stringify(value)}`);
  // A Helm that its release script did not build assumes Kubernetes 1.20.
  const where = ['--namespace', namespace, '--kube-version', '1.36.0'];
  return parsed(await helm('template', 'hub-operator', CHART, ...where, ...set));
}

export async function parsed(text: string): Promise<Manifest[]> {
  const folder = await mkdtemp(join(tmpdir(), 'manifests-'));
  try {
    await writeFile(join(folder, 'manifests.yaml'), text);
    return readManifests(join(folder, 'manifests.yaml')) as Manifest[];
  } finally {
    await rm(folder, { recursive: true });
  }
}
