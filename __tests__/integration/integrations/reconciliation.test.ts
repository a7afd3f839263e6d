import type { ConfigEntry } from '../../../operator/client/connection/flow-step';
import type { HubClient } from '../../../operator/client/hub-client';
import { NotFound } from '../../../operator/client/connection/errors';
import { freshNamespace, until } from '../../cluster';
import { outliveCreation } from '../../cluster/creation-time';
import { configuration, DEFAULT_CONFIGURATION, Home, hub, integration, secret } from '../../cluster/home';
import { MqttBroker } from '../../cluster/mqtt-broker';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { addStepIntegration, STEPS } from '../../cluster/step-integration';

// Every row of the table in rules.md, "Integrations", and its consequences. All tests share one hub and use
// different domains or titles.

const KIND = 'hubintegration';

let home: Home;
let operator: TestOperator;
let client: HubClient;

beforeAll(async () => {
  home = new Home(await freshNamespace('entries'));
  operator = await startTestOperator(home.namespace);
  await addStepIntegration(await restoreOnboarded(home, 'villa'));
  const text = `${DEFAULT_CONFIGURATION}config:\nkitchen_sink:\ninput_boolean:\n  heater:\n    name: Heater\n`;
  // Applied before the hub exists, since the order must not matter.
  await home.apply(integration('villa', 'early', 'sun'));
  await home.ready(KIND, 'early', { status: 'False', reason: 'HubNotFound' });
  await home.apply(hub('villa'), configuration('villa', text));
  await home.ready('hub', 'villa');
  client = await home.client('villa');
});

/** Returns the current entries of a domain in the hub. */
async function entriesOf(domain: string): Promise<readonly ConfigEntry[]> {
  return [...(await client.configEntries.refreshed()).values()].filter((entry) => entry.domain === domain);
}
const entityOf = async (domain: string) =>
  (await client.connection.command('config/entity_registry/list')).find(
    ({ platform }) => platform === domain,
  );
const statusOf = async (name: string) => (await home.get(KIND, name)).status!;
const entryIdOf = async (name: string) => String((await statusOf(name))['entryID']);
const loaded = (name: string) => home.ready(KIND, name, { reason: 'EntryLoaded' });
const text = (value: string) => ({ value });
const json = (value: unknown) => ({ jsonValue: JSON.stringify(value) });
const ofSecret = (name: string, key: string) => ({ secretKeyRef: { name, key } });
const texts = (fields: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(fields).map(([field, value]) => [field, { value }]));

/** Waits until the flow has failed with these words in its message. */
async function failed(name: string, ...parts: readonly (string | RegExp)[]): Promise<void> {
  await until(`${name} says ${parts.join(', ')}`, async () => {
    const condition = await home.condition(KIND, name);
    expect(condition).toMatchObject({ status: 'False', reason: 'ConfigFlowFailed' });
    for (const part of parts) expect(condition!.message).toMatch(part);
    return true;
  });
}

/**
 * Waits until the hub has no flow that the operator started to create an entry. The last one may just be
 * ending.
 */
async function noFlowIsLeft(): Promise<void> {
  const started = (await operator.logLines('"flowID"')) as { flowID: string }[];
  expect(started.length).toBeGreaterThan(0);
  for (const { flowID } of started)
    await until(`the flow ${flowID} has ended`, () =>
      client.flows.read('config', flowID).then(
        () => false,
        (error: unknown) => error instanceof NotFound,
      ),
    );
}

/** Creates an entry as a user does. Resolves with its id. */
async function byHand(domain: string, ...answers: readonly object[]): Promise<string> {
  let step = await client.flows.start({ kind: 'config', domain });
  for (const answer of answers) step = await client.flows.submit('config', step.flow_id, answer);
  if (step.type !== 'create_entry') throw new Error(`the flow of ${domain} is at ${JSON.stringify(step)}`);
  return step.result!.entry_id;
}

