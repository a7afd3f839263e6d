import { freshNamespace } from '../cluster';
import { area, automation, Home, integration, type Manifest, scene, script } from '../cluster/home';
import { startTestOperator, type TestOperator } from '../cluster/operator';
import { applyExternalHub, StandInHub } from '../cluster/stand-in-hub';

// A host run by other people answers as a hub, except that one of its answers has another form. The resource
// reports which one, and is retried.

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('other-answers'));
  operator = await startTestOperator(home.namespace, { settings: { ALLOW_LOCAL_HUBS: 'true' } });
});

async function expectNamed(kind: string, name: string, request: string): Promise<void> {
  const { message } = await home.ready(kind, name, { status: 'False', reason: 'HubFailed' });
  expect(message).toContain(`the hub answered ${request} with `);
}

describe('a hub that answers in another form', () => {
  test.each([
    ['current-user', 'auth/current_user'],
    ['accounts', 'config/auth/list'],
  ])('is not ready: %s', async (name, request) => {
    const { url } = await StandInHub.start({ WRONG: `^${request}$` });
    await applyExternalHub(home, name, url);
    await expectNamed('hub', name, request);
  });

  const children: readonly [kind: string, make: (hub: string, name: string) => Manifest, request: string][] =
    [
      ['hubautomation', automation, 'config/entity_registry/list'],
      ['hubautomation', automation, 'automation/config'],
      ['hubautomation', automation, 'GET /api/components'],
      ['hubscript', script, 'config/entity_registry/list'],
      ['hubscene', scene, 'config/entity_registry/list'],
      ['hubarea', (hub, name) => area(hub, name, { name }), 'GET /api/components'],
      ['hubintegration', (hub, name) => integration(hub, name, 'mqtt'), 'config_entries/get'],
    ];
  test.each(children)(
    'is ready where that answer is not needed, and a %s of it is not',
    async (kind, make, request) => {
      const name = `${kind}-${request.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
      const { url } = await StandInHub.start({ WRONG: `^${request}$` });
      await applyExternalHub(home, name, url);
      await home.ready('hub', name);
      await home.apply(make(name, name));
      await expectNamed(kind, name, request);
    },
  );

  afterAll(async () => {
    expect(await operator.failures()).toEqual([]);
  });
});
