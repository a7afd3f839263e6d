import { SecretRefused, readNamedSecret } from '../../../operator/runtime/named-secret';
import { errorOutcome } from '../../../operator/runtime/error-outcome';
import { secretReader } from '../sync/fixtures';

interface Given {
  readonly type?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly requireSecretLabel?: boolean;
}

const read = ({ requireSecretLabel = false, ...marks }: Given = {}) =>
  readNamedSecret(
    {
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
  ])('gives a Secret %s', async (_, given) => {
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
  ])('refuses %j and says in which field', async (given, words) => {
    const error: unknown = await read(given).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(SecretRefused);
    expect(errorOutcome(error)).toMatchObject({
      type: 'Stalled',
      reason: 'SecretRefused',
      message: expect.stringContaining(`The Secret mqtt in configuration.password ${words}`) as string,
    });
    expect((error as Error).message).not.toContain('tulip');
  });

  test.each(['villa-admin', 'villa-api-token', 'villa-operator', 'villa-secrets'])(
    'refuses %s also where a person has made it',
    async (name) => {
      const services = {
        secrets: secretReader(() => new Map([['password', 'tulip']])),
        settings: { requireSecretLabel: false },
      };
      const reference = { namespace: 'home', hub: 'villa', name, field: 'configuration.password' };
      await expect(readNamedSecret(services, reference)).rejects.toThrow(
        `The Secret ${name} in configuration.password is the operator’s own`,
      );
      await expect(readNamedSecret(services, { ...reference, hub: 'cabin' })).resolves.toBeDefined();
    },
  );

  test('refuses none that does not exist', async () => {
    const nothing = { secrets: secretReader(() => undefined), settings: { requireSecretLabel: true } };
    const reference = { namespace: 'home', hub: 'villa', name: 'mqtt', field: 'x' };
    expect(await readNamedSecret(nothing, reference)).toBeUndefined();
  });
});
