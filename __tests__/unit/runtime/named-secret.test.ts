import type { Hub } from '../../../operator/kinds';
import { type HubUse, SecretRefused, readNamedSecret } from '../../../operator/runtime/named-secret';
import { errorOutcome } from '../../../operator/runtime/error-outcome';
import { aHub, secretReader } from '../sync/fixtures';

interface Given {
  readonly type?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requireSecretLabel?: boolean;
}

/** Makes a cache that has these Hubs in each namespace. */
const cacheOf = (...hubs: readonly object[]) => ({ list: <T>() => hubs as Iterable<T> });

const read = ({ requireSecretLabel = false, ...marks }: Given = {}) =>
  readNamedSecret(
    {
      cache: cacheOf(),
      secrets: secretReader(
        (name) => (name === 'mqtt' ? new Map([['password', 'tulip']]) : undefined),
        marks,
      ),
      settings: { requireSecretLabel },
    },
    { namespace: 'home', hub: 'villa', name: 'mqtt', field: 'configuration.password' },
  );

describe('readNamedSecret', () => {
  test.each<[string, Given]>([
    ['of a person', {}],
    ['with a login', { type: 'kubernetes.io/basic-auth' }],
    ['with a certificate', { type: 'kubernetes.io/tls' }],
    ['of another program', { labels: { 'app.kubernetes.io/managed-by': 'external-secrets' } }],
    ['with the label of the Hub', { requireSecretLabel: true, labels: { 'hub-operator.dev/hub': 'villa' } }],
    ['for all Hubs of the namespace', { requireSecretLabel: true, labels: { 'hub-operator.dev/hub': '' } }],
  ])('returns a Secret %s', async (_, given) => {
    expect((await read(given))?.values.get('password')).toBe('tulip');
  });

  test.each<[Given, string]>([
    [
      { type: 'kubernetes.io/service-account-token' },
      'has the type kubernetes.io/service-account-token, whose values are for the cluster and not for a hub: store the value that the hub needs in another Secret.',
    ],
    [{ type: 'helm.sh/release.v1' }, 'has the type helm.sh/release.v1'],
    [{ type: 'bootstrap.kubernetes.io/token' }, 'has the type bootstrap.kubernetes.io/token'],
    [
      { labels: { 'app.kubernetes.io/managed-by': 'hub-operator' } },
      'is the operator’s own: store the value that the hub needs in another Secret.',
    ],
    [{ labels: { 'app.kubernetes.io/name': 'hub-operator' } }, 'is the operator’s own'],
    [
      { labels: { 'app.kubernetes.io/managed-by': 'hub-operator', 'hub-operator.dev/hub': 'villa' } },
      'is the operator’s own',
    ],
    [{ requireSecretLabel: true }, 'lacks the label hub-operator.dev/hub: villa'],
    [
      { requireSecretLabel: true, labels: { 'hub-operator.dev/hub': 'cabin' } },
      'lacks the label hub-operator.dev/hub: villa',
    ],
  ])('refuses %j and names the field', async (given, words) => {
    const error: unknown = await read(given).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SecretRefused);
    expect(errorOutcome(error)).toMatchObject({
      type: 'Stalled',
      reason: 'SecretRefused',
      message: expect.stringContaining(`The Secret mqtt in configuration.password ${words}`) as string,
    });
    expect((error as Error).message).not.toContain('tulip');
  });

  /** Reads a Secret that a user has made. */
  const readOwn = (name: string, hubs: readonly Hub[], use?: HubUse) =>
    readNamedSecret(
      {
        cache: cacheOf(...hubs),
        secrets: secretReader(() => new Map([['password', 'tulip']])),
        settings: { requireSecretLabel: false },
      },
      { namespace: 'home', hub: 'villa', name, field: 'configuration.password', use },
    );
  const wayOut = 'store the value that the hub needs in another Secret.';
  const hubOf = (name: string, spec: Hub['spec']) => aHub({ metadata: { name }, spec });
  const cabin = (spec: Hub['spec'] = {}) => hubOf('cabin', spec);
  const elsewhere = { url: 'http://192.0.2.1', tokenSecretRef: { name: 'tokens' } };

  test.each(['villa-admin', 'villa-api-token', 'villa-operator', 'villa-secrets'])(
    'refuses %s even if a user has made it and its Hub does not exist yet',
    async (name) => {
      await expect(readOwn(name, [])).rejects.toThrow(
        `The Secret ${name} in configuration.password is the operator’s own: ${wayOut}`,
      );
    },
  );

  test.each(['cabin-admin', 'cabin-api-token', 'cabin-operator', 'cabin-secrets'])(
    'refuses %s while the namespace has a Hub cabin',
    async (name) => {
      await expect(readOwn(name, [aHub(), cabin()])).rejects.toThrow(
        `The Secret ${name} in configuration.password is that of the Hub cabin: ${wayOut}`,
      );
      await expect(readOwn(name, [aHub(), hubOf('cab', {})])).resolves.toBeDefined();
      await expect(readOwn(name, [aHub(), cabin()], 'Other')).rejects.toThrow(SecretRefused);
    },
  );

  test.each<[string, Hub['spec']]>([
    ['bootstrap.credentials.secretRef', { bootstrap: { credentials: { secretRef: { name: 'vault' } } } }],
    ['bootstrap.apiTokenSecretName', { bootstrap: { apiTokenSecretName: 'vault' } }],
    ['external.tokenSecretRef', { external: { ...elsewhere, tokenSecretRef: { name: 'vault' } } }],
    ['backup.passwordSecretRef', { backup: { passwordSecretRef: { name: 'vault' } } }],
    ['ingress.tls', { ingress: { tls: { secretName: 'vault' } } }],
    ['imagePullSecrets[1]', { imagePullSecrets: [{ name: 'other' }, { name: 'vault' }] }],
  ])('refuses to all except Hubs a Secret to which a Hub refers in %s', async (field, spec) => {
    for (const name of ['cabin', 'villa']) {
      const hubs = [hubOf(name, spec)];
      await expect(readOwn('vault', hubs)).rejects.toThrow(
        `The Secret vault in configuration.password is that of the Hub ${name}, which names it in spec.${field}: ${wayOut}`,
      );
      await expect(readOwn('vault', hubs, 'Other')).resolves.toBeDefined();
      await expect(readOwn('vault', hubs, 'OwnerLogin')).resolves.toBeDefined();
    }
  });

  test('names the first of several fields in which a Hub refers to a Secret', async () => {
    const secretRef = { name: 'vault' };
    const hub = cabin({
      bootstrap: { credentials: { secretRef } },
      backup: { passwordSecretRef: secretRef },
    });
    await expect(readOwn('vault', [hub])).rejects.toThrow('names it in spec.bootstrap.credentials.secretRef');
  });

  test('refuses the certificate that a Hub has from an issuer', async () => {
    const issued = cabin({ ingress: { host: 'a.example', tls: { issuerRef: { name: 'a' } } } });
    await expect(readOwn('cabin-tls', [issued])).rejects.toThrow('names it in spec.ingress.tls');
    await expect(readOwn('cabin-tls', [cabin()])).resolves.toBeDefined();
  });

  test('returns the certificate authority to which a Hub refers, since it is public', async () => {
    const hub = cabin({ external: { ...elsewhere, caSecretRef: { name: 'ca' } } });
    await expect(readOwn('ca', [hub])).resolves.toBeDefined();
  });

  test('returns the login of another Hub to a Hub only for its owner, since it may take over the volume', async () => {
    await expect(readOwn('cabin-admin', [cabin()], 'OwnerLogin')).resolves.toBeDefined();
    await expect(readOwn('cabin-api-token', [cabin()], 'OwnerLogin')).rejects.toThrow(SecretRefused);
    await expect(readOwn('cabin-admin', [cabin()], 'ExternalToken')).rejects.toThrow(SecretRefused);
  });

  test('the operator makes no token and no login for an external hub: a user may have stored them under such names', async () => {
    await expect(readOwn('villa-api-token', [], 'ExternalToken')).resolves.toBeDefined();
    const hub = cabin({ external: elsewhere });
    await expect(readOwn('cabin-api-token', [hub])).resolves.toBeDefined();
    await expect(readOwn('cabin-operator', [hub])).rejects.toThrow(SecretRefused);
  });

  test('refuses no Secret that does not exist', async () => {
    const nothing = {
      cache: cacheOf(),
      secrets: secretReader(() => undefined),
      settings: { requireSecretLabel: true },
    };
    const reference = { namespace: 'home', hub: 'villa', name: 'mqtt', field: 'x' };
    expect(await readNamedSecret(nothing, reference)).toBeUndefined();
  });
});
