import type { Cache } from '../../../operator/runtime/cache';
import { SecretReader } from '../../../operator/runtime/secrets';
import { ManualClock } from '../manual-clock';
import { FakeApiClient, notFound } from './fake-api-client';

const metadata = (resourceVersion: string) => ({ name: 'keys', namespace: 'home', resourceVersion });
const secret = (resourceVersion: string, value: string) => ({
  metadata: metadata(resourceVersion),
  data: { password: Buffer.from(value).toString('base64') },
});

/** A reader over one Secret: what the watch has told of it, and what the server has. */
function setup() {
  const state: { told: string | undefined; served: ReturnType<typeof secret> | undefined } = {
    told: '1',
    served: secret('1', 'hunter2'),
  };
  const cluster = new FakeApiClient(new ManualClock(), () => {
    if (!state.served) throw notFound();
    return state.served;
  });
  const get = () => (state.told === undefined ? undefined : { metadata: metadata(state.told) });
  const reader = new SecretReader(cluster, { get } as unknown as Cache);
  const password = async () => (await reader.get('home', 'keys'))?.get('password');
  return { state, cluster, reader, password };
}

test('one that did not change is read once', async () => {
  const { cluster, password, state } = setup();
  expect([await password(), await password()]).toEqual(['hunter2', 'hunter2']);
  expect(cluster.requests).toHaveLength(1);
  state.told = '2';
  state.served = secret('2', 'hunter3');
  expect(await password()).toBe('hunter3');
  expect(cluster.requests).toHaveLength(2);
});

test('one that is not there costs no request', async () => {
  const { cluster, password, state } = setup();
  state.told = undefined;
  expect(await password()).toBeUndefined();
  expect(cluster.requests).toEqual([]);
});

test('the values of one that went are kept no longer', async () => {
  const { cluster, password, reader } = setup();
  await password();
  reader.forget({ metadata: metadata('2') });
  await password(); // with the same resource version, it would come from memory
  expect(cluster.requests).toHaveLength(2);
});

test('the values of one that goes while it is read are not kept', async () => {
  const { cluster, password, reader, state } = setup();
  cluster.handler = () => {
    state.told = undefined;
    reader.forget({ metadata: metadata('2') });
    return state.served;
  };
  expect(await password()).toBe('hunter2');
  state.told = '1';
  await password(); // with the same resource version, it would come from memory
  expect(cluster.requests).toHaveLength(2);
});
