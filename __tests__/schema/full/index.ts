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
  'helper',
  'person',
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

/** All settings of each sort of helper. */
const helperSettings: Readonly<Record<string, object>> = {
  boolean: { initial: true },
  number: { min: 5, max: 30.5, step: 0.5, mode: 'box', unit: '°C', deviceClass: 'temperature' },
  text: { min: 0, max: 255, pattern: '[a-z]+', mode: 'password', unit: 'words', initial: 'a' },
  select: { options: ['home', 'away'], initial: 'home' },
  datetime: { date: true, time: true, initial: '2026-12-24 18:00:00' },
  counter: { initial: 1, step: 2, minimum: 0, maximum: 10, restore: false },
  timer: { duration: '0:05:00', restore: true },
  schedule: Object.fromEntries(
    ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'].map((day) => [
      day,
      [{ from: '08:00', to: '24:00', data: { warm: true } }],
    ]),
  ),
};

/** The sample of a HubHelper of the sort that the path leads into. */
function withSettings(sample: Sample, path: string): Sample {
  const type = path.split('.')[1] ?? '';
  const settings = helperSettings[type];
  if (!settings) return sample;
  const { boolean: _, ...spec } = sample.spec as { readonly boolean: object };
  return { ...sample, spec: { ...spec, type, [type]: settings } };
}

/**
 * Returns the full sample of a kind that contains the path. Some fields exclude others: a Hub is either run
 * by the operator or external, `hubId` replaces `id`, a ConfigMap replaces a text, there is one selector at a
 * time, and a helper has one type.
 */
export function fullSample(kind: string, path = ''): Sample {
  if (kind === 'Hub' && path.startsWith('spec.external')) return externalHub;
  const sample = samples.get(kind);
  if (!sample) throw new Error(`there is no full sample of ${kind} in __tests__/schema/full`);
  if (kind === 'HubHelper') return withSettings(sample, path);
  if (path.startsWith('spec.select.')) return withSelector(sample, path);
  if (kind === 'HubBlueprint' && path.startsWith('spec.configMapRef')) return withConfigMap(sample);
  return path === 'spec.hubId' ? withHubId(sample) : sample;
}
