import type { HubConfiguration } from '../../../../operator/kinds';
import { publishWithoutRestart } from '../../../../operator/sync/configuration/publish';
import { services } from '../fixtures';

const GROUP = 'hub-operator.dev';

const resource = {
  kind: 'HubConfiguration',
  metadata: { namespace: 'home', name: 'villa' },
  spec: { hubRef: { name: 'villa' } },
} as unknown as HubConfiguration;

const written = { files: { 'configuration.yaml': '' }, hash: 'sha256:before' };

const workload = (hash: string) => ({
  spec: { template: { metadata: { annotations: { [`${GROUP}/config-hash`]: hash } } } },
});

/**
 * The decisions that are written, in order.
 *
 * @param decided the one in the ConfigMap
 * @param templates the hash of the pod template in the cache, and at each read from the API server
 */
async function decisions(decided: string, [cached, ...read]: readonly [string, ...string[]]) {
  const annotations: Record<string, string> = { [`${GROUP}/restart-hash`]: decided };
  const seen: (string | undefined)[] = [];
  const given = services({
    cache: {
      get: (kind: string) =>
        (kind === 'ConfigMap' ? { metadata: { annotations } } : workload(cached)) as never,
    },
    applier: {
      find: () => Promise.resolve(workload(read.shift()!) as never),
      apply: (_type, { metadata }) => {
        seen.push(metadata.annotations?.[`${GROUP}/restart-hash`]);
        return Promise.resolve(undefined as never);
      },
    },
  });
  await publishWithoutRestart(given, resource, written);
  expect(read).toEqual([]);
  return seen;
}

describe('publishWithoutRestart', () => {
  test('a restart that has not begun is withdrawn', async () => {
    expect(await decisions('sha256:after', ['sha256:before', 'sha256:before', 'sha256:before'])).toEqual([
      'sha256:before',
    ]);
  });

  test('one that the cache does not show yet goes on', async () => {
    expect(await decisions('sha256:after', ['sha256:before', 'sha256:after'])).toEqual(['sha256:after']);
  });

  test('one that the Hub begins meanwhile goes on, since its end would be another restart', async () => {
    expect(await decisions('sha256:after', ['sha256:before', 'sha256:before', 'sha256:after'])).toEqual([
      'sha256:before',
      'sha256:after',
    ]);
  });

  test('without a decision to withdraw, nothing is asked', async () => {
    expect(await decisions('sha256:before', ['sha256:before'])).toEqual(['sha256:before']);
  });
});
