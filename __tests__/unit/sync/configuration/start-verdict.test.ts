import { startVerdict } from '../../../../operator/sync/configuration/start-verdict';
import { services } from '../fixtures';
import { prepareMessage } from './fake-hub';

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
    const content = { configuration: 'sha256:1', secrets: 'abc' };
    expect(await verdict(prepareMessage('replaced', content, "Invalid config: got 'tulip-bulb'"))).toEqual({
      marker: content,
      message: "Invalid config: got '***'",
    });
  });

  test('is undefined for a message of an earlier version, which was a sentence', async () => {
    expect(await verdict('The hub would not load this configuration:\nno\ncontent sha256:1')).toBeUndefined();
  });

  test('is undefined for a pod that started with what it mounts', async () => {
    expect(await verdict(prepareMessage('loaded', { configuration: 'sha256:1' }))).toBeUndefined();
  });
});
