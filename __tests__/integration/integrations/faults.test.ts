import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ConfigEntry } from '../../../operator/client/connection/flow-step';
import type { HubClient } from '../../../operator/client/hub-client';
import { getConfig } from '../../../operator/client/setup/core';
import { freshNamespace, until } from '../../cluster';
import { type Device, DeviceIntegration } from '../../cluster/device-integration';
import {
  area,
  automation,
  configuration,
  DEFAULT_CONFIGURATION,
  floor,
  Home,
  hub,
  hubSecrets,
  integration,
  label,
  scene,
  script,
  secret,
  zone,
} from '../../cluster/home';
import type { HubProxy } from '../../cluster/hub-proxy';
import { killAtRequest } from '../../cluster/kill-at-request';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { shuffled } from '../../cluster/shuffled';
import { proxiedHub, proxyOf, throughProxies } from '../config-entities/proxied-hub';

// Faults that may occur while the hub processes a config flow. Each test uses its own domain.

const KIND = 'HubIntegration';
const FLOW = '/api/config/config_entries/flow';

let home: Home;
let operator: TestOperator;
let proxy: HubProxy;
let client: HubClient;
let volume: string;

const DEVICES = {
  cut_user: { setupSleep: 120 }, // long enough to be interrupted in the middle, however late this process is
  announced: {},
  unanswered: {},
  unanswered_never: {},
  answered: {},
  answered_titled: {},
  replaced: { password: 'right', hasUniqueId: true, replaces: true },
  slow_setup: { setupSleep: 45 },
  slow_form: { formSleep: 40, password: 'right' },
  login: { password: 'right', reauth: 'password' },
  login_reconfigured: { password: 'right', reconfigures: true },
  reauth_fields: { password: 'right', reauth: 'password' },
  reauth_confirmation: { password: 'right', reauth: 'confirmation' },
  cloud: { password: 'right', hasUniqueId: true },
  nas: { hasUniqueId: true, takesOver: true },
  sometimes: { picks: false },
  fails_once: { setupFailures: 1 },
  recreated: { password: 'right', hasUniqueId: true },
  second_entry: {},
} satisfies Readonly<Record<string, Device>>;
type Domain = keyof typeof DEVICES;

let devices: Readonly<Record<Domain, DeviceIntegration>>;

beforeAll(async () => {
  home = new Home(await freshNamespace('flow-faults'));
  operator = await startTestOperator(home.namespace, { settings: throughProxies });
  proxy = await proxiedHub(home, 'villa', async (directory) => {
    volume = directory;
    const all = Object.entries(DEVICES).map(
      async ([domain, device]) => [domain, await DeviceIntegration.add(directory, domain, device)] as const,
    );
    devices = Object.fromEntries(await Promise.all(all)) as Record<Domain, DeviceIntegration>;
  });
  client = await home.client('villa');
});

afterEach(async () => {
  proxy.mend();
  await operator.ensureRuns();
});
afterAll(() => proxy?.stop());

const entriesOf = async (domain: Domain): Promise<readonly ConfigEntry[]> =>
  [...(await client.configEntries.refreshed()).values()].filter((entry) => entry.domain === domain);
const statusOf = async (name: string) => (await home.get(KIND, name)).status!;
const loaded = (name: string) => home.ready(KIND, name, { reason: 'EntryLoaded' });
const texts = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, { value }]));
const ofSecret = (name: string) => ({ secretKeyRef: { name, key: 'password' } });

/** Makes a resource whose name is derived from its domain. */
const of = (domain: Domain, fields: Readonly<Record<string, string>>, spec: object = {}) =>
  integration('villa', domain.replaceAll('_', '-'), domain, { configuration: texts(fields), ...spec });
/** Makes a device with its password in a Secret of the same name. */
const withPassword = (domain: Domain, spec: object = {}) => {
  const name = domain.replaceAll('_', '-');
  const configuration = { host: { value: 'box' }, password: ofSecret(name) };
  return integration('villa', name, domain, { configuration, ...spec });
};
const password = (domain: Domain, value: string) => secret(domain.replaceAll('_', '-'), { password: value });