/** Returns the current values of an entry, as its options form shows them. */
async function optionsOf(entryId: string): Promise<Readonly<Record<string, unknown>>> {
  const step = await client.flows.start({ kind: 'options', entryId });
  await client.flows.abort('options', step.flow_id);
  if (step.type !== 'form') throw new Error('the options have no form');
  return Object.fromEntries(
    (step.data_schema ?? []).map(({ name, description, default: preset }) => {
      const suggested = typeof description === 'object' ? description?.suggested_value : undefined;
      return [name, suggested ?? preset];
    }),
  );
}

const random = (name: string, maximum: string, spec: object = {}) => ({
  steps: [
    { stepId: 'user', menuOption: 'sensor' },
    { stepId: 'sensor', values: texts({ name, minimum: '1', maximum }) },
  ],
  ...spec,
});

describe('IntegrationSync', () => {
  test('an integration without questions waits for its hub, is created, and its entry goes with the resource', async () => {
    await loaded('early');
    const [entry] = await entriesOf('sun');
    const status = await statusOf('early');
    expect(status).toMatchObject({
      entryID: entry!.entry_id,
      title: entry!.title,
      entryState: 'loaded',
    });
    expect(status).not.toHaveProperty('pendingFlow');
    expect(status).not.toHaveProperty('adopted');
    await home.delete(KIND, 'early');
    expect(await entriesOf('sun')).toEqual([]);
  });

  test('a helper of each kind is created from its form', async () => {
    const helpers = {
      derivative: {
        name: text('Power'),
        source: text('sensor.energy'),
        round: text('1'),
        time_window: text('00:05:00'),
        unit_time: text('h'),
      },
      min_max: {
        name: text('Warmest'),
        entity_ids: json(['sensor.one', 'sensor.two']),
        type: text('max'),
        round_digits: text('1'),
      },
      utility_meter: {
        name: text('Daily energy'),
        source: text('sensor.energy'),
        cycle: text('daily'),
        offset: text('0'),
        tariffs: json(['peak', 'off']),
        net_consumption: text('no'),
      },
      threshold: {
        name: text('Cold'),
        entity_id: text('sensor.outside'),
        lower: text('-5'),
        hysteresis: text('0.5'),
      },
      generic_thermostat: {
        name: text('Cellar'),
        ac_mode: text('off'),
        target_sensor: text('sensor.cellar'),
        heater: text('switch.cellar'),
        min_temp: text('5'),
        precision: text('0.5'),
        min_cycle_duration: json({ minutes: 5 }),
        away_temp: text('8'),
      },
      workday: {
        country: text('DE'),
        province: text('BE'),
        excludes: json(['sat', 'sun']),
        days_offset: text('0'),
      },
      local_ip: {},
      tod: { name: text('Morning'), after_time: text('06:00:00'), before_time: text('10:00:00') },
    };
    await home.apply(
      ...Object.entries(helpers).map(([domain, fields]) =>
        integration('villa', domain.replaceAll('_', '-'), domain, { configuration: fields }),
      ),
    );
    for (const domain of Object.keys(helpers)) {
      await loaded(domain.replaceAll('_', '-'));
      expect(await entriesOf(domain)).toHaveLength(1);
    }
    expect(await optionsOf(await entryIdOf('min-max'))).toEqual({
      entity_ids: ['sensor.one', 'sensor.two'],
      type: 'max',
      round_digits: 1,
    });
    expect(await optionsOf(await entryIdOf('derivative'))).toMatchObject({
      round: 1,
      time_window: { hours: 0, minutes: 5, seconds: 0 },
    });
    expect((await statusOf('workday'))['title']).toBe('Workday Sensor DE BE');
  });

  test('menus: an option is chosen, and a missing or unknown one is reported with the available ones', async () => {
    const template = (option: string) => ({
      steps: [
        { stepId: 'user', menuOption: option },
        { stepId: 'switch', values: { name: text('Fan'), turn_on: json([]), turn_off: json([]) } },
      ],
    });
    const group = {
      steps: [{ stepId: 'user', menuOption: 'light' }],
      configuration: { name: text('Upstairs'), entities: json(['light.one']), hide_members: text('false') },
    };
    await home.apply(
      integration('villa', 'template', 'template', template('switch')),
      integration('villa', 'group', 'group', group),
      integration('villa', 'no-option', 'random', { configuration: texts({ name: 'Lost' }) }),
      integration(
        'villa',
        'wrong-option',
        'random',
        random('Lost', '6', { steps: [{ stepId: 'user', menuOption: 'lamp' }] }),
      ),
    );
    await loaded('template');
    await loaded('group');
    await failed('no-option', 'step user', 'menuOption', 'binary_sensor', 'sensor');
    await failed('wrong-option', 'no option lamp');

    const { entity_id: entityId } = await until('the entity of the template', () => entityOf('template'));
    await home.apply(
      integration('villa', 'as-light', 'switch_as_x', {
        configuration: { entity_id: text(entityId), target_domain: text('light'), invert: text('false') },
      }),
    );
    await loaded('as-light');
    expect(await entriesOf('group')).toHaveLength(1);
  });

  test('a changed value keeps the entry and its entities; one that no form accepts replaces the entry only if the spec says so', async () => {
    const entity = () => entityOf('random');
    await home.apply(integration('villa', 'dice', 'random', random('Dice', '6')));
    await loaded('dice');
    const id = await entryIdOf('dice');
    const { entity_id, unique_id } = await until('the entity of the dice', entity);
    await client.connection.command('config/area_registry/create', { name: 'Casino' });
    const inArea = { entity_id, area_id: 'casino' };
    await client.connection.command('config/entity_registry/update', inArea);
    await home.apply(integration('villa', 'dice', 'random', random('Dice', '20')));
    await loaded('dice');
    expect(await entryIdOf('dice')).toBe(id);
    expect(await entity()).toMatchObject({ entity_id, unique_id, area_id: 'casino' });
    expect(await optionsOf(id)).toMatchObject({ maximum: 20, minimum: 1 });

    // The title of a helper is its name.
    await home.apply(integration('villa', 'dice', 'random', random('Big dice', '20')));
    await loaded('dice');
    await until('the title is changed', async () => (await statusOf('dice'))['title'] === 'Big dice');
    expect(await entryIdOf('dice')).toBe(id);

    const coin = {
      steps: [
        { stepId: 'user', menuOption: 'binary_sensor' },
        { stepId: 'binary_sensor', values: texts({ name: 'Coin' }) },
      ],
    };
    await home.apply(integration('villa', 'dice', 'random', coin));
    const { message } = await home.ready(KIND, 'dice', { status: 'False', reason: 'RecreateRequired' });
    expect(message).toMatch(/steps\[0\]\.user.*its entity/);
    expect(await entryIdOf('dice')).toBe(id);
    await home.apply(integration('villa', 'dice', 'random', { ...coin, reconfigure: 'Recreate' }));
    await until('another entry', async () => !['undefined', id].includes(await entryIdOf('dice')));
    await until('the former entry is gone', async () => (await entriesOf('random')).length === 1);
    await loaded('dice');
    await home.event('HubIntegration', 'dice', /^Warning EntryRecreated/);
  });

  test('a typo, a removed answer and one that moves to another form leave the entry alone', async () => {
    const values = (fields: Readonly<Record<string, string>>) =>
      integration('villa', 'careful', 'min_max', {
        configuration: { ...texts(fields), entity_ids: json(['sensor.one']) },
      });
    const fields = { name: 'Careful', type: 'min', round_digits: '1' };
    await home.apply(values(fields));
    await loaded('careful');
    const id = await entryIdOf('careful');
    await home.apply(values({ ...fields, round_digit: '2' }));
    await failed(
      'careful',
      'no form of the entry asks for configuration.round_digit, so the entry works without it',
    );
    await home.apply(values(fields));
    await loaded('careful');
    await home.apply(
      integration('villa', 'careful', 'min_max', {
        steps: [{ stepId: 'user', values: { ...texts(fields), entity_ids: json(['sensor.one']) } }],
      }),
    );
    await until('the answers have moved', async () =>
      Object.keys((await statusOf('careful'))['answerHashes'] as object).includes('steps[0].user.name'),
    );
    await loaded('careful');
    expect(await entryIdOf('careful')).toBe(id);
    expect((await operator.events('HubIntegration', 'careful')).join()).not.toContain('EntryRecreated');
  });

  test('reconfigure: Recreate replaces the entry with each change', async () => {
    const tod = (before: string) => ({
      configuration: texts({ name: 'Evening', after_time: '18:00:00', before_time: before }),
      reconfigure: 'Recreate',
    });
    await home.apply(integration('villa', 'evening', 'tod', tod('20:00:00')));
    await loaded('evening');
    const id = await entryIdOf('evening');
    await home.apply(integration('villa', 'evening', 'tod', tod('21:00:00')));
    await until('another entry', async () => !['undefined', id].includes(await entryIdOf('evening')));
    await until(
      'the former entry is gone',
      async () => !(await entriesOf('tod')).some(({ entry_id: each }) => each === id),
    );
    await loaded('evening');
  });

  test('a form error has step, field, key and the text of the hub’s UI, and is corrected by an edit', async () => {
    const cold = (fields: Readonly<Record<string, string>>) =>
      integration('villa', 'frost', 'threshold', {
        configuration: texts({ name: 'Frost', entity_id: 'sensor.outside', hysteresis: '0', ...fields }),
      });
    await home.apply(cold({}));
    await failed('frost', 'step user', 'need_lower_upper', "Lower and upper limits can't both be empty");
    await home.apply(cold({ lower: 'warm' }));
    await failed('frost', 'field lower', 'configuration.lower must be number');
    await home.apply(cold({ lower: '1', lowest: '2' }));
    await failed('frost', 'configuration.lowest', 'remove it or correct its name');
    await home.apply(cold({ lower: '1' }));
    await loaded('frost');
    await home.apply(
      integration('villa', 'unknown', 'no_such_thing'),
      integration('villa', 'mistyped', 'mqqt'),
      integration('villa', 'incomplete', 'threshold', { configuration: texts({ name: 'x' }) }),
    );
    await failed('unknown', 'no integration no_such_thing');
    await failed('mistyped', 'no integration mqqt: did you mean mqtt');
    await failed('incomplete', 'field entity_id', 'needs the field entity_id');
    await noFlowIsLeft();
  });

  test('an existing entry is adopted by its title, and kept when the resource is deleted', async () => {
    const id = await byHand(
      'random',
      { next_step_id: 'sensor' },
      { name: 'Of a person', minimum: 1, maximum: 5 },
    );
    await home.apply(
      integration('villa', 'adopter', 'random', random('Of a person', '5')),
      integration('villa', 'second', 'random', random('Of another', '5')),
    );
    await loaded('adopter');
    await loaded('second');
    expect(await statusOf('adopter')).toMatchObject({ entryID: id, adopted: true });
    expect(await entryIdOf('second')).not.toBe(id);
    await home.event('HubIntegration', 'adopter', /^Warning Adopted: .*Of a person/);
    // The entry's values stay until one changes in the resource.
    expect(await optionsOf(id)).toMatchObject({ maximum: 5 });
    await home.apply(integration('villa', 'adopter', 'random', random('Of a person', '7')));
    await loaded('adopter');
    expect(await optionsOf(id)).toMatchObject({ maximum: 7 });
    await home.delete(KIND, 'adopter');
    await home.delete(KIND, 'second');
    expect((await entriesOf('random')).map(({ entry_id: each }) => each)).toContain(id);
    await client.configEntries.remove(id);
  });

  test('without a title, the only entry of a domain is adopted, by one resource', async () => {
    const id = await byHand('moon', {});
    await home.apply(integration('villa', 'never', 'moon', { adopt: 'Never' }));
    await failed('never', 'single_instance_allowed', 'spec.adopt is Never');
    await home.delete(KIND, 'never');
    await home.apply(integration('villa', 'moon', 'moon'));
    await loaded('moon');
    expect(await statusOf('moon')).toMatchObject({ entryID: id, adopted: true });
    await outliveCreation(home, KIND, 'moon');
    await home.apply(integration('villa', 'moon-two', 'moon'));
    await home.ready(KIND, 'moon-two', { status: 'False', reason: 'DuplicateId' });
    await home.delete(KIND, 'moon');
    await loaded('moon-two'); // the second resource takes over automatically
    expect(await statusOf('moon-two')).toMatchObject({ entryID: id, adopted: true });
  });

  test('drift: an entry that was removed, renamed or disabled comes back', async () => {
    const die = random('Drifting', '6', { title: 'Drifting' });
    await home.apply(integration('villa', 'drifting', 'random', die));
    await loaded('drifting');
    const id = await entryIdOf('drifting');
    await client.configEntries.setTitle(id, 'Mine');
    await until(
      'the title is back',
      async () => (await client.configEntries.refreshed()).get(id)?.title === 'Drifting',
    );
    await loaded('drifting');
    await client.configEntries.setEnabled(id, false);
    await until(
      'it is enabled',
      async () => (await client.configEntries.refreshed()).get(id)?.disabled_by === null,
    );
    await loaded('drifting');
    await client.configEntries.remove(id);
    await until('another entry', async () => !['undefined', id].includes(await entryIdOf('drifting')));
    await loaded('drifting');
    await home.event('HubIntegration', 'drifting', /^Warning DriftDetected: .*was removed/);

    await home.change(KIND, 'drifting', { driftPolicy: 'Warn' });
    await loaded('drifting');
    await client.configEntries.remove(await entryIdOf('drifting'));
    await home.ready(KIND, 'drifting', { status: 'False', reason: 'DriftDetected' });
    await home.delete(KIND, 'drifting');
  });

  test('enabled: false switches the entry off, and true on again', async () => {
    await home.apply(integration('villa', 'switched', 'random', random('Switched', '6', { enabled: false })));
    await home.ready(KIND, 'switched', { reason: 'EntryDisabled' });
    const id = await entryIdOf('switched');
    await until('it is off in the hub', async () => {
      const entry = (await client.configEntries.refreshed()).get(id);
      expect(entry).toMatchObject({ disabled_by: 'user', state: 'not_loaded' });
      return true;
    });
    await home.change(KIND, 'switched', { enabled: true });
    await loaded('switched');
    expect(await entryIdOf('switched')).toBe(id);
  });

  test('dry-run names what would be done, and does nothing', async () => {
    const dry = integration('villa', 'dry', 'random', random('Dry', '6'));
    const annotations = { 'hub-operator.dev/dry-run': 'true' };
    await home.apply({ ...dry, metadata: { ...dry.metadata, annotations } });
    const { message } = await home.ready(KIND, 'dry', { status: 'False', reason: 'DryRun' });
    expect(message).toContain('Would run the config flow of random with steps[0].user');
    expect((await entriesOf('random')).map(({ title }) => title)).not.toContain('Dry');
    await home.annotate(KIND, 'dry', 'hub-operator.dev/dry-run-');
    await loaded('dry');
  });

  test('a Secret: a changed value is applied, a changed annotation is not, a lost key changes nothing', async () => {
    const limits = (data: Readonly<Record<string, string>>, note: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'limits', annotations: { note } },
      stringData: data,
    });
    const spec = {
      steps: [{ stepId: 'user', menuOption: 'sensor' }],
      configuration: {
        name: text('Secret dice'),
        minimum: text('1'),
        maximum: ofSecret('limits', 'maximum'),
      },
    };
    await home.apply(integration('villa', 'secret-dice', 'random', spec));
    await home.ready(KIND, 'secret-dice', { status: 'False', reason: 'SecretNotFound' });
    await home.apply(limits({ other: '6' }, 'a'));
    await home.ready(KIND, 'secret-dice', { status: 'False', reason: 'KeyNotFound' });
    await home.apply(limits({ maximum: '1234567890123' }, 'a'));
    await loaded('secret-dice');
    const id = await entryIdOf('secret-dice');
    const applied = (await statusOf('secret-dice'))['lastAppliedTime'];
    await operator.calm();
    const resourceVersion = async () => (await home.get(KIND, 'secret-dice')).metadata.resourceVersion;
    const version = await resourceVersion();
    await home.apply(limits({ maximum: '1234567890123' }, 'b'));
    await operator.calm();
    expect(await resourceVersion()).toBe(version);
    await home.apply(limits({ maximum: '5678901234567' }, 'b'));
    await until('the value is applied', async () => (await optionsOf(id))['maximum'] === 5678901234567);
    await loaded('secret-dice');
    expect(await entryIdOf('secret-dice')).toBe(id);
    const text1 =
      JSON.stringify(await home.get(KIND, 'secret-dice')) +
      (await operator.events('HubIntegration', 'secret-dice')).join();
    expect(text1).not.toMatch(/1234567890123|5678901234567/);

    const hash = (await statusOf('secret-dice'))['configHash'];
    await home.delete('secret', 'villa-operator');
    await home.annotate(KIND, 'secret-dice', 'hub-operator.dev/reconcile-requested-at=key');
    await until(
      'the hash has another key',
      async () => (await statusOf('secret-dice'))['configHash'] !== hash,
    );
    await loaded('secret-dice');
    expect(await entryIdOf('secret-dice')).toBe(id);
    expect(applied).toBeDefined();
    // The next change of the Secret is noticed.
    await home.apply(limits({ maximum: '91011' }, 'b'));
    await until('the value is applied', async () => (await optionsOf(id))['maximum'] === 91011);
  });

  test('options and subentries are applied, changed and removed; a confirmation that the hub asks for is left to a user', async () => {
    const sink = (int: string, subentries: readonly object[]) =>
      integration('villa', 'sink', 'kitchen_sink', {
        options: { 'section_1.bool': text('true'), 'section_1.int': text(int) },
        subentries,
      });
    const failures = await operator.failures();
    const lamp = { type: 'entity', title: 'Lamp', values: texts({ state: '1' }) };
    const door = { type: 'entity', title: 'Door', values: texts({ state: '2' }) };
    const requests = async () =>
      (await client.connection.command('config_entries/flow/progress')).filter(
        ({ context, handler }) => handler === 'kitchen_sink' && context.source === 'reauth',
      );
    /** A user answers the questions of the hub at each start of the integration. */
    const confirmed = () =>
      until('sink is loaded', async () => {
        for (const { flow_id: id } of await requests()) await client.flows.submit('config', id, {});
        const { reason, status } = (await home.condition(KIND, 'sink'))!;
        return reason === 'EntryLoaded' && status === 'True';
      });
    await home.apply(sink('7', [lamp, door]));
    const { message } = await home.ready(KIND, 'sink', { status: 'False', reason: 'AuthNeeded' });
    expect(message).toContain('the step reauth_confirm');
    expect(await requests()).toHaveLength(1);
    await confirmed();
    const id = await entryIdOf('sink');
    expect(await statusOf('sink')).toMatchObject({ adopted: true, title: 'Kitchen Sink' });
    const titles = async () => (await client.configEntries.subentries(id)).map(({ title }) => title).sort();
    expect(await titles()).toEqual(['Door', 'Lamp']);
    const lampId = async () =>
      (await client.configEntries.subentries(id)).find(({ title }) => title === 'Lamp')?.subentry_id;
    const before = await lampId();
    await home.apply(sink('8', [{ ...lamp, values: texts({ state: '3' }) }]));
    await until('one is removed', async () => (await titles()).join() === 'Lamp');
    await confirmed();
    expect(await entryIdOf('sink')).toBe(id);
    expect(await lampId()).toBe(before);
    await home.apply(sink('many', [lamp]));
    await failed('sink', 'options of kitchen_sink', 'section_1', 'int');
    await home.apply(
      integration('villa', 'sink', 'kitchen_sink', {
        subentries: [{ type: 'spoon', title: 'x', values: {} }],
      }),
    );
    await failed('sink', 'no subentries of the type spoon', 'entity');
    expect(await operator.failures()).toEqual(failures); // not even with a status that lost all its hashes
  });

  test('a file is uploaded, progress of the hub is awaited, a menu in the options is answered, a login is refused', async () => {
    const steps = (menuOption: string, more: object = {}) => ({
      steps: [{ stepId: 'user', menuOption }],
      ...more,
    });
    const file = { fileSecretKeyRef: { name: 'upload', key: 'text', fileName: 'note.txt' } };
    await home.apply(
      secret('upload', { text: 'Hello' }),
      integration('villa', 'file', STEPS, steps('file', { configuration: { certificate: file } })),
      integration('villa', 'login', STEPS, steps('login')),
    );
    await loaded('file');
    await failed('login', 'step login', 'needs a browser');
    // The title has the name and the content of the file. The content is the value of a Secret.
    const titles = async () => (await entriesOf(STEPS)).map(({ title }) => title);
    expect(await titles()).toEqual(['note.txt Hello']);
    expect((await statusOf('file'))['title']).toBe('note.txt ***');
    await home.apply(
      integration(
        'villa',
        'work',
        STEPS,
        steps('work', { options: { init: text('colour'), colour: text('red') } }),
      ),
    );
    await loaded('work');
    await until('the option is set', async () => {
      const { flow_id: flowId } = await client.flows.start({
        kind: 'options',
        entryId: await entryIdOf('work'),
      });
      const step = await client.flows.submit('options', flowId, { next_step_id: 'colour' });
      await client.flows.abort('options', flowId);
      expect(step).toMatchObject({ data_schema: [{ description: { suggested_value: 'red' } }] });
      return true;
    });
    await loaded('work');
    await noFlowIsLeft();
  });

  test('a calendar is imported from a file, and another file is rejected in the words of the hub', async () => {
    const garden = [
      'BEGIN:VCALENDAR',
      'VERSION:2.0',
      'PRODID:-//Example//Example//EN',
      'BEGIN:VEVENT',
      'UID:harvest',
      'DTSTAMP:20260101T000000Z',
      'DTSTART:20260901T060000Z',
      'DTEND:20260901T070000Z',
      'SUMMARY:Harvest',
      'END:VEVENT',
      'END:VCALENDAR',
      '',
    ].join('\r\n');
    const calendar = (name: string, title: string, key: string) =>
      integration('villa', name, 'local_calendar', {
        configuration: {
          calendar_name: text(title),
          import: text('import_ics_file'),
          ics_file: { fileSecretKeyRef: { name: 'calendars', key, fileName: 'calendar.ics' } },
        },
      });
    await home.apply(
      secret('calendars', { garden, other: 'no calendar' }),
      calendar('garden', 'Garden', 'garden'),
      calendar('no-calendar', 'Other', 'other'),
    );
    await loaded('garden');
    await failed('no-calendar', 'step import_ics_file', 'field ics_file', 'invalid_ics_file');
    const range = 'start=2026-09-01T00:00:00Z&end=2026-09-02T00:00:00Z';
    await until('the hub has the event of the file', async () => {
      const events = await client.rest.get<readonly object[]>(`/api/calendars/calendar.garden?${range}`);
      expect(events).toMatchObject([{ summary: 'Harvest' }]);
      return true;
    });
    await noFlowIsLeft();
  });

  test('mqtt: a broker that does not run is reported without a leak, and used when it comes up; credentials are renewed', async () => {
    const broker = await MqttBroker.create();
    const login = (password: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'mqtt' },
      stringData: { password },
    });
    await home.apply(
      login('first secret'),
      integration('villa', 'mqtt', 'mqtt', {
        configuration: {
          broker: text('127.0.0.1'),
          port: text(String(broker.port)),
          protocol: text('3.1.1'),
          username: text('hub'),
          password: ofSecret('mqtt', 'password'),
          'other_settings.set_client_cert': text('false'),
          'other_settings.set_ca_cert': text('off'),
        },
      }),
    );
    await failed('mqtt', 'cannot_connect', 'Failed to connect');
    await noFlowIsLeft();
    expect(await entriesOf('mqtt')).toEqual([]);
    await broker.start({ user: 'hub', password: 'first secret' });
    await loaded('mqtt');
    const id = await entryIdOf('mqtt');

    // The password of the broker changes: the old one is sent once, then the new one of the Secret.
    await broker.stop();
    await broker.start({ user: 'hub', password: 'second secret' });
    await home.ready(KIND, 'mqtt', { status: 'False', reason: 'AuthNeeded' });
    await home.apply(login('second secret'));
    await loaded('mqtt');
    expect(await entryIdOf('mqtt')).toBe(id);
    await operator.events('HubIntegration', 'mqtt'); // by then the last events are among the objects
    expect(JSON.stringify(await home.list('hubintegrations,events'))).not.toMatch(/(first|second) secret/);
    expect(await operator.log()).not.toMatch(/(first|second) secret/);
  });
});
