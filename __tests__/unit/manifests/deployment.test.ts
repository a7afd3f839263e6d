import { App, Chart, Testing } from 'cdk8s';
import { Operator } from '../../../manifests/operator';
import { defaultSettings, type SynthSettings } from '../../../manifests/settings';

interface Manifest {
  readonly kind: string;
  readonly spec: Record<string, never>;
}

function synthesized(settings: Partial<SynthSettings> = {}): Manifest[] {
  const chart = new Chart(new App(), 'test');
  new Operator(chart, { ...defaultSettings, ...settings });
  return Testing.synth(chart) as Manifest[];
}

const spec = (kind: string, settings?: Partial<SynthSettings>): Record<string, unknown> =>
  synthesized(settings).find((each) => each.kind === kind)!.spec;

interface Pod {
  readonly containers: [
    {
      readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
      readonly env: readonly { readonly name: string; readonly value?: string }[];
    },
  ];
}
const pod = (settings?: Partial<SynthSettings>) =>
  (spec('Deployment', settings) as unknown as { template: { spec: Pod } }).template.spec;

describe('Operator: the objects of its pods', () => {
  test('replicas are spread over nodes and zones, and share a node when there is no other', () => {
    expect(pod()).toMatchObject({
      topologySpreadConstraints: ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].map(
        (topologyKey) => ({ topologyKey, whenUnsatisfiable: 'ScheduleAnyway' }),
      ),
    });
  });

  test('the selector of the Deployment has no version, which could not be changed', () => {
    expect(spec('Deployment')['selector']).toEqual({
      matchLabels: { 'app.kubernetes.io/name': 'hub-operator' },
    });
  });

  test('a drain evicts the only replica, even one that is not ready', () => {
    expect(spec('PodDisruptionBudget')).toMatchObject({
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
    });
  });

  test('the policy allows connections only to the served ports, and limits no connection of the operator', () => {
    for (const webhook of ['self-signed', undefined] as const) {
      const policy = spec('NetworkPolicy', { webhook }) as unknown as {
        policyTypes: string[];
        ingress: [{ ports: { port: string }[] }];
      };
      expect(policy.policyTypes).toEqual(['Ingress']);
      const [container] = pod({ webhook }).containers;
      expect(policy.ingress[0].ports.map(({ port }) => port)).toEqual(
        container.ports.map(({ name }) => name),
      );
    }
  });

  test('a namespaced operator gets the namespaces in which it works', () => {
    const [{ env }] = pod({ scope: 'namespaced', watchNamespaces: ['home', 'garden'] }).containers;
    expect(env.find(({ name }) => name === 'WATCH_NAMESPACES')?.value).toBe('home,garden');
    expect(pod().containers[0].env.map(({ name }) => name)).not.toContain('WATCH_NAMESPACES');
  });

  test('every object is in the namespace of the settings, and none in another', () => {
    for (const scope of ['cluster', 'namespaced'] as const)
      for (const webhook of ['self-signed', 'cert-manager'] as const) {
        const text = JSON.stringify(synthesized({ namespace: 'elsewhere', scope, webhook }));
        expect(text).toContain('"namespace":"elsewhere"');
        expect(text).not.toContain('"namespace":"hub-operator"');
      }
  });
});