async function entriesOnDisk(domain: Domain): Promise<readonly { entry_id: string; title: string }[]> {
  const text = await readFile(join(volume, '.storage', 'core.config_entries'), 'utf8');
  const { data } = JSON.parse(text) as {
    data: { entries: { domain: string; entry_id: string; title: string }[] };
  };
  return data.entries.filter((entry) => entry.domain === domain);
}

/** Creates an entry as a user does. Resolves with its id. */
async function byHand(domain: Domain, answers: object): Promise<string> {
  const { flow_id: id } = await client.flows.start({ kind: 'config', domain });
  const step = await client.flows.submit('config', id, answers);
  if (step.type !== 'create_entry') throw new Error(`the flow of ${domain} is at ${JSON.stringify(step)}`);
  return step.result!.entry_id;
}

/** Waits until a resource is Stalled for this reason. Resolves with its message. */
async function stalled(name: string, reason: string, message: RegExp): Promise<string> {
  return until(`${name} is Stalled with ${reason}`, async () => {
    const condition = await home.condition(KIND, name);
    expect(condition).toMatchObject({ status: 'False', reason });
    expect(condition!.message).toMatch(message);
    expect(await home.condition(KIND, name, 'Stalled')).toMatchObject({ status: 'True' });
    return condition!.message;
  });
}

const reauthFlows = async (domain: Domain) =>
  (await client.connection.command('config_entries/flow/progress')).filter(
    (flow) => flow.handler === domain && flow.context.source === 'reauth',
  );

describe('a request that is interrupted while the hub sets the entry up', () => {
  test('leaves one entry, which is loaded and stored', async () => {
    let killed = false;
    proxy.hold = (moment, what) => {
      if (moment !== 'request' || !what.startsWith(`POST ${FLOW}/`) || killed) return undefined;
      // The request reaches the hub, and the operator is killed while the hub processes it.
      void until('the set-up runs', async () => (await devices.cut_user.requests()).length > 0)
        .then(() => operator.kill())
        .then(() => (killed = true));
      return undefined;
    };
    await home.apply(of('cut_user', { host: 'attic' }));
    await until('the operator is killed', () => killed);
    const [cut] = await until('the set-up was cancelled', async () => {
      const entries = await entriesOf('cut_user');
      expect(entries).toMatchObject([{ state: 'setup_error', reason: null }]);
      return entries;
    });
    await devices.cut_user.change({ setupSleep: 0 });
    await operator.start();
    await loaded('cut-user');
    await operator.calm();
    expect(await entriesOf('cut_user')).toMatchObject([{ entry_id: cut!.entry_id, state: 'loaded' }]);
    expect(await statusOf('cut-user')).toMatchObject({ entryID: cut!.entry_id });
    expect(await statusOf('cut-user')).not.toHaveProperty('adopted');
    expect(await statusOf('cut-user')).not.toHaveProperty('pendingFlow');
    await until('it is on disk', async () => (await entriesOnDisk('cut_user')).length === 1);
    await home.delete(KIND, 'cut-user');
    expect(await entriesOf('cut_user')).toEqual([]);
  });
});

