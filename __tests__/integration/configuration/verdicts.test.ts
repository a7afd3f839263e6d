import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readMarker } from '../../../operator/sync/hub-pod/content-hashes';
import { freshNamespace, until } from '../../cluster';
import { addCustomIntegration } from '../../cluster/custom-integration';
import { configuration, Home, hub, hubSecrets, secret } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { patchObject } from '../../cluster/api';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { ConfiguredHub } from '../hub/configured-hub';

// A verdict on a configuration applies to one start of the hub, and is based on the effect in the hub.

const BASE = 'logger:\n  default: warning\n';

let home: Home;
let operator: TestOperator;
let villa: ConfiguredHub;
let volume: string;
/** Path of a file that delays the set-up of the integration `slow` while it exists. */
let slowWaits: string;

const install = (domain: string, ...setup: string[]) => addCustomIntegration(volume, domain, ...setup);

beforeAll(async () => {
  home = new Home(await freshNamespace('verdicts'));
  operator = await startTestOperator(home.namespace);
  volume = await restoreOnboarded(home, 'villa');
  slowWaits = join(volume, 'slow-waits');
  await install('late', 'return False');
  const isWaiting = `os.path.exists(${JSON.stringify(slowWaits)})`;
  await install('slow', 'import os', `while ${isWaiting}:`, '    await asyncio.sleep(0.2)', 'return True');
  await home.apply(hub('villa'), configuration('villa'));
  villa = new ConfiguredHub(home, 'villa');
  await villa.loaded();
});

describe('HubConfiguration', () => {
  test('an integration whose set-up fails is NotLoaded in the hub’s words, until another start sets it up', async () => {
    await villa.change(`${BASE}late:\n  key: 1\n`);
    const { message } = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'NotLoaded',
    });
    expect(message).toMatch(/^The hub could not set up late: Setup failed for custom integration 'late'/);
    await install('late', 'return True');
    await home.delete('pod', 'villa-0');
    await villa.loaded();
    await villa.connect();
  });

  test('a platform that is not set up is NotLoaded, and its removal needs no further restart', async () => {
    await villa.change(`${BASE}sensor:\n  - platform: template\n    sensors: {a: {value_template: "1"}}\n`);
    const { message } = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'NotLoaded',
    });
    expect(message).toMatch(/^The hub could not set up sensor\.template: /);
    await operator.calm();
    const pod = await villa.podUid();
    await villa.change(BASE);
    await villa.loaded();
    await operator.calm();
    expect(await villa.podUid()).toBe(pod);
  });

  test('a recorder that does not reach its database is NotLoaded, and its removal restores the rest', async () => {
    const recorder = 'db_url: postgresql://ada:hunter2@127.0.0.1:1/none';
    await villa.change(`${BASE}recorder:\n  ${recorder}\n  db_max_retries: 1\n  db_retry_wait: 1\n`);
    const { message } = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'NotLoaded',
    });
    expect(message).toMatch(/^The hub could not set up recorder: /);
    expect(message).not.toContain('hunter2');
    await villa.change(BASE);
    await villa.loaded();
  });

  test('a section whose integration is installed later is loaded at the start that finds the integration', async () => {
    const pod = await villa.podUid();
    await villa.change(`${BASE}later:\n  key: 1\n`);
    const { message } = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'CheckFailed',
    });
    expect(message.split('\n')[0]).toContain('later');
    expect(await villa.podUid()).toBe(pod);
    await install('later', 'return True');
    await home.delete('pod', 'villa-0');
    await villa.loaded();
    await villa.connect();
    await until('it is set up', async () =>
      (await villa.client.rest.get<readonly string[]>('/api/components')).includes('later'),
    );
  });

  test('a hub that starts slowly is not interrupted by an edit or a changed secret', async () => {
    await home.apply(
      secret('words', { lamp: 'Lamp' }),
      hubSecrets('villa', 'villa', { secretRefs: [{ name: 'words' }] }),
    );
    await home.ready('hubsecrets', 'villa');
    await villa.change(`${BASE}slow:\ninput_boolean:\n  lamp:\n    name: !secret lamp\n`);
    await villa.loaded();
    await writeFile(slowWaits, '');
    await home.delete('pod', 'villa-0');
    await home.ready('hub', 'villa', { status: 'False', reason: 'ApiNotLoaded' });
    const pod = await villa.podUid();
    await home.apply(secret('words', { lamp: 'Light' }));
    await villa.change(`${BASE}slow:\ninput_boolean:\n  lamp:\n    name: !secret lamp\n  desk:\n`);
    await until('the operator has seen the edit', () => home.condition('hubconfiguration', 'villa'));
    // The Hub is reconciled every 5 s while the hub starts; several of these take longer than the debounce of
    // a rollout.
    const looks = async () => (await operator.outcomes()).filter(({ kind }) => kind === 'Hub').length;
    const before = await looks();
    await until('the operator has looked at the hub twice', async () => (await looks()) >= before + 2);
    expect(await villa.podUid()).toBe(pod);
    await rm(slowWaits);
    await villa.loaded();
    await villa.connect();
    await villa.showsAttribute('input_boolean.lamp', 'friendly_name', 'Light');
    await villa.shows('input_boolean.desk', 'off');
    expect(await villa.podUid()).toBe(pod);
    expect((await home.get('pod', 'villa-0')).status).toMatchObject({
      containerStatuses: [{ restartCount: 0 }],
    });
  });

  test('a ConfigMap that was changed while no operator ran is published again before a pod is replaced', async () => {
    const before = (await home.get('configmap', 'villa-configuration')).data!;
    await operator.kill();
    const stripped = before['configuration.yaml']!.replace(/^script hub_operator.*\n/m, '');
    await patchObject('configmap', home.namespace, 'villa-configuration', {
      data: { 'configuration.yaml': stripped, '.content-hash': null },
    });
    const pod = await villa.podUid();
    await home.delete('pod', 'villa-0');
    await until('the next pod is there', async () => (await villa.podUid()) !== pod);
    await operator.start();
    await until('it is published again', async () => {
      expect((await home.get('configmap', 'villa-configuration')).data).toEqual(before);
      return true;
    });
    await until('the hub has read it', async () => {
      const client = await home.client('villa');
      return (await readMarker(client))?.configuration === before['.content-hash'];
    });
    await villa.loaded();
  });
});
