import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CoreV1Api, KubeConfig, type V1Container, type V1Pod } from '@kubernetes/client-node';
import { type Sandbox, startSandbox } from '../../../sandbox';
import { startNode } from '../../../sandbox/node';
import { tether } from '../../../sandbox/tether';
import { until } from '../../cluster';

// The development node when things break, on a cluster of its own. Its hub is a script, so nothing takes long.

const namespace = 'default';
const directory = mkdtempSync(join(tmpdir(), 'node-'));
const hass = join(directory, 'hass');
let sandbox: Sandbox;
let core: CoreV1Api;
let node: { stop(): Promise<void> };

const start = async () =>
  startNode({
    kubeconfig: sandbox.kubeconfig,
    directory,
    tether: await tether(),
    hubSoftware: { venv: directory, python: 'python3', hass, version: '2026.11.0', isForkable: false },
  });

beforeAll(async () => {
  sandbox = await startSandbox({ progress: 'silent' });
  const config = new KubeConfig();
  config.loadFromFile(sandbox.kubeconfig);
  core = config.makeApiClient(CoreV1Api);
  node = await start();
});
afterAll(async () => {
  await node.stop();
  await sandbox.stop();
  rmSync(directory, { recursive: true });
});

const idle: V1Container = { name: 'main', image: 'hub', command: ['sh', '-c', 'while :; do sleep 1; done'] };
const create = (name: string, container = idle) =>
  core.createNamespacedPod({
    namespace,
    body: { metadata: { name }, spec: { containers: [container], terminationGracePeriodSeconds: 1 } },
  });
const read = (name: string) => core.readNamespacedPod({ name, namespace });
const statusOf = (pod: V1Pod) => pod.status?.containerStatuses?.[0];
const running = (name: string, restarts: number) =>
  until(`${name} runs after ${restarts} restarts`, async () => {
    const pod = await read(name);
    const status = statusOf(pod);
    return status?.state?.running && status.restartCount === restarts && pod;
  });
const file = (pod: V1Pod, name: string) =>
  join(directory, 'pods', `${namespace}_${pod.metadata?.name}_${pod.metadata?.uid}`, name);
/** Undefined while the file is being written, and between two runs. */
const pidNow = (pod: V1Pod) =>
  (existsSync(file(pod, 'main.pid')) && Number(readFileSync(file(pod, 'main.pid'), 'utf8'))) || undefined;
const pidOf = (pod: V1Pod) => until('it has a process', () => pidNow(pod));
/** What a restart of the container would change. */
const runOf = (pod: V1Pod) => {
  const { containerID, restartCount, state } = statusOf(pod)!;
  return { containerID, restartCount, state };
};
const isAlive = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

describe('the node of the sandbox under faults', () => {
  test('the API server goes away: pods run on, and what happened meanwhile is told when it is back', async () => {
    await create('steady');
    await create('crashing');
    const steady = await running('steady', 0);
    const crashing = await running('crashing', 0);
    await sandbox.controlPlane.kill('kube-apiserver');
    const before = await pidOf(crashing);
    process.kill(before, 'SIGKILL');
    await until('the crashed process was started again', async () => (await pidOf(crashing)) !== before);
    await sandbox.controlPlane.start('kube-apiserver');

    await running('crashing', 1);
    expect(runOf(await read('steady'))).toEqual(runOf(steady));
    await create('late');
    await running('late', 0);
    await core.deleteNamespacedPod({ name: 'late', namespace });
    await until('the watch tells of deletions too', () =>
      read('late').then(
        () => false,
        (error: { code?: number }) => error.code === 404,
      ),
    );
  });

  test('a stopped node leaves no process; started again it runs the pods that are still there', async () => {
    await create('staying');
    await create('leaving');
    const staying = await running('staying', 0);
    const leaving = await running('leaving', 0);
    const pids = [await pidOf(staying), await pidOf(leaving)];
    await node.stop();
    expect(pids.filter(isAlive)).toEqual([]);
    await core.deleteNamespacedPod({ name: 'leaving', namespace, gracePeriodSeconds: 0 });
    node = await start();
    await running('staying', 1);
    expect(isAlive(pids[1]!)).toBe(false);
  });

  test('a hub that wants to be started again is, in the same container', async () => {
    writeFileSync(
      hass,
      '#!/bin/sh\n[ -e "$HOME/again" ] || { touch "$HOME/again"; exit 100; }\nwhile :; do sleep 1; done\n',
    );
    chmodSync(hass, 0o755);
    await create('hub', { name: 'main', image: 'hub' });
    const pod = await running('hub', 0);
    await until(
      'it was started again',
      async () => existsSync(file(pod, 'home/main/again')) && isAlive(await pidOf(pod)),
    );
    expect(runOf(await read('hub'))).toEqual(runOf(pod));
  });
});
