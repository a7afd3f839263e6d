import type { HubClient } from '../../../operator/client/hub-client';
import { stateOf } from '../../../operator/client/config-entities/states';
import { currentUser, listTokens } from '../../../operator/client/setup/tokens';
import { freshNamespace, until } from '../../cluster';
import { automation, configuration, Home, hub, secret } from '../../cluster/home';
import { oneOfThree } from '../../cluster/one-of-three';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

// The life of one hub: its dependencies, the effects of its configuration, and the replacement of its token.

const withSwitch = (name: string) => `input_boolean:\n  ${name}:\n`;

let home: Home;
let operator: TestOperator;
/** The switch in the configuration that was applied last. */
let last: string;

beforeAll(async () => {
  home = new Home(await freshNamespace('hub'));
  operator = await startTestOperator(home.namespace);
  await home.apply(
    hub('villa', { bootstrap: { credentials: { secretRef: { name: 'owner', passwordKey: 'pass' } } } }),
    configuration('villa', 'logger: !nonsense x\n'),
    automation('villa', 'lights'),
  );
});

const running = () => home.ready('hub', 'villa');
const podUid = async () => (await home.get('pod', 'villa-0')).metadata.uid;
const generated = async () =>
  (await home.get('configmap', 'villa-configuration')).data!['configuration.yaml'];
const ourTokens = async (client: HubClient) =>
  (await listTokens(client.connection)).filter(({ client_name }) => client_name?.startsWith('Hub Operator '));
/** The hub shows a switch that it has not loaded as unavailable, as long as its registry has it. */
const isLoaded = async (name: string) => {
  const { rest } = await home.client('villa');
  return ['on', 'off'].includes(String(await stateOf(rest, `input_boolean.${name}`)));
};
/** Waits until the hub has loaded `name` and not `other`. */
const loads = (name: string, other: string) =>
  until(`the hub has loaded ${name} and not ${other}`, async () => {
    expect([await isLoaded(name), await isLoaded(other)]).toEqual([true, false]);
    return true;
  });
/** Waits for a pod that replaces the current one. */
const replaced = async (change: () => Promise<unknown>) => {
  const before = await podUid();
  await change();
  await until('a new pod', async () => (await podUid()) !== before);
  await running();
};

describe('Hub', () => {
  test('a first configuration that the hub would not load is reported in the words of its check', async () => {
    const said = await until('the check has spoken', async () => {
      const condition = await home.ready('hub', 'villa', { status: 'False', reason: 'PodNotReady' });
      return condition.message.includes('!nonsense') && condition;
    });
    expect(said.message).toContain('prepare-config');
    await home.apply(configuration('villa', withSwitch('first')));
  });

  test('without the owner’s credentials the bootstrap waits, and continues when they exist', async () => {
    await until('it waits for credentials', async () => {
      const condition = await home.condition('hub', 'villa', 'BootstrapReady');
      return condition?.reason === 'MissingCredentials' && condition.message.includes('Secret owner');
    });
    await home.ready('hubautomation', 'lights', { status: 'False', reason: 'TokenNotAvailable' });
    const stringData = { username: 'Ada ', pass: 'correct horse' };
    await home.apply(secret('owner', stringData));
    await running();
    const client = await home.client('villa');
    expect(await currentUser(client.connection)).toMatchObject({ is_owner: true });
    await until('one token of ours is left', async () => (await ourTokens(client)).length === 1);
    expect(await home.exists('secret', 'villa-admin')).toBe(false);
    await home.ready('hubautomation', 'lights');
  });

  test('a configuration that is not valid YAML is not published', async () => {
    const before = await generated();
    const pod = await podUid();
    await home.apply(configuration('villa', 'logger: [\n'));
    const condition = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'InvalidConfiguration',
    });
    expect(condition.message).toContain('line 2');
    expect(await generated()).toBe(before);
    expect(await podUid()).toBe(pod);
    await running();
  });

  test('a burst of changes causes one rollout, and the hub runs the last of them', async () => {
    const rollouts = async () => (await home.get('statefulset', 'villa')).metadata.generation;
    // On a busy machine the two changes may be stored further apart than the debounce, which makes two
    // rollouts.
    await oneOfThree(
      async (attempt) => {
        const before = await rollouts();
        const names = [`second_${attempt}`, `third_${attempt}`];
        // Both are sent at the same time, so that no pause of this process comes between them.
        await replaced(() =>
          Promise.all(
            names.map((name) =>
              home.change('hubconfiguration', 'villa', {
                configuration: withSwitch(name),
                reloadStrategy: 'restart',
              }),
            ),
          ),
        );
        const { configuration: text } = (await home.get('hubconfiguration', 'villa')).spec;
        last = names.find((name) => text === withSwitch(name))!;
        await loads(last, 'first');
        await home.ready('hubconfiguration', 'villa');
        await home.ready('hubautomation', 'lights');
        await operator.calm();
        return (await rollouts()) - before;
      },
      (count) => count === 1,
    );
  });

  test('a configuration that the hub would not load leaves the last good one in use', async () => {
    const before = await podUid();
    await home.apply(configuration('villa', `${withSwitch('fourth')}logger: !nonsense x\n`));
    const { message } = await home.ready('hubconfiguration', 'villa', {
      status: 'False',
      reason: 'CheckFailed',
    });
    expect(message).toContain('!nonsense');
    await loads(last, 'fourth');
    await operator.calm();
    expect(await podUid()).toBe(before);
    expect(await generated()).toContain(last);
  });

  test('none of the earlier tests caused an error', async () => {
    expect(await operator.metric('controller_runtime_reconcile_total')).toBeGreaterThan(10);
    expect(await operator.failures()).toEqual([]);
  });
});
