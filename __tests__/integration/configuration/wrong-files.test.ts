import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stateOf } from '../../../operator/client/config-entities/states';
import { parsePrepareReport } from '../../../operator/sync/hub-pod/termination-messages';
import { PREPARE_CONFIG } from '../../../operator/sync/hub-pod/scripts';
import { freshNamespace, until } from '../../cluster';
import { configuration, Home, hub, integration, type StoredCondition } from '../../cluster/home';
import { MqttBroker } from '../../cluster/mqtt-broker';
import { restoreOnboarded } from '../../cluster/onboarded-volume';
import { startTestOperator, type TestOperator } from '../../cluster/operator';
import { runPython } from '../../cluster/python-script';
import { GOOD_ENTITIES, textOf, WRONG_FILES, type WrongFile } from './wrong-files';

// Mistakes in the configuration: none is reported as in use, each is named, and the former configuration
// stays in use.

/** Text that a message about the file has to contain. */
const named = ({ says, sections }: WrongFile): RegExp =>
  says ?? new RegExp(`line \\d|${Object.keys(sections)[0]!.split(' ')[0]}`);

/** Reasons that name the fault of a configuration. */
const VERDICTS: ReadonlySet<string> = new Set([
  'CheckFailed',
  'InvalidConfiguration',
  'KeyNotFound',
  'NotLoaded',
  'ReloadFailed',
]);

/** Waits for the first verdict about the current generation. `Ready=True` is a verdict too. */
const verdictOf = (home: Home): Promise<StoredCondition> =>
  until('the operator has a verdict', async () => {
    const ready = await home.condition('hubconfiguration', 'villa');
    const isVerdict = ready && (ready.status === 'True' || VERDICTS.has(ready.reason));
    if (!isVerdict) throw new Error(ready ? `${ready.reason}: ${ready.message}` : 'none yet');
    return ready;
  });

describe('a wrong file in a running hub', () => {
  let home: Home;
  let operator: TestOperator;
  let pod: string;

  const podUid = async () => (await home.get('pod', 'villa-0')).metadata.uid;
  const states = async () => {
    const { rest } = await home.client('villa');
    return Promise.all(GOOD_ENTITIES.map(async (id) => [id, await stateOf(rest, id)] as const));
  };
  /** Returns the entities of the good configuration that are missing or unavailable in the hub. */
  const lost = async () =>
    (await states()).filter(([, state]) => state === undefined || state === 'unavailable');

  beforeAll(async () => {
    home = new Home(await freshNamespace('wrong'));
    operator = await startTestOperator(home.namespace);
    await restoreOnboarded(home, 'villa');
    await home.apply(hub('villa'), configuration('villa', textOf()));
    await home.ready('hubconfiguration', 'villa');
    await until('all of it is there', async () => (await lost()).length === 0);
    pod = await podUid();
  });

  test.each(WRONG_FILES.map((file) => [file.name, file] as const))('%s', async (_, file) => {
    await home.apply(configuration('villa', textOf(file.sections), { files: file.files ?? null }));
    const { status, reason, message } = await verdictOf(home);
    expect({ status, reason, message }).toEqual({
      status: 'False',
      reason,
      message: expect.stringMatching(named(file)) as string,
    });
    await until('what ran before runs', async () => {
      expect(await lost()).toEqual([]);
      return true;
    });
    // New files are linked only when a pod starts.
    if (!file.files) expect(await podUid()).toBe(pod);
  });

  test('the good configuration is in use immediately afterwards, without an error of the operator', async () => {
    await home.apply(configuration('villa', textOf()));
    await home.ready('hubconfiguration', 'villa');
    // The hub computes the states some time after it has loaded the configuration.
    await until('all of it is there', async () => (await lost()).length === 0);
    expect(await operator.failures()).toEqual([]);
  });

  test('the next edit is loaded after a wrong file was taken back', async () => {
    await home.apply(configuration('villa', textOf({ counter: '\n  visits:' })));
    await home.ready('hubconfiguration', 'villa');
    const { rest } = await home.client('villa');
    await until('the counter is there', async () => (await stateOf(rest, 'counter.visits')) === '0');
  });

  test('when a hub starts, a wrong file leaves the former one in use, and is named', async () => {
    const [file] = WRONG_FILES as [WrongFile];
    await home.apply(configuration('villa', textOf(file.sections), { reloadStrategy: 'restart' }));
    expect(await verdictOf(home)).toMatchObject({
      status: 'False',
      message: expect.stringMatching(named(file)) as string,
    });
    await home.ready('hub', 'villa');
    await until('what ran before runs', async () => (await lost()).length === 0);
  });
});