describe('an operator that is killed in a flow, after which a user adds a device', () => {
  const killedAt = (
    resource: ReturnType<typeof of>,
    moment: 'request' | 'answer',
    isHit: (what: string) => boolean,
  ) => killAtRequest(operator, proxy, { moment, isHit }, () => home.apply(resource));
  const isStart = (what: string) => what === `POST ${FLOW}`;
  const isAnswer = (what: string) => what.startsWith(`POST ${FLOW}/`);

  test('makes its own entry if its flow was only recorded, and leaves that of the user unchanged', async () => {
    await killedAt(of('announced', { host: 'attic' }, { title: 'Mine', adopt: 'Never' }), 'request', isStart);
    const { pendingFlow } = await statusOf('announced');
    expect(pendingFlow).toMatchObject({ clockOffset: expect.any(Number) as number });
    expect(pendingFlow).not.toHaveProperty('flowID');
    const person = await byHand('announced', { host: 'bedroom' });
    await operator.start();
    await loaded('announced');
    await operator.calm();
    const { entryID } = await statusOf('announced');
    expect((await entriesOf('announced')).map(({ entry_id: id, title }) => [id, title])).toEqual([
      [person, 'bedroom'],
      [entryID, 'Mine'],
    ]);
    await home.delete(KIND, 'announced');
    expect(await entriesOf('announced')).toMatchObject([{ entry_id: person, title: 'bedroom' }]);
  });

  test.each([
    ['adopts it at most', 'unanswered', {}],
    ['names it, and makes no other one', 'unanswered_never', { adopt: 'Never' }],
  ] as const)('%s if the hub has lost the flow, and leaves it at the deletion', async (_, domain, spec) => {
    const name = domain.replaceAll('_', '-');
    await killedAt(of(domain, { host: 'attic' }, spec), 'request', isAnswer);
    const { flowID } = (await statusOf(name))['pendingFlow'] as { flowID: string };
    expect(await client.flows.abort('config', flowID)).toBe(true);
    const person = await byHand(domain, { host: 'bedroom' });
    await operator.start();
    if ('adopt' in spec) await stalled(name, 'ConfigFlowFailed', /interrupted.*“bedroom”/);
    else await loaded(name);
    await operator.calm();
    expect((await statusOf(name))['adopted']).toBe('adopt' in spec ? undefined : true);
    expect(await entriesOf(domain)).toMatchObject([{ entry_id: person, title: 'bedroom' }]);
    await home.delete(KIND, name);
    expect(await entriesOf(domain)).toMatchObject([{ entry_id: person, title: 'bedroom', state: 'loaded' }]);
  });

  test('has one entry if only the response is lost', async () => {
    await killedAt(of('answered', { host: 'attic' }), 'answer', isAnswer);
    await operator.start();
    await loaded('answered');
    await operator.calm();
    const [only, ...others] = await entriesOf('answered');
    expect(others).toEqual([]);
    expect(await statusOf('answered')).toMatchObject({ entryID: only!.entry_id, adopted: true });
  });

  test('has one entry with another title if only the response is lost, and adopts it when a user gives it the title', async () => {
    const resource = of('answered_titled', { host: 'attic' }, { title: 'Mine' });
    await killedAt(resource, 'answer', isAnswer);
    await operator.start();
    await stalled('answered-titled', 'ConfigFlowFailed', /interrupted.*“attic”.*give it that title/);
    await operator.calm();
    const [only, ...others] = await entriesOf('answered_titled');
    expect(others).toEqual([]);
    await client.configEntries.setTitle(only!.entry_id, 'Mine');
    await loaded('answered-titled');
    expect(await statusOf('answered-titled')).toMatchObject({ entryID: only!.entry_id, adopted: true });
    expect(await entriesOf('answered_titled')).toHaveLength(1);
  });
});

describe('an entry that the hub itself replaces, because the new one has its unique id', () => {
  test('leaves the new one, also with an answer that no form asks for', async () => {
    const answers = (fields: Readonly<Record<string, string>>) =>
      of('replaced', { host: 'box', ...fields }, { reconfigure: 'Recreate' });
    await home.apply(answers({ password: 'right' }));
    await loaded('replaced');
    const [former] = await entriesOf('replaced');
    await devices.replaced.change({ password: 'other' });
    await home.apply(answers({ password: 'other', hots: 'x' }));
    await stalled('replaced', 'ConfigFlowFailed', /configuration\.hots/);
    await home.apply(answers({ password: 'other' }));
    await loaded('replaced');
    await operator.calm();
    const [now, ...others] = await entriesOf('replaced');
    expect(others).toEqual([]);
    expect(now!.entry_id).not.toBe(former!.entry_id);
  });
});

