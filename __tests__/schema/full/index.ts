import { join } from 'node:path';
import { GROUP_VERSION } from '../../../operator/kinds/group';
import { readManifests } from '../../../manifests/read-manifests';

/** A valid resource with every field of its kind. `hub` is the content of `hub.yaml`. */
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
  'blueprint',
  'integration',
  'floor',
  'label',
  'area',
  'zone',
  'entity',
  'device',
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

/** Alternative selectors of a device, which exclude the one of the sample, by field. */
const otherDevices: Readonly<Record<string, object>> = {
  connection: { connection: { type: 'mac', value: 'AA:BB:CC:DD:EE:FF' } },
  serialNumber: { serialNumber: 'SN-1' },
  name: { name: 'Hue bridge' },
};

interface Selecting {
  readonly select: { readonly identifier?: object; readonly device?: { readonly identifier?: object } };
  readonly entityId?: string;
}

/** Returns the sample of a HubBlueprint whose text is in a ConfigMap. */
function withConfigMap(sample: Sample): Sample {
  const { content: _, ...spec } = sample.spec as { readonly content: string };
  return { ...sample, spec: { ...spec, configMapRef: { name: 'blueprints', key: 'motion_light.yaml' } } };
}

/** Returns the sample of a HubEntity or HubDevice with the selector that contains the path. */
function withSelector(sample: Sample, path: string): Sample {
  const { entityId, ...spec } = sample.spec as Selecting;
  const [, , first = '', second = ''] = path.split('.');
  if (first === 'entityId') return { ...sample, spec: { ...spec, select: { entityId: 'light.kitchen' } } };
  const { select } = spec;
  if (first === 'unique') {
    const unique = { integration: 'hue', domain: 'light', uniqueId: '00:17:88:01' };
    return { ...sample, spec: { ...spec, entityId, select: { unique } } };
  }
  if (first === 'device' && second in otherDevices) {
    const { identifier: _, ...device } = select.device!;
    return {
      ...sample,
      spec: { ...spec, entityId, select: { device: { ...device, ...otherDevices[second] } } },
    };
  }
  if (!(first in otherDevices)) return sample;
  const { identifier: _, ...others } = select;
  return { ...sample, spec: { ...spec, select: { ...others, ...otherDevices[first] } } };
}

/**
 * Returns the full sample of a kind that contains the path. Some fields exclude others: a Hub is either run
 * by the operator or external, `hubId` replaces `id`, a ConfigMap replaces
 * a text, and there is one selector at a time.
 */
export function fullSample(kind: string, path = ''): Sample {
  if (kind === 'Hub' && path.startsWith('spec.external')) return externalHub;
  const sample = samples.get(kind);
  if (!sample) throw new Error(`there is no full sample of ${kind} in __tests__/schema/full`);
  if (path.startsWith('spec.select.')) return withSelector(sample, path);
  if (kind === 'HubBlueprint' && path.startsWith('spec.configMapRef')) return withConfigMap(sample);
  return path === 'spec.hubId' ? withHubId(sample) : sample;
}
