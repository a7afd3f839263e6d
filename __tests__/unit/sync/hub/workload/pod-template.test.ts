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
});
