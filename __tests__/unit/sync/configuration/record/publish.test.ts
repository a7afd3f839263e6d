import { publishWithoutRestart } from '../../../../../operator/sync/configuration/record/publish';
import { services } from '../../fixtures';
import { RESTART_HASH, restartCache, villaConfiguration, workload } from '../restart-state';

const written = { files: { 'configuration.yaml': '' }, marker: { configuration: 'sha256:before' } };

/**
 * Returns the decisions that are written, in order.
 * @param decided the decision in the ConfigMap
 * @param templates the hash of the pod template in the cache, and at each read from the API server
 */
async function decisions(decided: string, [cached, ...read]: readonly [string, ...string[]]) {
  const seen: (string | undefined)[] = [];
  const given = services({
    cache: restartCache(decided, cached),
    applier: {
      find: () => Promise.resolve(workload(read.shift()!) as never),
      apply: (_type, { metadata }) => {
        seen.push(metadata.annotations?.[RESTART_HASH]);
        return Promise.resolve(undefined as never);
      },
    },
  });
  await publishWithoutRestart(given, villaConfiguration, written);
  expect(read).toEqual([]);
  return seen;
}

describe('publishWithoutRestart', () => {
  test('a restart that has not begun is withdrawn', async () => {
    expect(await decisions('sha256:after', ['sha256:before', 'sha256:before', 'sha256:before'])).toEqual([
      'sha256:before',
    ]);
  });

  test('a restart that the cache does not show yet continues', async () => {
    expect(await decisions('sha256:after', ['sha256:before', 'sha256:after'])).toEqual(['sha256:after']);
  });

  test('a restart that the Hub begins in the meantime continues, since its withdrawal would be another restart', async () => {
    expect(await decisions('sha256:after', ['sha256:before', 'sha256:before', 'sha256:after'])).toEqual([
      'sha256:before',
      'sha256:after',
    ]);
  });

  test('without a decision to withdraw, nothing is read', async () => {
    expect(await decisions('sha256:before', ['sha256:before'])).toEqual(['sha256:before']);
  });
});
