import { KubeConfig } from '@kubernetes/client-node';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../../operator/base/clock';
import { pathOf } from '../../../operator/runtime/objects';
import { ApiClient } from '../../../operator/runtime/api-client';
import { builtin } from '../../../operator/runtime/types';
import { type Sandbox, startSandbox } from '../../../sandbox';
import { until } from '../../cluster';
import { applyAs } from '../../cluster/admin-cluster';
import { ManualClock } from '../../unit/manual-clock';
import { Mirror } from './mirror';

// The test has its own control plane, since its restarts would disturb other tests.
const namespace = 'default';

let directory: string;
let sandbox: Sandbox;
let kubeConfig: KubeConfig;
let truth: ApiClient;
let mirror: Mirror | undefined;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'restarts-'));
  sandbox = await startSandbox({ directory, progress: 'plain' });
  kubeConfig = new KubeConfig();
  kubeConfig.loadFromFile(sandbox.kubeconfig);
  truth = new ApiClient(kubeConfig, { clock: systemClock });
});
afterEach(() => mirror?.stop());
afterAll(async () => {
  truth.close();
  await sandbox.stop();
  await rm(directory, { recursive: true, force: true });
});

const put = (name: string, value: string) =>
  applyAs(truth, 'user', builtin.ConfigMap, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data: { value },
  });
const remove = (name: string) =>
  truth.request({ method: 'DELETE', path: pathOf(builtin.ConfigMap, namespace, name) });
/** Retries a write, because a server that has just started refuses some requests. */
const eventually = (write: () => Promise<unknown>) =>
  until('it was written', async () => (await write()) !== undefined);
const agree = () => until('the store is the server’s list', () => mirror!.agree(truth));

describe('Informer over restarts of the API server', () => {
  test('the API server is killed and comes back', async () => {
    await Promise.all([put('changed', '1'), put('deleted', '1')]);
    mirror = new Mirror(kubeConfig, builtin.ConfigMap, namespace);
    await agree();
    await sandbox.controlPlane.kill('kube-apiserver');
    await until('the loss is noticed', () => mirror!.failures.length > 1);
    await sandbox.controlPlane.start('kube-apiserver');
    await eventually(() => put('changed', '2'));
    await eventually(() => remove('deleted'));
    await eventually(() => put('created', '1'));
    await agree();
  });

  test('etcd is killed and comes back', async () => {
    mirror = new Mirror(kubeConfig, builtin.ConfigMap, namespace);
    await agree();
    await sandbox.controlPlane.kill('etcd');
    await sandbox.controlPlane.start('etcd');
    await eventually(() => put('changed', '3'));
    await eventually(() => put('after-etcd', '1'));
    await agree();
  });

  test('etcd is restored from a backup: its objects go back in time, and the store with them', async () => {
    const clock = new ManualClock();
    const data = join(directory, 'cluster', 'etcd');
    const backup = join(directory, 'backup');
    await eventually(() => put('at-backup', '1'));
    await sandbox.controlPlane.stop('kube-apiserver');
    await sandbox.controlPlane.stop('etcd');
    await cp(data, backup, { recursive: true });
    await sandbox.controlPlane.start('etcd');
    await sandbox.controlPlane.start('kube-apiserver');
    await eventually(() => put('at-backup', '2'));
    await eventually(() => put('since-backup', '1'));
    // makes the old history longer than the new one
    for (let time = 0; time < 50; time++) await eventually(() => put('busy', String(time)));
    mirror = new Mirror(kubeConfig, builtin.ConfigMap, namespace, { clock });
    await agree();

    await sandbox.controlPlane.kill('kube-apiserver');
    await sandbox.controlPlane.kill('etcd');
    await rm(data, { recursive: true });
    await cp(backup, data, { recursive: true });
    await sandbox.controlPlane.start('etcd');
    await sandbox.controlPlane.start('kube-apiserver');
    // The server does not answer a watch that asks for a version in the future. Only the missing events show
    // it.
    await until('the store is the server’s list', async () => {
      await clock.advance(10_000);
      return mirror!.agree(truth);
    });
    expect(mirror.told).toEqual(
      expect.arrayContaining(['deleted since-backup', 'deleted busy', 'modified at-backup']),
    );
  });
});
