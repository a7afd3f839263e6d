import { join } from 'node:path';
import { GROUP_VERSION } from '../../../operator/kinds/group';
import { readManifests } from '../../../manifests/read-manifests';

/** A resource with every field of its kind filled in, valid as it stands: `hub` is that of `hub.yaml`. */
export interface Sample {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: unknown;
  readonly status?: unknown;
}

const files = [
  'hub',
  'configuration',
  'secrets',
  'automation',
  'scene',
  'script',
  'integration',
  'floor',
  'label',
  'area',
  'zone',
  'community-repository',
] as const;

const read = (file: string): Sample => ({
  apiVersion: GROUP_VERSION,
  ...(readManifests(join(__dirname, `${file}.yaml`))[0] as Omit<Sample, 'apiVersion'>),
});

export const externalHub = read('hub-external');

const samples = new Map(files.map(read).map((sample) => [sample.kind, sample]));

function withHubId(sample: Sample): Sample {
  const { id: _, ...spec } = sample.spec as { readonly id: string };
  return { ...sample, spec: { ...spec, hubId: '1699999999999' } };
}

/**
 * The full sample of a kind in which the path is: a Hub is either run by the operator or external, never both, and `hubId` stands
 * instead of `id`.
 */
export function fullSample(kind: string, path = ''): Sample {
  if (kind === 'Hub' && path.startsWith('spec.external')) return externalHub;
  const sample = samples.get(kind);
  if (!sample) throw new Error(`there is no full sample of ${kind} in __tests__/schema/full`);
  return path === 'spec.hubId' ? withHubId(sample) : sample;
}
