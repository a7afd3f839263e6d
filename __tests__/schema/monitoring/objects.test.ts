import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mustKubectl } from '../../cluster';
import { dashboardText } from '../../../manifests/monitoring/objects';
import { readManifests } from '../../../manifests/read-manifests';

/** The files of dist/monitoring as kustomize combines them. The sandbox has no CRDs for them. */

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: {
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> };
    readonly endpoints?: readonly { readonly port: string }[];
    readonly ports?: readonly { readonly name: string }[];
  };
  readonly data?: Readonly<Record<string, string>>;
}

let objects: readonly Manifest[];
const ofKind = (kind: string) => objects.filter((each) => each.kind === kind);

beforeAll(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'monitoring-'));
  try {
    const file = join(folder, 'all.yaml');
    await mustKubectl(['kustomize', 'dist/monitoring', '--output', file]);
    objects = readManifests(file) as Manifest[];
  } finally {
    await rm(folder, { recursive: true });
  }
});

describe('dist/monitoring', () => {
  test('it has the alerts, the dashboard and the service monitor', () => {
    expect(objects.map(({ kind }) => kind).sort()).toEqual(['ConfigMap', 'PrometheusRule', 'ServiceMonitor']);
  });

  test('the service monitor selects the port of exactly one Service of the installation', () => {
    const [{ spec } = {}] = ofKind('ServiceMonitor');
    const [{ port } = { port: '' }] = spec!.endpoints!;
    const labels = Object.entries(spec!.selector!.matchLabels!);
    const services = (readManifests('dist/install.yaml') as Manifest[]).filter(
      ({ kind, metadata, spec: service }) =>
        kind === 'Service' &&
        labels.every(([key, value]) => metadata.labels?.[key] === value) &&
        service!.ports!.some(({ name }) => name === port),
    );
    expect(services.map(({ metadata }) => metadata.name)).toEqual(['hub-operator-metrics']);
  });

  test('the dashboard is found by its label and is the one that is imported by hand', () => {
    const [{ metadata, data } = { metadata: { name: '' } }] = ofKind('ConfigMap');
    expect(metadata.labels?.['grafana_dashboard']).toBe('1');
    expect(Object.values(data!)).toEqual([dashboardText()]);
  });
});