describe('a hub that takes long', () => {
  test('sets an entry up in 45 s, and answers a form after 40 s, without a second attempt', async () => {
    const { length } = proxy.cut;
    await home.apply(
      password('slow_form', 'right'),
      of('slow_setup', { host: 'slow' }),
      withPassword('slow_form'),
    );
    await loaded('slow-setup');
    await loaded('slow-form');
    expect(await entriesOf('slow_setup')).toHaveLength(1);
    expect((await devices.slow_setup.requests()).map(({ setup }) => setup)).toEqual(['slow']);
    expect(await devices.slow_form.logins()).toEqual(['right']);
    for (const name of ['slow-setup', 'slow-form'])
      expect((await operator.events(KIND, name)).join()).not.toMatch(/HubUnreachable|SetupError/);
    expect(proxy.cut.slice(length).filter((what) => what.startsWith(`POST ${FLOW}`))).toEqual([]);
  });
});

describe('a wrong password in a Secret', () => {
  test('never removes the entry, and is sent once; the right one is used later', async () => {
    await home.apply(password('login', 'right'), withPassword('login'));
    await loaded('login');
    const [entry] = await entriesOf('login');
    await home.apply(password('login', 'typo'));
    await until('it is Stalled', () => home.condition(KIND, 'login', 'Stalled'));
    await operator.calm();
    expect(await entriesOf('login')).toMatchObject([{ entry_id: entry!.entry_id }]);
    const typos = async () => (await devices.login.logins()).filter((each) => each === 'typo').length;
    expect(await typos()).toBeLessThanOrEqual(1);
    await operator.kill();
    await operator.start();
    await operator.calm();
    expect(await typos()).toBeLessThanOrEqual(1);
    await home.apply(password('login', 'right'));
    await loaded('login');
    expect(await entriesOf('login')).toMatchObject([{ entry_id: entry!.entry_id, state: 'loaded' }]);
  });

  test('is not used to recreate an entry that asks for another password', async () => {
    await home.apply(password('reauth_fields', 'right'), withPassword('reauth_fields'));
    await loaded('reauth-fields');
    const [entry] = await entriesOf('reauth_fields');
    // The password of the device changes, and the Secret gets a wrong one.
    await devices.reauth_fields.change({ password: 'other' });
    await home.apply(password('reauth_fields', 'othr'));
    await client.rest.post(`/api/config/config_entries/entry/${entry!.entry_id}/reload`, {});
    await home.ready(KIND, 'reauth-fields', { status: 'False', reason: 'AuthNeeded' });
    await operator.calm();
    expect(await entriesOf('reauth_fields')).toMatchObject([{ entry_id: entry!.entry_id }]);
    expect((await devices.reauth_fields.logins()).filter((each) => each === 'othr')).toHaveLength(1);
    await home.apply(password('reauth_fields', 'other'));
    await loaded('reauth-fields');
    expect(await entriesOf('reauth_fields')).toMatchObject([{ entry_id: entry!.entry_id, state: 'loaded' }]);
    expect(await reauthFlows('reauth_fields')).toEqual([]);
  });
});

describe('a reauthentication that asks only for a confirmation', () => {
  test('is left to a user', async () => {
    await home.apply(password('reauth_confirmation', 'right'), withPassword('reauth_confirmation'));
    await loaded('reauth-confirmation');
    const [entry] = await entriesOf('reauth_confirmation');
    await devices.reauth_confirmation.change({ password: 'other' });
    await client.rest.post(`/api/config/config_entries/entry/${entry!.entry_id}/reload`, {});
    const { message } = await home.ready(KIND, 'reauth-confirmation', {
      status: 'False',
      reason: 'AuthNeeded',
    });
    await operator.calm();
    expect(message).toContain('reauth_confirm');
    expect(await reauthFlows('reauth_confirmation')).toHaveLength(1);
    expect((await devices.reauth_confirmation.requests()).filter(({ reauth }) => reauth)).toEqual([]);
  });
});

