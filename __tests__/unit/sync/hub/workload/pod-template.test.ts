import { createHash } from 'node:crypto';
import { hub as definition } from '../../../../../operator/kinds';
import { defaulted } from '../../../../../operator/kinds/schema';
import { podTemplate } from '../../../../../operator/sync/hub/workload/pod-template';
import { aHub } from '../../fixtures';

describe('podTemplate', () => {
  const hub = aHub();
  const { spec } = podTemplate(hub, defaulted(definition.spec, hub.spec), {}, { config: 'sha256:1' });

  test('runs scripts isolated from the volume, without privileges that they do not need', () => {
    expect(spec.initContainers.map(({ name }) => name)).toEqual(['prepare-config', 'unban-operator-ip']);
    for (const { command, securityContext } of spec.initContainers) {
      expect(command.slice(0, 3)).toEqual(['python3', '-I', '-c']);
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'], add: ['DAC_OVERRIDE', 'FOWNER'] },
      });
    }
  });

  test('uses `live` only for liveness: until the hub listens it is alive, but neither started nor ready', () => {
    const [hubContainer] = spec.containers;
    const argumentsOf = ({ exec }: { exec: { command: readonly string[] } }) => exec.command.slice(5);
    expect(argumentsOf(hubContainer!.livenessProbe)).toEqual(['8123', 'live', '/config']);
    expect(argumentsOf(hubContainer!.readinessProbe)).toEqual(['8123']);
    expect(argumentsOf(hubContainer!.startupProbe)).toEqual(['8123']);
  });

  // Each hub whose template changes is restarted once at the upgrade, which CHANGELOG.md has to say. `jest -u`
  // writes the new template.
  test.each([
    ['with the defaults', {}],
    [
      'with all fields',
      {
        timezone: 'Europe/Berlin',
        hostNetwork: true,
        imagePullPolicy: 'Always',
        imagePullSecrets: [{ name: 'registry' }],
        resources: { requests: { memory: '512Mi' }, limits: { memory: '1Gi' } },
      },
    ],
  ])('is unchanged %s', (_, fields) => {
    const all = defaulted(definition.spec, { ...hub.spec, ...fields } as never);
    const labels = { 'app.kubernetes.io/name': 'home-assistant' };
    const hashes = { config: 'sha256:1', secrets: 'sha256:2', community: 'sha256:3' };
    const text = JSON.stringify(podTemplate(hub, all, labels, hashes), shortened, 1);
    expect(text).toMatchSnapshot();
  });
});

/** Replaces a program with its hash. */
const shortened = (_: string, value: unknown): unknown =>
  typeof value === 'string' && value.includes('\n')
    ? `sha256:${createHash('sha256').update(value).digest('hex')}`
    : value;
