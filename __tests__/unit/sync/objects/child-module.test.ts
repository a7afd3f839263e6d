import { randomBytes } from 'node:crypto';
import { createLogger } from '../../../../operator/base/log';
import { type Outcome, ready } from '../../../../operator/runtime/outcome';
import type { ReconcileContext } from '../../../../operator/runtime/sync-module';
import { HubClients } from '../../../../operator/sync/hub-connection/hub-clients';
import type { Child, ChildModule } from '../../../../operator/sync/objects/child';
import { childModule } from '../../../../operator/sync/objects/child-module';
import { writeSecretsYaml } from '../../../../operator/sync/secrets-yaml/secrets-yaml';
import { ManualClock } from '../../manual-clock';
import { aHub, secretReader, services } from '../fixtures';

const body = randomBytes(36_000).toString('base64');
const bundle = `-----BEGIN CERTIFICATE-----\n${body.replace(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
const file = randomBytes(900 * 768).toString('base64');
const values = { ca: bundle, file, wifi: 'correct horse battery staple', token: 'the-token-of-the-owner' };
const shown = [...bundle.split('\n').filter((line) => line.length === 64), values.wifi, values.token];

/** Reconciles a child of a hub whose HubSecrets has a bundle of 700 lines and a value of 900 KB. */
async function sync(act: () => Promise<Outcome>): Promise<Outcome> {
  const { ca, wifi, token } = values;
  const { text } = writeSecretsYaml(new Map(Object.entries({ ca, file, wifi })), 'salt');
  const secrets = new Map([
    ['villa-api-token', new Map([['token', token]])],
    ['villa-secrets', new Map([['secrets.yaml', text]])],
  ]);
  const conditions = [{ type: 'Ready', status: 'True', reason: 'HubRunning', message: '' }];
  const hub = aHub({ status: { phase: 'Running', url: 'http://127.0.0.1:9', conditions } as never });
  const given = services({
    clock: new ManualClock(),
    secrets: secretReader((name) => secrets.get(name)),
    cache: {
      list: function* () {},
      get: ((kind: string, _: string, name: string) =>
        kind === 'Hub' ? hub : secrets.has(name) ? { metadata: { name } } : undefined) as never,
    },
  });
  const hubs = new HubClients(given);
  const reached = await hubs.reach('home', hub.metadata.name);
  if ('client' in reached) jest.spyOn(reached.client.presence, 'isRunning').mockResolvedValue(true);
  const child = {
    kind: 'HubFloor',
    metadata: { namespace: 'home', name: 'ground', uid: '2' },
    spec: { hubRef: { name: hub.metadata.name } },
  } as unknown as Child;
  try {
    const module = childModule(given, hubs, { sync: act } as unknown as ChildModule<Child>);
    return await module.sync(child, {} as ReconcileContext);
  } finally {
    hubs.close();
  }
}

describe('childModule', () => {
  test('the children of a hub with long secrets are reconciled, and no secret is in their status', async () => {
    const quoted = `the hub says: ${shown.join(', ')}, ${encodeURIComponent(bundle)}, ${file.slice(0, 500)}…`;
    const outcome = await sync(() => Promise.resolve(ready('LabelRegistered', quoted)));
    expect(outcome).toMatchObject({ type: 'Ready' });
    expect(outcome.message).toMatch(/^the hub says: \*\*\*, /);
    expect(outcome.message).not.toContain(file.slice(0, 8));
    for (const secret of shown) expect(outcome.message).not.toContain(secret);
  });

  test('a bug that quotes the secrets is logged without them', async () => {
    const cause = new Error(`cannot use ${values.token}`);
    const bug = new SyntaxError(`invalid pattern: ${shown.join('|')}`, { cause });
    const thrown = await sync(() => Promise.reject(bug)).catch((error: unknown) => error);
    const lines: string[] = [];
    createLogger('debug', { write: (line) => void lines.push(line) }).error({ error: thrown }, 'failed');
    expect(lines[0]!.length).toBeLessThan(3_000);
    expect(lines[0]).toContain('"name":"SyntaxError"');
    expect(lines[0]).toContain('child-module.test.ts');
    expect(lines[0]).toContain('cannot use ***');
    for (const secret of shown) expect(lines[0]).not.toContain(secret.slice(0, 20));
  });
});