describe('an entry of a user', () => {
  test('is named when the flow ends with already_configured, and the login is not repeated', async () => {
    const id = await byHand('cloud', { host: 'box', password: 'right' });
    await home.apply(password('cloud', 'right'), withPassword('cloud', { adopt: 'Never' }));
    await stalled('cloud', 'ConfigFlowFailed', /already_configured/);
    const logins = (await devices.cloud.logins()).length;
    expect(logins).toBe(2); // the login of the user, and one of the operator
    await operator.kill();
    await operator.start();
    await operator.calm();
    expect((await devices.cloud.logins()).length).toBeLessThanOrEqual(3);
    expect(await entriesOf('cloud')).toMatchObject([{ entry_id: id }]);
  });

  test('is adopted when the user flow changes it and ends with reconfigure_successful', async () => {
    const id = await byHand('nas', { host: 'nas' });
    await home.apply(of('nas', { host: 'nas' }));
    await loaded('nas');
    expect(await statusOf('nas')).toMatchObject({ entryID: id, adopted: true });
    await operator.calm();
    // One set-up by the user, one by the flow, and no more.
    expect((await devices.nas.requests()).filter(({ setup }) => setup)).toHaveLength(2);
    await home.delete(KIND, 'nas');
    expect(await entriesOf('nas')).toMatchObject([{ entry_id: id }]);
  });
});

describe('a form that is shown only sometimes', () => {
  test('may have answers in the spec that are not needed today', async () => {
    const steps = [{ stepId: 'pick', values: texts({ device: 'manual' }) }];
    await home.apply(of('sometimes', { host: 'one' }, { steps }));
    await loaded('sometimes');
    await home.delete(KIND, 'sometimes');
    await devices.sometimes.change({ picks: true });
    await home.apply(of('sometimes', { host: 'one' }, { steps }));
    await loaded('sometimes');
    expect(await entriesOf('sometimes')).toHaveLength(1);
  });
});

const { order, seed } = shuffled([
  hub('mill'),
  configuration('mill'),
  hubSecrets('mill', 'mill', { secretRefs: [{ name: 'words' }] }),
  secret('words', { word: 'The mill' }),
  integration('mill', 'mill-slow', 'all_at_once', { configuration: texts({ host: 'slow' }) }),
  integration('mill', 'mill-fast', 'slow_setup', { configuration: texts({ host: 'fast' }) }),
  integration('mill', 'mill-other', 'second_entry', { configuration: texts({ host: 'other' }) }),
  ...['dawn', 'dusk'].map((name) => automation('mill', name)),
  scene('mill', 'film'),
  script('mill', 'leave'),
  floor('mill', 'ground', { name: 'Ground' }),
  label('mill', 'wood', { name: 'Wood' }),
  area('mill', 'workshop', { name: 'Workshop', floorName: 'Ground' }),
  zone('mill', 'shop', { name: 'Shop', latitude: '48.2', longitude: '16.3' }),
]);

