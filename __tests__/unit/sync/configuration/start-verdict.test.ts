import { startVerdict } from '../../../../operator/sync/configuration/start-verdict';
import { services } from '../fixtures';

/** The verdict of a start of which `prepare-config` said this. */
function verdict(message: string) {
  const pod = {
    metadata: { name: 'villa-0' },
    status: { initContainerStatuses: [{ name: 'prepare-config', state: { terminated: { message } } }] },
  };
  const content = new Map([['secrets.yaml', 'broker: tulip-bulb\n']]);
  const given = services({
    cache: { get: () => pod as never },
    secrets: { get: () => Promise.resolve(content) },
  });
  return startVerdict(given, 'home', 'villa');
}

describe('startVerdict', () => {
  test('has the words of the check without the secrets that it quotes, and the content that they are about', async () => {
    const said =
      "The hub would not load this configuration:\nInvalid config: got 'tulip-bulb'\ncontent sha256:1 abc";
    expect(await verdict(said)).toEqual({
      marker: { configuration: 'sha256:1', secrets: 'abc' },
      message: "The hub would not load this configuration:\nInvalid config: got '***'",
    });
  });

  test('is undefined for a pod that started with what it mounts', async () => {
    expect(await verdict('The configuration was checked.\ncontent sha256:1')).toBeUndefined();
  });
});
