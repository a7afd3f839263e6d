import { forceReconcile } from '../../../cluster/forced-reconcile';
import { freshNamespace, mustKubectl, until } from '../../../cluster';
import { Home, hub, HUB_VERSION } from '../../../cluster/home';
import { changeHttpSettings } from '../../../cluster/http-settings';
import { startTestOperator } from '../../../cluster/operator';
import { startHub } from '../../../cluster/onboarded-volume';

// Facts that a real hub reports: its version, and its trusted proxies.

let home: Home;

beforeAll(async () => {
  home = new Home(await freshNamespace('real'));
  await startTestOperator(home.namespace);
  await startHub(home, 'villa', { version: 'stable', storage: { retain: true } });
});

const imageOf = async () => {
  const { spec } = await home.get('statefulset', 'villa');
  return (spec['template'] as { spec: { containers: { image: string }[] } }).spec.containers[0]!.image;
};
const runs = (version: string) =>
  until(`the image is ${version}`, async () => (await imageOf()).endsWith(`:${version}`));
const mark = async () =>
  (await home.get('pvc', 'villa-config')).metadata.annotations?.['hub-operator.dev/ran-version'];
const ready = () => home.ready('hub', 'villa');
const statusBecomes = (fields: object) =>
  until(`the status is ${JSON.stringify(fields)}`, async () => {
    expect((await home.get('hub', 'villa')).status).toMatchObject(fields);
    return true;
  });

test('the version in the status is the one that the hub reports, for any image tag', async () => {
  await statusBecomes({ version: HUB_VERSION, phase: 'Running' });
  expect(await mark()).toBe(HUB_VERSION);
});

describe('a lower version than ran on the volume', () => {
  test('is refused, and the hub keeps running', async () => {
    const { uid } = (await home.get('pod', 'villa-0')).metadata;
    await home.change('hub', 'villa', { version: '2026.10.3' });
    const { message } = await home.ready('hub', 'villa', { status: 'False', reason: 'DowngradeRefused' });
    expect(message).toMatch(
      /^2026.11.0 has run on the volume villa-config, and 2026.10.3 is older.*allow-downgrade=2026.10.3\.$/,
    );
    await until('it is stalled', async () => {
      const stalled = await home.condition('hub', 'villa', 'Stalled');
      return stalled?.status === 'True' && stalled.reason === 'DowngradeRefused';
    });
    expect(await imageOf()).toMatch(/:stable$/);
    expect((await home.get('pod', 'villa-0')).metadata.uid).toBe(uid);
  });

  test('does not prevent other work on the hub', async () => {
    await statusBecomes({ phase: 'Running', version: HUB_VERSION });
    const before = await home.secret('villa-api-token', 'token');
    await home.delete('secret', 'villa-api-token');
    await until(
      'another token is stored',
      async () => (await home.secret('villa-api-token', 'token')) !== before,
    );
    await home.ready('hub', 'villa', { status: 'False', reason: 'DowngradeRefused' });
  });

  test('names and digests cannot be compared, later versions are not lower', async () => {
    for (const version of [`${HUB_VERSION}`, '2026.11', '2027.1.0b2', 'beta']) {
      await home.change('hub', 'villa', { version });
      await runs(version);
    }
    await ready();
  });

  test('is refused of a new Hub on the same volume', async () => {
    await home.delete('hub', 'villa');
    // The StatefulSet is deleted first: if it still exists, it makes another pod in place of one that it has
    // just replaced.
    for (const [kind, name] of [
      ['statefulset', 'villa'],
      ['pod', 'villa-0'],
    ] as const)
      await until(`the ${kind} is gone`, async () => !(await home.exists(kind, name)));
    await home.apply(hub('villa', { version: '2026.9.1', storage: { retain: true } }));
    await home.ready('hub', 'villa', { status: 'False', reason: 'DowngradeRefused' });
    expect(await home.exists('statefulset', 'villa')).toBe(false);
    await statusBecomes({ phase: 'Failed' });
  });

  test('is started when the annotation allows it', async () => {
    await home.annotate('hub', 'villa', 'hub-operator.dev/allow-downgrade=2026.9.1');
    await runs('2026.9.1');
    await ready();
    // The sandbox has one version of the hub, which reports itself for any spec.version.
    expect(await mark()).toBe(HUB_VERSION);
    await until('the Hub says which version runs', async () =>
      (await ready()).message.includes(
        `The hub is Home Assistant ${HUB_VERSION}, and spec.version is 2026.9.1: the image `,
      ),
    );
  });
});

test('a hub that refuses its proxies is reported until it trusts them', async () => {
  await home.change('hub', 'villa', { ingress: { host: 'home.example.org' } });
  const missing = await exposed('TrustedProxiesMissing');
  expect(missing).toMatchObject({ status: 'False' });
  expect(missing.message).toMatch(/use_x_forwarded_for and trusted_proxies/);
  await ready();

  // Forwards a request like an ingress controller. The hub logs the address of the proxy.
  const url = String((await home.get('hub', 'villa')).status!['url']);
  const { status } = await fetch(url, { headers: { 'X-Forwarded-For': '192.0.2.7' } });
  expect(status).toBe(400);
  const client = await home.client('villa');
  await forceReconcile(home, 'hub', 'villa');
  await until('the value to write is shown', async () =>
    /trusted_proxies: \[127\.\d+\.\d+\.\d+\] \}$/.test((await exposed('TrustedProxiesMissing')).message),
  );
  await changeHttpSettings(client, { use_x_forwarded_for: true, trusted_proxies: ['10.0.0.0/8'] });
  expect(await exposed('Exposed')).toMatchObject({
    status: 'True',
    message:
      'The Ingress villa for home.example.org is written; no ingress controller has reported an address of it, as some never do. ' +
      'The hub trusts its proxies.',
  });
  const loadBalancer = { ingress: [{ ip: '192.0.2.9' }] };
  await mustKubectl([
    ...['-n', home.namespace, 'patch', 'ingress', 'villa', '--subresource=status', '--type=merge'],
    `--patch=${JSON.stringify({ status: { loadBalancer } })}`,
  ]);
  await until('the address that a controller reports is shown', async () =>
    (await exposed('Exposed')).message.includes('is written, at 192.0.2.9.'),
  );
});

const exposed = (reason: string) =>
  until(`Exposed is ${reason}`, async () => {
    const condition = await home.condition('hub', 'villa', 'Exposed');
    if (condition?.reason === reason && condition.status !== 'Unknown') return condition;
    throw new Error(JSON.stringify(condition));
  });