describe('a home that is applied in any order', () => {
  test(`waits for a restart that cuts a flow, and reports no failure (in the order of seed ${seed})`, async () => {
    const directory = await restoreOnboarded(home, 'mill');
    const slow = await DeviceIntegration.add(directory, 'all_at_once', { formSleep: 600 });
    for (const domain of ['slow_setup', 'second_entry']) await DeviceIntegration.add(directory, domain);
    for (const object of order) await home.apply(object);
    const mill = await proxyOf(home, 'mill');
    const sent = new Set<string>();
    mill.hold = (moment, what) => {
      if (moment === 'request') sent.add(what);
      return undefined;
    };
    try {
      await until('the hub works on the answers of the slow flow', async () => {
        const { pendingFlow } = await statusOf('mill-slow');
        return sent.has(`POST ${FLOW}/${(pendingFlow as { flowID?: string } | undefined)?.flowID}`);
      });
      await home.apply(
        secret('words', { word: 'The other mill' }),
        configuration('mill', `${DEFAULT_CONFIGURATION}homeassistant:\n  name: !secret word\n`),
      );
      await slow.change({ formSleep: 0 });
      await home.ready('hubconfiguration', 'mill', { reason: 'ConfigurationLoaded' });
      for (const { kind, metadata } of order) if (kind !== 'Secret') await home.ready(kind, metadata.name);
      const millClient = await home.client('mill');
      expect((await getConfig(millClient.rest)).location_name).toBe('The other mill');
      const entries = [...(await millClient.configEntries.refreshed()).values()];
      const domains = ['all_at_once', 'second_entry', 'slow_setup'];
      const made = entries.map(({ domain }) => domain).filter((domain) => domains.includes(domain));
      expect(made.sort()).toEqual(domains);
      for (const { kind, metadata } of order.filter(({ kind }) => !['Secret', 'Hub'].includes(kind)))
        // A hub that is killed while it stops loses its last changes.
        expect(
          (await operator.events(kind, metadata.name)).filter((event) =>
            /^Warning (?!DriftDetected)/.test(event),
          ),
        ).toEqual([]);
      // Each of these would be counted by controller_runtime_terminal_reconcile_errors_total.
      const names = new Set(order.map(({ metadata }) => metadata.name));
      const ends = (await operator.outcomes()).filter(({ name }) => names.has(name));
      expect(ends.filter(({ outcome }) => outcome === 'Stalled')).toEqual([]);
      expect(ends.map(({ reason }) => reason)).toContain('HubNotReady');
    } finally {
      await mill.stop();
    }
  });
});

describe('an entry whose set-up failed', () => {
  test('is reported, and loaded when the hub loads it', async () => {
    await home.apply(of('fails_once', { host: 'one' }));
    await home.ready(KIND, 'fails-once', { status: 'False', reason: 'SetupError' });
    const [entry] = await entriesOf('fails_once');
    await client.rest.post(`/api/config/config_entries/entry/${entry!.entry_id}/reload`, {});
    await loaded('fails-once');
    expect(await entriesOf('fails_once')).toMatchObject([{ entry_id: entry!.entry_id }]);
  });
});

describe('reconfigure', () => {
  test('Prefer leaves an entry alone whose integration cannot change the answer', async () => {
    await home.apply(of('second_entry', { host: 'one' }));
    await loaded('second-entry');
    const [entry] = await entriesOf('second_entry');
    await home.apply(of('second_entry', { host: 'two' }));
    await stalled('second-entry', 'RecreateRequired', /Recreate/);
    expect(await entriesOf('second_entry')).toMatchObject([{ entry_id: entry!.entry_id, title: 'one' }]);
    // The second entry replaces the first.
    await home.change(KIND, 'second-entry', { reconfigure: 'Recreate' });
    await until(
      'it is another entry',
      async () => (await statusOf('second-entry'))['entryID'] !== entry!.entry_id,
    );
    await loaded('second-entry');
    expect(await entriesOf('second_entry')).toMatchObject([{ title: 'two', state: 'loaded' }]);
  });

  test('Recreate keeps the old entry when the new answers are rejected, and replaces it when they are accepted', async () => {
    const recreate = { reconfigure: 'Recreate' };
    await home.apply(password('login_reconfigured', 'right'), withPassword('login_reconfigured', recreate));
    await loaded('login-reconfigured');
    const [first] = await entriesOf('login_reconfigured');
    await home.apply(password('login_reconfigured', 'typo'));
    await stalled('login-reconfigured', 'ConfigFlowFailed', /invalid_auth/);
    expect(await entriesOf('login_reconfigured')).toMatchObject([
      { entry_id: first!.entry_id, state: 'loaded' },
    ]);

    // The flow ends with already_configured after the login, which proves the answers.
    const answers = (value: string) => of('recreated', { host: 'box', password: value }, recreate);
    await home.apply(answers('right'));
    await loaded('recreated');
    const [before] = await entriesOf('recreated');
    await devices.recreated.change({ password: 'other' });
    await home.apply(answers('other'));
    await until('another entry', async () => (await statusOf('recreated'))['entryID'] !== before!.entry_id);
    await loaded('recreated');
    expect(await entriesOf('recreated')).toMatchObject([{ title: 'box', state: 'loaded' }]);
  });
});
