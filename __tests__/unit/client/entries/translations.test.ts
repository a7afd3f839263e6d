import type { HubConnection } from '../../../../operator/client/connection/connection';
import { HubFailed, HubRejected, HubUnreachable } from '../../../../operator/client/connection/errors';
import { Translations } from '../../../../operator/client/entries/translations';

const TEXT = { kind: 'error', key: 'invalid_auth' } as const;
const textOf = (command: () => Promise<object>) =>
  new Translations({ command } as unknown as HubConnection).ofFlow('demo', { kind: 'config' }, TEXT, {
    a: 1,
  });

describe('Translations', () => {
  test('fill in the placeholders of a text', async () => {
    const resources = { 'component.demo.config.error.invalid_auth': 'no {a} {b}' };
    expect(await textOf(async () => ({ resources }))).toBe('no 1 {b}');
  });

  test.each([new HubRejected('unknown_command', 'no'), new HubFailed('unknown_error')])(
    'have no text if the hub cannot show it (%p): the result of a flow is recorded without it',
    async (error) => {
      expect(await textOf(() => Promise.reject(error))).toBeUndefined();
    },
  );

  test('are asked for again when the hub did not respond', async () => {
    await expect(textOf(() => Promise.reject(new HubUnreachable('silent')))).rejects.toThrow('silent');
  });
});
