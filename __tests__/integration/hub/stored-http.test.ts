import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { V1PodStatus } from '@kubernetes/client-node';
import { callService } from '../../../operator/client/services';
import { freePort } from '../../../sandbox/ports';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub } from '../../cluster/home';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator } from '../../cluster/operator';
import { running } from '../../cluster/http-settings';

// A volume, and then a backup, of an installation that cannot be reached by plain HTTP at the port of a Hub.

let home: Home;
let file: string;

const settings = {
  cors_allowed_origins: ['https://kept.example.org'],
  ip_ban_enabled: true,
  login_attempts_threshold: -1,
  ssl_profile: 'modern_v6',
  use_x_frame_options: true,
};
const stored = (stable: object) =>
  JSON.stringify({
    version: 3,
    minor_version: 1,
    key: 'http',
    data: {
      stable: {
        ...settings,
        ...stable,
        created_at: '2026-10-01T00:00:00+00:00',
        error: null,
        error_message: null,
      },
      pending: null,
      yaml_migration_done: true,
    },
  });
const copy = () => readFile(`${file}.before-hub-operator`, 'utf8');
const container = async () =>
  ((await home.get('pod', 'h-0')).status as unknown as V1PodStatus).containerStatuses![0]!;

beforeAll(async () => {
  home = new Home(await freshNamespace('stored-http'));
  await startTestOperator(home.namespace);
});

describe('settings of the web server with which the hub cannot be reached', () => {
  test('are reset on a volume before its hub starts', async () => {
    const storage = join(await restoreOnboarded(home, 'h'), '.storage');
    await mkdir(storage, { recursive: true });
    file = join(storage, 'http');
    const before = stored({
      server_port: 80,
      server_host: ['192.0.2.1'],
      ssl_certificate: '/ssl/fullchain.pem',
      ssl_key: '/ssl/privkey.pem',
    });
    await writeFile(file, before);
    const livenessProbe = { periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 3 };
    const podTemplate = { spec: { containers: [{ name: 'hub', livenessProbe }] } };
    await home.apply(hub('h', { podTemplate }), configuration('h'));
    await home.ready('hub', 'h');
    expect(await copy()).toBe(before);
    const { stable } = await (await home.client('h')).connection.command('http/config');
    expect(stable).toMatchObject({ cors_allowed_origins: settings.cors_allowed_origins });
    expect(stable).not.toHaveProperty('ssl_certificate');
  });

  test('are reset while the hub runs with them in its container, which is restarted', async () => {
    const { rest } = await home.client('h');
    await running(await home.client('h'));
    const { restartCount } = await container();
    const { uid } = (await home.get('pod', 'h-0')).metadata;
    const elsewhere = await freePort();
    const before = stored({ server_port: elsewhere });
    await writeFile(file, before);
    // the hub may go down before it answers
    await callService(rest, 'homeassistant', 'restart').catch(() => undefined);
    await until(
      'the container is started again',
      async () => (await container()).restartCount > restartCount,
    );
    await home.ready('hub', 'h');
    expect(await copy()).toBe(before);
    expect((await home.get('pod', 'h-0')).metadata.uid).toBe(uid);
    const { stable } = await (await home.client('h')).connection.command('http/config');
    expect(stable).toMatchObject({
      server_port: Number(new URL(rest.address.url).port),
      cors_allowed_origins: settings.cors_allowed_origins,
    });
  });
});
