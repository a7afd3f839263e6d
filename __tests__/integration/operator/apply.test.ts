import type { HubClient } from '../../../operator/client/hub-client';
import { getAnalytics, getConfig } from '../../../operator/client/setup/core';
import { stateOf } from '../../../operator/client/config-entities/states';
import { currentUser } from '../../../operator/client/setup/tokens';
import { freshNamespace, kubectl, until } from '../../cluster';
import { automation, configuration, Home, hub, HUB_VERSION } from '../../cluster/home';
import { startNamespacedOperator } from '../../cluster/namespaced-operator';
import type { TestOperator } from '../../cluster/operator';
import { shuffled } from '../../cluster/shuffled';

// The first use: a home is applied in a random order, and everything becomes Ready. The operator has the
// smallest set of rights that ships: those of the namespaced variant.

const WAKE_UP = {
  description: 'Light before the alarm',
  triggers: [
    { trigger: 'time', at: '06:45:00' },
    { trigger: 'homeassistant', event: 'start' },
  ],
  conditions: [{ condition: 'time', weekday: ['mon', 'tue'] }],
  actions: [
    { delay: { minutes: 5 } },
    { action: 'persistent_notification.create', data: { message: '0123 on "x"' } },
  ],
  mode: 'queued',
  max: 3,
  variables: { level: 0, dim: false },
};

const { order, seed } = shuffled([
  hub('villa', {
    timezone: 'Europe/Vienna',
    bootstrap: {
      ownerName: 'Grace',
      language: 'de',
      analytics: true,
      location: {
        name: 'Villa Hill',
        latitude: '48.2082',
        longitude: '16.3738',
        elevation: 151,
        unitSystem: 'us_customary',
        currency: 'CHF',
        country: 'AT',
      },
    },
  }),
  configuration('villa', '# of Grace\nlogger:\n  default: warning\n'),
  automation('villa', 'wake-up', { ...WAKE_UP, maxExceeded: 'silent' }),
  automation('villa', 'away', { enabled: false }),
  automation('villa', 'goodnight', { id: 'good_night_2' }),
]);

let home: Home;
let operator: TestOperator;
let account: string;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('apply'));
  ({ operator, account } = await startNamespacedOperator(home.namespace));
  for (const object of order) await home.apply(object);
});

