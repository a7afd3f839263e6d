import { createServer } from 'node:net';
import { type Sandbox, startSandbox } from '../../../sandbox';
import { kubectl, mustKubectl } from '../../cluster';

let sandbox: Sandbox;

beforeAll(async () => {
  sandbox = await startSandbox({ progress: 'silent' });
});

afterAll(() => sandbox.stop());

const here = (...args: string[]) => [`--kubeconfig=${sandbox.kubeconfig}`, ...args];

describe('the control plane of the sandbox', () => {
  test('is a cluster of its own', async () => {
    await mustKubectl(here('create', 'configmap', 'mine', '--from-literal=a=b'));
    expect((await kubectl(['get', 'configmap', 'mine', '--namespace=default'])).code).toBe(1);
  });

  test('every component comes back after a crash, on its port and with its data', async () => {
    const { controlPlane, apiServer } = sandbox;
    for (const component of ['etcd', 'kube-apiserver', 'kube-controller-manager'] as const) {
      const before = controlPlane.pids()[component]!;
      await controlPlane.kill(component);
      expect(controlPlane.pids()).not.toHaveProperty(component);
      expect(() => process.kill(before, 0)).toThrow('ESRCH');
      await controlPlane.start(component);
    }
    expect(sandbox.apiServer).toBe(apiServer);
    expect(await mustKubectl(here('get', 'configmap', 'mine', '--output=jsonpath={.data.a}'))).toBe('b');
  });

  test('a start fails with a clear message when another process has taken the port', async () => {
    const { controlPlane } = sandbox;
    await controlPlane.stop('kube-apiserver');
    const thief = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve, reject) => {
      thief.once('error', reject);
      thief.listen(controlPlane.ports.apiServer, '127.0.0.1', resolve);
    });
    try {
      await expect(controlPlane.start('kube-apiserver')).rejects.toThrow(
        'Starting kube-apiserver failed: a port is in use.',
      );
    } finally {
      await new Promise((resolve) => thief.close(resolve));
    }
    await controlPlane.start('kube-apiserver');
  });
});
