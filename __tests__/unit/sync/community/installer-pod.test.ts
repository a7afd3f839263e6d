import type { Pod } from '../../../../operator/sync/hub-pod/owned-objects';
import {
  type HubWorkload,
  type Installation,
  installationOf,
  installerPod,
  verdictOf,
} from '../../../../operator/sync/community/installer-pod';

const metadata = { name: 'villa-community-1', namespace: 'home' };
const install = {
  repository: 'o/n',
  ref: 'v1',
  target: 't',
  isFile: false,
  digest: 'sha256:1',
  provides: ['t'],
};
const installation: Installation = { install, remove: [], claimUID: 'claim', parts: 2 };
const workload = {
  claimName: 'villa-config',
  nodeName: 'node-1',
  set: {
    metadata: { name: 'villa' },
    spec: {
      template: {
        spec: {
          securityContext: { runAsUser: 1000 },
          tolerations: [{ key: 'home' }],
          initContainers: [
            {
              name: 'prepare-config',
              image: 'hub:1',
              securityContext: { allowPrivilegeEscalation: false },
              env: [],
            },
          ],
          containers: [{ name: 'hub', image: 'other' }],
          hostNetwork: true,
        },
      },
    },
  },
} as unknown as HubWorkload;

const pod = (status: Pod['status']): Pod => ({ metadata, ...(status && { status }) });
const terminated = (exitCode: number, message: string) =>
  pod({ containerStatuses: [{ name: 'install', state: { terminated: { exitCode, message } } }] });

describe('installerPod', () => {
  test('is admitted wherever the pod of the hub is, and gets nothing that it does not need', () => {
    const { spec } = installerPod(metadata, installation, workload) as unknown as {
      spec: Record<string, unknown> & { containers: Record<string, unknown>[]; volumes: unknown[] };
    };
    expect(spec).toMatchObject({
      nodeName: 'node-1',
      restartPolicy: 'Never',
      activeDeadlineSeconds: 300,
      automountServiceAccountToken: false,
      securityContext: { runAsUser: 1000 },
      tolerations: [{ key: 'home' }],
    });
    expect(spec).not.toHaveProperty('hostNetwork');
    expect(spec.containers).toHaveLength(1);
    expect(spec.containers[0]).toMatchObject({
      image: 'hub:1',
      securityContext: { allowPrivilegeEscalation: false },
    });
    expect(spec.containers[0]).not.toHaveProperty('env');
    expect(JSON.stringify(spec.volumes)).toContain('villa-community-1-1');
    expect(JSON.stringify(spec.volumes)).not.toContain('villa-community-1-2');
  });

  test('has a command line that Linux accepts for any names that a repository provides', () => {
    const provides = Array.from({ length: 500 }, (_, index) => 'ü'.repeat(197) + String(index));
    const { spec } = installerPod(
      metadata,
      { ...installation, install: { ...install, provides } },
      workload,
    ) as unknown as {
      spec: { containers: [{ command: string[] }] };
    };
    const { command } = spec.containers[0];
    for (const argument of command) expect(Buffer.byteLength(argument)).toBeLessThan(128 * 1024);
    expect(JSON.parse(command.at(-1)!)).toEqual({
      install: { target: 't', isFile: false, digest: 'sha256:1' },
      remove: [],
    });
  });

  test('describes the installation in its annotation', () => {
    expect(installationOf(installerPod(metadata, installation, workload))).toEqual(installation);
    expect(installationOf({ metadata })).toBeUndefined();
    for (const changed of ['{"half', 'null', '[]'])
      expect(
        installationOf({
          metadata: { ...metadata, annotations: { 'hub-operator.dev/installation': changed } },
        }),
      ).toBeUndefined();
  });

  test.each([
    ['nothing yet', pod(undefined), { result: 'running', message: undefined }],
    [
      'it is starting',
      pod({ containerStatuses: [{ name: 'install', state: { waiting: { reason: 'ContainerCreating' } } }] }),
      { result: 'running', message: undefined },
    ],
    [
      'the image is missing',
      pod({ containerStatuses: [{ name: 'install', state: { waiting: { reason: 'ErrImagePull' } } }] }),
      { result: 'running', message: 'ErrImagePull' },
    ],
    [
      'it cannot be scheduled',
      pod({ conditions: [{ type: 'PodScheduled', status: 'False', message: 'no node' }] }),
      { result: 'running', message: 'no node' },
    ],
    [
      'done',
      terminated(0, '{"result":"done","message":"","id":"1"}'),
      { result: 'done', message: '', installationID: '1' },
    ],
    ['conflict', terminated(1, '{"result":"conflict","message":"x"}'), { result: 'conflict', message: 'x' }],
    ['a crash', terminated(1, 'Traceback: no space'), { result: 'failed', message: 'Traceback: no space' }],
    ['words of another program', terminated(1, 'null'), { result: 'failed', message: 'null' }],
    ['killed', terminated(137, ''), { result: 'failed', message: 'exit code 137' }],
    ['evicted', pod({ phase: 'Failed', reason: 'Evicted' }), { result: 'failed', message: 'Evicted' }],
  ])('its verdict is read from its status: %s', (_, given, verdict) => {
    expect(verdictOf(given)).toEqual(verdict);
  });
});