describe('a home that is applied at once', () => {
  test(`applied in the order of seed ${seed}, everything becomes Ready`, async () => {
    const all = ['hub,hubconfiguration,hubautomation', '--all'];
    const waiting = await kubectl(['wait', '--for=condition=Ready', '--timeout=480s', ...all], home);
    expect(waiting).toMatchObject({ code: 0 });
    client = await home.client('villa');
  });

  test('on the way there were waiting states, but never errors', async () => {
    const reasons = new Map<string, Set<string>>();
    for (const { kind, outcome, reason } of await operator.outcomes()) {
      expect(outcome).not.toBe('Stalled');
      reasons.set(kind, (reasons.get(kind) ?? new Set()).add(reason));
    }
    // On a busy machine a hub may answer too late, which is treated like a hub that does not run.
    const waits = {
      Hub: [
        'WaitingForConfiguration',
        'PodNotReady',
        'HubUnreachable',
        'ApiNotLoaded',
        'Bootstrapping',
        'HubRunning',
      ],
      HubConfiguration: [
        'HubNotFound',
        'TokenNotAvailable',
        'HubNotReady',
        'HubUnreachable',
        'ConfigurationGenerated',
        'ConfigurationLoaded',
      ],
      HubAutomation: [
        'HubNotFound',
        'TokenNotAvailable',
        'HubNotReady',
        'HubUnreachable',
        'AutomationGenerated',
      ],
    };
    for (const [kind, known] of Object.entries(waits)) {
      expect(known).toEqual(expect.arrayContaining([...(reasons.get(kind) ?? ['none at all'])]));
    }
    expect(reasons.get('HubAutomation')).toContain('TokenNotAvailable');
    expect((await operator.outcomes()).length).toBeGreaterThan(10); // over all starts of the process
    expect(await operator.failures()).toEqual([]);
  });

  test('the conditions have the words of the specification', async () => {
    await operator.calm();
    await home.ready('hub', 'villa', { reason: 'HubRunning' });
    expect(await home.condition('hub', 'villa', 'BootstrapReady')).toMatchObject({
      status: 'True',
      reason: 'Completed',
    });
    expect(await home.condition('hub', 'villa', 'StorageReady')).toMatchObject({
      status: 'True',
      reason: 'Bound',
    });
    expect(await home.condition('hub', 'villa', 'Reconciling')).toBeUndefined();
    expect((await home.get('hub', 'villa')).status).toMatchObject({ phase: 'Running', version: HUB_VERSION });
    const reload = await until('it is reloaded', async () => {
      const condition = await home.condition('hubautomation', 'wake-up', 'ReloadReady');
      expect(condition).toMatchObject({ status: 'True', reason: 'ReloadSuccessful' });
      return condition;
    });
    // The log has the reload under the id that the condition and the event name.
    const [, id] = /ReloadID ([0-9a-f-]{36})/.exec(reload.message)!;
    await home.event('HubAutomation', 'wake-up', new RegExp(`^Normal ReloadSuccessful: .*ReloadID ${id}`));
    const reloads = (await operator.logLines('"reloaded component"')) as { reloadId: string }[];
    expect(reloads.map(({ reloadId }) => reloadId)).toContain(id);
  });

  test('the hub has the settings of the Hub', async () => {
    expect(await getConfig(client.rest)).toMatchObject({
      location_name: 'Villa Hill',
      latitude: 48.2082,
      longitude: 16.3738,
      elevation: 151,
      unit_system: { length: 'mi' },
      currency: 'CHF',
      country: 'AT',
      language: 'de',
      time_zone: 'Europe/Vienna',
      recovery_mode: false,
    });
    expect(await getAnalytics(client.connection)).toMatchObject({
      base: true,
      usage: true,
      statistics: true,
    });
    expect(await currentUser(client.connection)).toMatchObject({ name: 'Grace', is_owner: true });
    const steps = await client.rest.get<{ step: string; done: boolean }[]>('/api/onboarding');
    expect(steps.map(({ step, done }) => `${step} ${done}`)).toEqual([
      'user true',
      'core_config true',
      'analytics true',
      'integration true',
    ]);
  });

  test('the hub has the automations as they were applied', async () => {
    expect(await client.entities.read('automation', 'wake-up')).toEqual({
      ...WAKE_UP,
      id: 'wake-up',
      alias: 'The automation wake-up',
      max_exceeded: 'silent',
    });
    expect(await client.entities.read('automation', 'good_night_2')).toBeDefined();
    for (const [name, state] of [
      ['wake-up', 'on'],
      ['away', 'off'],
    ] as const) {
      const entityId = await entityOf(name);
      await until(`${name} is ${state}`, async () => (await stateOf(client.rest, entityId)) === state);
    }
  });

  test('the generated configuration keeps the text and gains the includes', async () => {
    const { data } = await home.get('configmap', 'villa-configuration');
    // The appended text shows the operator which configuration the hub has loaded.
    const [text] = data!['configuration.yaml']!.split('script hub_operator:');
    expect(text).toBe(
      '# of Grace\nlogger:\n  default: warning\n' +
        'automation: !include automations.yaml\nscene: !include scenes.yaml\nscript: !include scripts.yaml\n',
    );
  });

  test('every generated object belongs to its resource', async () => {
    const owners = async () =>
      (await home.list('persistentvolumeclaims,statefulsets,services,configmaps,secrets'))
        .filter(({ metadata }) => metadata.name !== 'kube-root-ca.crt')
        .map(({ kind, metadata: { name, ownerReferences = [] } }) => {
          const owner = ownerReferences.map((reference) => `${reference.kind} ${reference.name}`).join();
          return `${kind} ${name} of ${owner}`;
        })
        .sort();
    await until('all is made', async () => {
      expect(await owners()).toEqual([
        'ConfigMap villa-configuration of HubConfiguration villa',
        'ConfigMap villa-configuration-accepted of Hub villa',
        'ConfigMap villa-operator-ip of Hub villa',
        'PersistentVolumeClaim villa-config of Hub villa',
        'Secret villa-admin of Hub villa',
        'Secret villa-api-token of Hub villa',
        'Service villa of Hub villa',
        'StatefulSet villa of Hub villa',
      ]);
      return true;
    });
    expect((await home.get('configmap', 'villa-operator-ip')).data!['ip']).toMatch(/^127\.0\.0\.\d$/);
  });

  test('nothing was attempted that the rights in one namespace forbid', async () => {
    expect(await operator.metric('rest_client_requests_total', 'code="403"')).toBe(0);
    const may = async (namespace: string) =>
      (await kubectl(['auth', 'can-i', 'list', 'secrets', `--as=${account}`], { namespace })).stdout.trim();
    await until('it may in its own', async () => (await may(home.namespace)) === 'yes');
    expect(await may('default')).toBe('no');
  });

  test('no secret value is anywhere except in Secrets', async () => {
    const values = [
      await home.secret('villa-api-token', 'token'),
      await home.secret('villa-admin', 'password'),
    ];
    const everything = await home.list(
      'hubs,hubconfigurations,hubautomations,statefulsets,pods,services,configmaps,events.events.k8s.io',
    );
    const told = [JSON.stringify(everything), await operator.log(), await operator.page('/metrics')];
    expect(told.every((text) => text.length > 1_000)).toBe(true);
    for (const value of values) expect(told.filter((text) => text.includes(value))).toEqual([]);
  });

  const entityOf = async (name: string) =>
    String((await home.get('hubautomation', name)).status!['entityId']);
});
