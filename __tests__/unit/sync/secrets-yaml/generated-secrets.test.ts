import type { HubSecrets } from '../../../../operator/kinds';
import { configurationInUse } from '../../../../operator/sync/configuration/record/recorder-secret';
import { hubRedactor } from '../../../../operator/sync/hub-connection/hub-redactor';
import {
  readGeneratedSecrets,
  writeGeneratedSecrets,
} from '../../../../operator/sync/secrets-yaml/generated-secrets';
import type { Services } from '../../../../operator/sync/services';
import { aHub, services } from '../fixtures';

const owner = {
  apiVersion: 'hub-operator.dev/v1',
  kind: 'HubSecrets',
  metadata: { namespace: 'home', name: 'villa', uid: '1' },
  spec: {},
} as unknown as HubSecrets;

/** A cluster that outlives processes of the operator. */
class Cluster {
  private secret: ReadonlyMap<string, string> | undefined;
  private accepted: object | undefined;
  /** The HubSecrets; undefined when it is deleted. */
  present: HubSecrets | undefined = owner;

  /** Returns the services of a new process. */
  services(): Services {
    return services({
      cache: {
        get: (kind: string) => (kind === 'HubSecrets' ? this.present : undefined) as never,
        watches: () => true,
      },
      secrets: { get: () => Promise.resolve(this.secret) },
      applier: {
        find: (_type: unknown, _namespace: string, name: string) =>
          Promise.resolve((name === 'villa-configuration-accepted' ? this.accepted : undefined) as never),
        apply: (_type, manifest) => {
          const data = Object.entries(manifest['data'] as Record<string, string>);
          this.secret = new Map(data.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
          return Promise.resolve(undefined as never);
        },
      },
    });
  }

  async write(values: Readonly<Record<string, string>>): Promise<void> {
    const services = this.services();
    const inUse = configurationInUse(services);
    await writeGeneratedSecrets(services, inUse, { owner }, 'villa', new Map(Object.entries(values)));
  }

  /** Marks the current secrets as loaded by the hub, except in these sections. */
  async load(pending: readonly string[] = []): Promise<void> {
    const secrets = (await readGeneratedSecrets(this.services(), 'home', 'villa'))!.hash;
    const marker = { configuration: 'sha256:c', secrets };
    const loaded = JSON.stringify({ marker, sections: {}, pending, mustRestart: false });
    this.accepted = { metadata: {}, data: { '.loaded': loaded } };
  }

  async redact(text: string): Promise<string> {
    return (await hubRedactor(this.services(), aHub()))(text);
  }

  get size(): number {
    return [...this.secret!.values()].join('').length;
  }
}

async function rotated() {
  const cluster = new Cluster();
  await cluster.write({ password: 'hunter2', user: 'lovelace' });
  await cluster.load();
  await cluster.write({ password: 'correct-horse', user: 'lovelace' });
  return cluster;
}

describe('writeGeneratedSecrets', () => {
  test('a former value is masked in texts of the hub, also by the next process', async () => {
    const cluster = await rotated();
    expect(await cluster.redact('lovelace: hunter2, correct-horse')).toBe('***: ***, ***');
  });

  test.each<[string, readonly string[] | undefined]>([
    ['has not read the one of now', undefined],
    ['has a section that waits for a restart', ['counter']],
  ])('a former value is also masked while the hub %s', async (_, pending) => {
    const cluster = await rotated();
    if (pending) await cluster.load(pending);
    await cluster.write({ password: 'correct-horse', user: 'lovelace' });
    await cluster.write({ password: 'third-value', user: 'lovelace' });
    expect(await cluster.redact('hunter2, correct-horse')).toBe('***, ***');
  });

  test('a former value is dropped when the hub has loaded the current one', async () => {
    const cluster = await rotated();
    await cluster.load();
    await cluster.write({ password: 'correct-horse', user: 'lovelace' });
    expect(await cluster.redact('hunter2')).toBe('hunter2');
  });

  test('the value of a removed key stays masked, with all its lines', async () => {
    const cluster = new Cluster();
    await cluster.write({ certificate: 'first line\nsecond line\n', user: 'lovelace' });
    await cluster.write({ user: 'lovelace' });
    expect(await cluster.redact('got second line')).toBe('got ***');
  });

  test('a resource that was deleted in the meantime does not overwrite the one that has taken over', async () => {
    const cluster = new Cluster();
    await cluster.write({ key: 'of the successor' });
    cluster.present = undefined;
    await expect(cluster.write({ key: 'of the deleted one' })).rejects.toThrow('deleted or suspended');
    cluster.present = { ...owner, metadata: { ...owner.metadata, uid: '2' } };
    await expect(cluster.write({ key: 'of the deleted one' })).rejects.toThrow('deleted or suspended');
    expect((await readGeneratedSecrets(cluster.services(), 'home', 'villa'))?.values.get('key')).toBe(
      'of the successor',
    );
  });

  test('a former value that is too large to be kept leaves room for later ones', async () => {
    const cluster = new Cluster();
    await cluster.write({ certificate: 'x'.repeat(60_000), password: 'hunter2', user: 'lovelace' });
    await cluster.write({ user: 'lovelace' });
    expect(cluster.size).toBeLessThan(60_000);
    expect(await cluster.redact('hunter2')).toBe('***');
  });

  test('many former values leave room for the current ones: the latest are masked', async () => {
    const cluster = new Cluster();
    for (let count = 0; count < 40; count++) await cluster.write({ key: `${count}-${'x'.repeat(8_000)}` });
    expect(cluster.size).toBeLessThan(100_000);
    expect(await cluster.redact(`38-${'x'.repeat(8_000)}`)).toBe('***');
  });
});
