import type { HubConfiguration } from '../../../../../operator/kinds';
import { GeneratedConfigurationCache } from '../../../../../operator/sync/configuration/generate/generated-configuration-cache';
import { ManualClock } from '../../../manual-clock';

const resource = (uid: string) =>
  ({
    kind: 'HubConfiguration',
    metadata: { namespace: 'home', name: uid, uid },
    spec: { hubRef: { name: 'villa' } },
  }) as HubConfiguration;

describe('GeneratedConfigurationCache', () => {
  test('a text is dropped when its resource has another one or is deleted', async () => {
    const present = new Set(['a', 'b']);
    const signals: (AbortSignal | undefined)[] = [];
    const clock = new ManualClock();
    const cache = new GeneratedConfigurationCache({
      clock,
      requeue: () => undefined,
      cache: { get: (_: string, __: string, uid: string) => (present.has(uid) ? resource(uid) : undefined) },
      texts: {
        run: (_: unknown, __: unknown, ___: string, signal?: AbortSignal) => {
          signals.push(signal);
          return new Promise(() => undefined);
        },
      },
    } as never);
    const generate = async (uid: string, configuration: string) => {
      const generation = cache.generate(resource(uid), { configuration, hasSecrets: false });
      await clock.advance(5_000);
      return generation;
    };
    expect(await generate('a', 'first')).toMatchObject({ type: 'waiting' });
    expect(await generate('a', 'first')).toMatchObject({ type: 'waiting' });
    await generate('a', 'second');
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
    present.delete('a');
    await generate('b', 'first');
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, true, false]);
  });
});
