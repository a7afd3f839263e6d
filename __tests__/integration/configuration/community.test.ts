import { CodeHost } from '../../../sandbox/code-host';
import { repositoryZip } from '../../../sandbox/zip';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home } from '../../cluster/home';
import { startHub } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from '../hub/configured-hub';

// One commit adds an integration and its section. The section cannot be checked before the integration is
// installed.

const BASE = 'logger:\n  default: warning\n';

let home: Home;
let host: CodeHost;
let operator: TestOperator;
let villa: ConfiguredHub;

beforeAll(async () => {
  host = await CodeHost.start();
  home = new Home(await freshNamespace('one-commit'));
  operator = await startTestOperator(home.namespace, { settings: { CODE_HOST_URL: host.url } });
  await startHub(home, 'villa');
  villa = new ConfiguredHub(home, 'villa');
  await villa.loaded();
});
afterAll(() => host.stop());

function repository(domain: string) {
  const folder = `custom_components/${domain}`;
  const manifest = { domain, name: domain, version: '1.0.0', config_flow: false };
  const files = {
    [`${folder}/manifest.json`]: JSON.stringify(manifest),
    [`${folder}/__init__.py`]: 'async def async_setup(hass, config):\n    return True\n',
  };
  host.serve(`someone/${domain}`, 'v1', repositoryZip(files, `${domain}-v1`));
  return {
    apiVersion: 'hub-operator.dev/v1',
    kind: 'HubCommunityRepository',
    metadata: { name: domain },
    spec: { hubRef: { name: 'villa' }, category: 'integration', repository: `someone/${domain}`, ref: 'v1' },
  };
}

describe('the section of an integration in the same commit', () => {
  test.each([
    ['after', 'shelf', (section: object, brought: object) => [brought, section]],
    ['before', 'table', (section: object, brought: object) => [section, brought]],
  ])('is loaded when it is applied %s its repository', async (_, domain, inOrder) => {
    const rollouts = await villa.rollouts();
    const section = configuration('villa', `${BASE}${domain}:\n  key: 1\n`);
    await home.apply(...(inOrder(section, repository(domain)) as (typeof section)[]));
    await home.ready('hubcommunityrepository', domain, { reason: 'RepositoryInstalled' });
    await villa.loaded();
    const { rest } = await villa.connect();
    await until('it is set up', async () =>
      (await rest.get<readonly string[]>('/api/components')).includes(domain),
    );
    await operator.calm();
    // One rollout for the integration, and at most one for a section that was rejected before.
    expect((await villa.rollouts()) - rollouts).toBeLessThanOrEqual(2);
  });
});
