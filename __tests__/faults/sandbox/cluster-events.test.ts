import { randomBytes } from 'node:crypto';
import { followEvents } from '../../../sandbox/cluster-events';
import { apiServer, freshNamespace, sandboxDirectory, until } from '../../cluster';
import { applyObject } from '../../cluster/api';
import { kubeConfigFor } from '../../unit/runtime/fake-api-client';
import { administrator, FaultProxy } from '../proxy';

// The API server ends each watch after 5 to 10 minutes; here the proxy does.

let namespace: string;
let proxy: FaultProxy;
let stop: () => Promise<void>;
const printed: string[] = [];

beforeAll(async () => {
  namespace = await freshNamespace('events');
  await write('before');
  proxy = await FaultProxy.start(await administrator(sandboxDirectory(), apiServer()));
  stop = await followEvents(kubeConfigFor(proxy.url), (line) => printed.push(line));
});
afterAll(async () => {
  await stop();
  await proxy.stop();
});

const write = (reason: string) =>
  applyObject(namespace, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `e-${randomBytes(4).toString('hex')}` },
    involvedObject: { kind: 'Hub', name: 'villa', namespace },
    reason,
    message: 'It runs.\nMore of it.',
    lastTimestamp: '2026-11-23T08:00:00Z',
  });
const ours = () => printed.filter((line) => line.includes(namespace));

test('make run prints events also after the API server has ended the watch', async () => {
  expect(printed[0]).toMatch(/^TIME +NAMESPACE +KIND +NAME +REASON +MESSAGE$/);
  expect(ours()).toEqual([]); // those of other tests are printed as well
  await write('First');
  await until('the first event is printed', () => ours().length === 1);
  expect(ours()[0]).toMatch(/^2026-11-23T08:00:00Z +\S+ +Hub +villa +First +It runs\.$/);

  proxy.endStreams();
  await write('Meanwhile');
  await until('an event of meanwhile is printed', () => ours().length === 2);
  await write('After');
  await until('an event after that is printed', () => ours().length === 3);
  expect(ours().map((line) => line.split(/ +/)[4])).toEqual(['First', 'Meanwhile', 'After']);
});
