import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshNamespace, until } from '../../cluster';
import { addCustomIntegration } from '../../cluster/custom-integration';
import { conditionOf, configuration, Home, hub } from '../../cluster/home';
import { ObjectHistory } from '../../cluster/object-history';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from '../hub/configured-hub';
import { hubPid } from '../hub/hub-in-sandbox';

// Starts of a hub that fail while the desired configuration differs from the one in use.

const BASE = 'logger:\n  default: warning\ninput_boolean:\n  first:\n';

let home: Home;
let operator: TestOperator;
let villa: ConfiguredHub;
let volume: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('failed-starts'));
  operator = await startTestOperator(home.namespace);
  volume = await restoreOnboarded(home, 'villa');
  await addCustomIntegration(volume, 'deadly', 'import os', 'os._exit(3)');
  await home.apply(hub('villa'), configuration('villa', BASE));
  villa = new ConfiguredHub(home, 'villa');
  await villa.loaded();
});

describe('HubConfiguration', () => {
  test('a recovery mode is healed by one new pod while the hub rejects the desired content', async () => {
    await villa.change(`${BASE}no_such_integration:\n`);
    await home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'CheckFailed' });
    const history = await ObjectHistory.of(home, 'hubconfiguration', 'villa');
    const pod = await villa.podUid();
    const file = join(volume, 'configuration.yaml');
    const good = await readFile(file, 'utf8');
    await rm(file); // the file is a link to the mounted file
    await writeFile(file, `${good}\nsensor: !include of-nothing.yaml\n`);
    process.kill(await hubPid(home, 'villa'), 'SIGTERM'); // only the container is restarted
    await history.find('the status says both', (state) => {
      const { reason, message = '' } = conditionOf(state, 'Ready') ?? {};
      const isBoth = /recovery mode.*replaced once[^]*rejects: .*no_such_integration/.test(message);
      return reason === 'RestartPending' && isBoth && state;
    });
    const healed = await until('a new pod runs', async () => {
      const uid = await villa.podUid();
      return uid !== pod && uid;
    });
    await home.ready('hub', 'villa');
    await villa.connect();
    await villa.shows('input_boolean.first', 'off');
    await home.ready('hubconfiguration', 'villa', { status: 'False', reason: 'CheckFailed' });
    await operator.calm();
    expect(await villa.podUid()).toBe(healed);
    await villa.change(BASE);
    await villa.loaded();
  });

  test('a content that ends the process of the hub is replaced by the previous one', async () => {
    const before = await villa.rollouts();
    await villa.change(`${BASE}deadly:\n`);
    const { message } = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'CheckFailed',
    });
    expect(message).toMatch(
      /^The hub’s process ended [4-9] times with this configuration \(last: exit code 3\), although its check accepts it/,
    );
    await until('the hub runs again', async () => {
      await home.ready('hub', 'villa');
      return (await villa.rollouts()) === before + 2;
    });
    await villa.connect();
    await villa.shows('input_boolean.first', 'off');
    await operator.calm();
    expect(await villa.rollouts()).toBe(before + 2);
    await villa.change(BASE);
    await villa.loaded();
  });
});
