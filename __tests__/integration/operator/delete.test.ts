import { listTokens } from '../../../operator/client/setup/tokens';
import { freshNamespace, kubectl, mustKubectl, until } from '../../cluster';
import { forceReconcile } from '../../cluster/forced-reconcile';
import { automation, configuration, Home, hub } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// Deletion: which objects are removed, which stay, and that nothing ever blocks it.

const villa = hub('villa', { storage: { retain: true }, bootstrap: { ownerName: 'Grace' } });
const EDITED = ['a', 'b', 'c', 'd', 'e', 'f'].map((letter) => `edited-${letter}`);
const AUTOMATIONS = ['first', 'second', 'third', 'fourth', ...EDITED];

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('delete'));
  operator = await startTestOperator(home.namespace);
  await home.apply(villa, configuration('villa'), ...AUTOMATIONS.map((name) => automation('villa', name)));
  await home.ready('hub', 'villa');
  for (const name of AUTOMATIONS) await home.ready('hubautomation', name);
});

const gone = (kind: string, name: string) =>
  until(`${kind} ${name} is gone`, async () => !(await home.exists(kind, name)));

describe('deletion', () => {
  test('a Hub that is not Ready, but whose hub answers, loses the objects of deleted resources', async () => {
    const client = await home.client('villa');
    expect(await client.entities.read('automation', 'fourth')).toBeDefined();
    await home.change('hub', 'villa', { bootstrap: { location: { timeZone: 'Mars/Olympus_Mons' } } });
    await home.ready('hub', 'villa', { status: 'False' });
    await home.delete('hubautomation', 'fourth');
    expect(await client.entities.read('automation', 'fourth')).toBeUndefined();
    expect((await operator.events('HubAutomation', 'fourth')).join()).not.toContain('Cleanup');
    await home.change('hub', 'villa', { bootstrap: { location: null } });
    await home.ready('hub', 'villa');
  });

  test('a hub that does not answer blocks no deletion', async () => {
    await home.whileFrozen('villa', async () => {
      // Reconciles of these resources wait for the hub, and use all slots.
      for (const name of EDITED) await home.change('hubautomation', name, { description: 'Edited' });
      for (const name of EDITED) await home.delete('hubautomation', name, { wait: false });
      for (const name of EDITED) await gone('hubautomation', name);
      for (const name of EDITED)
        await home.event('HubAutomation', name, /^Warning CleanupSkipped: .* did not respond /);
      // One attempt is made, then all other resources of that hub are released without one. Unit tests show
      // how long that takes.
      await home.delete('hubautomation', 'first');
      await home.delete('hubautomation', 'second');
      await home.event('HubAutomation', 'second', /did not respond a moment ago/);
      for (const name of ['first', 'second'])
        await home.event(
          'HubAutomation',
          name,
          new RegExp(`^Warning CleanupSkipped: The automation ${name} may still be in the hub`),
        );
    });
    await home.ready('hub', 'villa');
  });

  test('a deleted Hub deletes its objects except retained ones, and its children wait', async () => {
    const volume = (await home.get('persistentvolumeclaim', 'villa-config')).metadata.uid;
    const password = await home.secret('villa-admin', 'password');
    await home.delete('hub', 'villa');
    for (const kind of [
      'statefulset',
      'service',
      'configmap/villa-operator-ip',
      'secret/villa-api-token',
      'pod/villa-0',
    ]) {
      const [type = '', name = 'villa'] = kind.split('/');
      await gone(type, name);
    }
    const waiting = await home.ready('hubautomation', 'third', { status: 'False', reason: 'HubNotFound' });
    expect(waiting.message).toContain('villa');
    expect(await home.condition('hubautomation', 'third', 'Stalled')).toBeUndefined();
    expect(await home.exists('configmap', 'villa-configuration')).toBe(true);

    await home.apply(villa);
    await home.ready('hub', 'villa');
    await home.ready('hubautomation', 'third');
    expect((await home.get('persistentvolumeclaim', 'villa-config')).metadata.uid).toBe(volume);
    expect(await home.secret('villa-admin', 'password')).toBe(password);
    const client = await home.client('villa');
    expect(await client.entities.read('automation', 'third')).toMatchObject({
      alias: 'The automation third',
    });
    expect((await home.get('hubautomation', 'third')).status).not.toHaveProperty('adopted');
    await until('the tokens of the deleted Hub are gone', async () => {
      const tokens = await listTokens(client.connection);
      return tokens.filter(({ client_name }) => client_name?.startsWith('Hub Operator ')).length === 1;
    });
  });

  test('retained objects are not given back to the Hub', async () => {
    const owners = async (kind: string, name: string) =>
      ((await home.get(kind, name)).metadata.ownerReferences ?? []).map((owner) => owner.name);
    await home.change('hub', 'villa', { storage: { retain: false } });
    await home.ready('hub', 'villa');
    await forceReconcile(home, 'hub', 'villa');
    expect(await owners('persistentvolumeclaim', 'villa-config')).toEqual([]);
    expect(await owners('secret', 'villa-admin')).toEqual([]);
  });

  test('a namespace is deleted with everything in it while its hub is down', async () => {
    const pid = await home.hubProcess('villa');
    process.kill(pid, 'SIGSTOP');
    try {
      await mustKubectl(['delete', 'namespace', home.namespace, '--wait=false']);
    } finally {
      // The cluster ends the pods of a namespace first. This hub is killed, so that it cannot shut down
      // properly.
      process.kill(pid, 'SIGKILL');
    }
    await until('the namespace is gone', async () => {
      const { code, stderr } = await kubectl(['get', 'namespace', home.namespace]);
      return code !== 0 && stderr.includes('NotFound');
    });
    expect(await operator.failures()).toEqual([]);
  });
});