describe('a wrong mqtt section', () => {
  const section = (...lines: readonly string[]) => lines.map((line) => `\n  ${line}`).join('');
  const GOOD = section('- sensor:', '    - name: Own mqtt', '      state_topic: a/b');

  let home: Home;
  beforeAll(async () => {
    const broker = await MqttBroker.create();
    await broker.start();
    home = new Home(await freshNamespace('wrong-mqtt'));
    await startTestOperator(home.namespace);
    await restoreOnboarded(home, 'villa');
    const answers = { broker: '127.0.0.1', port: String(broker.port), protocol: '3.1.1' };
    const options = { 'other_settings.set_client_cert': 'false', 'other_settings.set_ca_cert': 'off' };
    await home.apply(
      hub('villa'),
      configuration('villa', textOf({ mqtt: GOOD })),
      integration('villa', 'mqtt', 'mqtt', {
        configuration: Object.fromEntries(
          Object.entries({ ...answers, ...options }).map(([field, value]) => [field, { value }]),
        ),
      }),
    );
    await home.ready('hubintegration', 'mqtt', { reason: 'EntryLoaded' });
    await home.ready('hubconfiguration', 'villa');
    await until('the sensor is there', isThere);
  });

  const isThere = async () => {
    const { rest } = await home.client('villa');
    return (await stateOf(rest, 'sensor.own_mqtt')) !== undefined;
  };

  test.each([
    ['a topic that is missing', GOOD.replace('state_topic', 'stat_topic')],
    ['an option of another type', GOOD.replace('a/b', 'a/b\n        qos: many')],
    ['a platform that is none', GOOD.replace('sensor:', 'sensr:')],
    ['a topic that is invalid', GOOD.replace('a/b', '"a/#/b"')],
  ])('with %s is named, and the former configuration stays in use', async (_, mqtt) => {
    await home.apply(configuration('villa', textOf({ mqtt }), { reloadStrategy: 'hot-reload' }));
    const ready = await verdictOf(home);
    expect(ready).toMatchObject({
      status: 'False',
      message: expect.stringMatching(/mqtt|line \d/) as string,
    });
    await until('what ran before runs', isThere);
  });
});

describe('a wrong file at the start of a hub', () => {
  let directory: string;
  const at = (name: string) => join(directory, name);

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'wrong-'));
    await mkdir(at('config'));
    await mkdir(at('secrets'));
    expect(await start({ name: 'none', sections: {} })).toMatchObject({ result: 'loaded', problems: [] });
  });
  afterAll(() => rm(directory, { recursive: true }));

  async function start({ sections, files = {} }: WrongFile) {
    await rm(at('configuration'), { recursive: true, force: true });
    await mkdir(at('configuration'));
    for (const [name, text] of Object.entries({ ...files, 'configuration.yaml': textOf(sections) }))
      await writeFile(join(at('configuration'), name), text);
    await runPython(
      PREPARE_CONFIG,
      ...['config', 'configuration', 'secrets', 'report', 'allow-downgrade'].map(at),
      '8123',
      at('delivery'),
      at('parts'),
    );
    return parsePrepareReport(await readFile(at('report'), 'utf8'));
  }

  afterEach(async () => {
    await start({ name: 'none', sections: {} });
  });

  const found = WRONG_FILES.filter(({ isFoundBySetUp }) => !isFoundBySetUp);
  test.each(found.map((file) => [file.name, file] as const))('%s', async (_, file) => {
    const report = await start(file);
    expect(report).toMatchObject({ result: 'replaced' });
    expect(report!.problems.map(({ text }) => text).join('\n')).toMatch(named(file));
    expect(await readFile(join(at('config'), 'configuration.yaml'), 'utf8')).toBe(textOf());
  });
});
