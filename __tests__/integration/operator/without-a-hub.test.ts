import { RESYNC } from '../../../operator/base/limits';
import { freshNamespace, mustKubectl, until } from '../../cluster';
import { getObject } from '../../cluster/api';
import { outliveCreation } from '../../cluster/creation-time';
import { automation, configuration, Home, type Manifest } from '../../cluster/home';
import { startTestOperator, type TestOperator } from '../../cluster/operator';

interface LeaseObject {
  readonly spec: { readonly holderIdentity: string; readonly leaseTransitions?: number };
}

// Behaviour without a hub: the owners of objects, and refusals before any hub is asked.

let home: Home;
let operator: TestOperator;

beforeAll(async () => {
  home = new Home(await freshNamespace('without-a-hub'));
  operator = await startTestOperator(home.namespace, { settings: { LEADER_ELECTION: 'true' } });
});

/** Makes a HubConfiguration of the Hub `hubName` with another name. */
const named = (name: string, hubName: string): Manifest => ({
  ...configuration(hubName),
  metadata: { name },
});
/** Applies JSON as text, with numbers that JavaScript does not have. */
const applyText = (input: string) =>
  mustKubectl(['apply', '--filename=-'], { namespace: home.namespace, input });
const ownerOf = async (hubName: string) =>
  (await home.get('configmap', `${hubName}-configuration`)).metadata.ownerReferences?.[0]?.name;
/** Half the time to the next resync, in milliseconds: anything earlier was caused by the deletion. */
const BEFORE_RESYNC = RESYNC / 2;

describe('a HubConfiguration', () => {
  test('takes over from one that is deleted, immediately', async () => {
    await home.apply(named('first', 'villa'));
    await home.ready('hubconfiguration', 'first', { status: 'False', reason: 'HubNotFound' });
    await outliveCreation(home, 'hubconfiguration', 'first');
    await home.apply(named('second', 'villa'));
    await home.ready('hubconfiguration', 'second', { status: 'False', reason: 'DuplicateId' });
    expect(await ownerOf('villa')).toBe('first');
    await home.delete('hubconfiguration', 'first', { wait: false });
    await until('the second one has it', async () => (await ownerOf('villa')) === 'second', BEFORE_RESYNC);
    await home.ready('hubconfiguration', 'second', { status: 'False', reason: 'HubNotFound' });
  });

  test('takes over the name of an object that is not the operator’s and is deleted', async () => {
    await home.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'cabin-configuration' },
      data: { theirs: 'yes' },
    });
    await home.apply(named('cabin', 'cabin'));
    const { message } = await home.ready('hubconfiguration', 'cabin', {
      status: 'False',
      reason: 'NameConflict',
    });
    expect(message).toContain('cabin-configuration exists and does not belong to HubConfiguration cabin');
    await home.delete('configmap', 'cabin-configuration');
    await until('it has the name', async () => (await ownerOf('cabin')) === 'cabin', BEFORE_RESYNC);
  });

  test('may have the longest possible name', async () => {
    const name = 'n'.repeat(253);
    await home.apply(named(name, 'barn'));
    await home.ready('hubconfiguration', name, { status: 'False', reason: 'HubNotFound' });
    expect(await ownerOf('barn')).toBe(name);
    // The generated object is restored, although its name is too long for the label by which the operator
    // finds the owner.
    const { uid } = (await home.get('configmap', 'barn-configuration')).metadata;
    await home.delete('configmap', 'barn-configuration');
    await until('the object is there again', async () => {
      const present = await home.get('configmap', 'barn-configuration');
      return present.metadata.uid !== uid;
    });
  });
});

describe('a text that refers to its own parts', () => {
  const list = (count: number, item: (index: number) => string) =>
    Array.from({ length: count }, (_, index) => item(index)).join('');
  /** Each package has all sections, 400 million in all. */
  const packages = `p: &p {${list(20_000, (index) => `a${index}: ,`)}}\nhomeassistant:\n packages:\n${list(20_000, (index) => `  p${index}: *p\n`)}`;
  const merges = `x0: &x0 {k: 1}\n${list(13, (level) => `x${level + 1}: &x${level + 1} {<<: [${Array(4).fill(`*x${level}`).join()}]}\n`)}<<: *x13\n`;
  const lease = async () => (await getObject('lease', 'hub-operator', home.namespace)) as LeaseObject;

  test('affects only its own resource: the process, its lease and other configurations continue', async () => {
    const { pid } = operator;
    const { holderIdentity, leaseTransitions } = (await lease()).spec;
    const before = [pid, holderIdentity, leaseTransitions];
    await home.apply(configuration('hostile', packages), configuration('merging', merges));
    let isRefused = false;
    const refused = home
      .ready('hubconfiguration', 'hostile', { status: 'False', reason: 'InvalidConfiguration' })
      .finally(() => (isRefused = true));
    for (let round = 0; !isRefused; round++) {
      const name = `other-${round}`;
      await home.apply(configuration(name, `logger: &${name} {}\nx: *${name}\n`));
      await home.ready('hubconfiguration', name, { status: 'False', reason: 'HubNotFound' });
      expect(await ownerOf(name)).toBe(name);
    }
    expect((await refused).message).toMatch(
      /^spec\.configuration takes more (time|memory) to read than its length allows\. Write its anchors .* The last good configuration stays\.$/,
    );
    await home.ready('hubconfiguration', 'merging', { status: 'False', reason: 'HubNotFound' });
    const { spec } = await lease();
    expect([operator.pid, spec.holderIdentity, spec.leaseTransitions]).toEqual(before);
    expect(await operator.failures()).toEqual([]);
  });
});

describe('an integer beyond 2^53', () => {
  test('is refused with its path and its digits, and accepted in quotes', async () => {
    const json = JSON.stringify(automation('villa', 'telegram', { variables: { chat_id: 'CHAT' } }));
    await applyText(json.replace('"CHAT"', '-1001234567890123456'));
    const { message } = await home.ready('hubautomation', 'telegram', {
      status: 'False',
      reason: 'InvalidSpec',
    });
    expect(message).toBe(
      'spec.variables.chat_id is the integer -1001234567890123456, which is beyond 2^53 and would lose digits. Quote it: "-1001234567890123456".',
    );
    expect((await home.get('hubautomation', 'telegram')).metadata.finalizers).toBeUndefined();
    await applyText(json.replace('"CHAT"', '"-1001234567890123456"'));
    await home.ready('hubautomation', 'telegram', { status: 'False', reason: 'HubNotFound' });
  });
});
