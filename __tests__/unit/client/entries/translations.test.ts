import type { HubConnection } from '../../../../operator/client/connection/connection';
import { HubFailed, HubRejected, HubUnreachable } from '../../../../operator/client/connection/errors';
import { Translations } from '../../../../operator/client/entries/translations';
import { KeptLists } from '../../../../operator/client/connection/kept-lists';
import { listsOf } from '../kept';

const TEXT = { kind: 'error', key: 'invalid_auth' } as const;
const textOf = (command: () => Promise<object>) =>
  new Translations({ command, lists: listsOf() } as unknown as HubConnection).ofFlow(
    'demo',
    { kind: 'config' },
    TEXT,
    {
      a: 1,
    },
  );

describe('Translations', () => {
  test('fill in the placeholders of a text', async () => {
    const resources = { 'component.demo.config.error.invalid_auth': 'no {a} {b}' };
    expect(await textOf(async () => ({ resources }))).toBe('no 1 {b}');
  });

  test.each([new HubRejected('unknown_command', 'no'), new HubFailed('unknown_error')])(
    'have no text if the hub has none (%p): the result of a flow is recorded without it',
    async (error) => {
      expect(await textOf(() => Promise.reject(error))).toBeUndefined();
    },
  );

  test('count among the lists that are kept: a hub that uses too much memory has no texts, and they are not read again immediately', async () => {
    const kept = new KeptLists(10_000);
    const command = jest.fn(async () => ({
      resources: { 'component.demo.config.error.invalid_auth': 'x'.repeat(10_000) },
    }));
    const lists = listsOf(kept);
    const translations = new Translations({ command, lists } as unknown as HubConnection);
    for (let round = 0; round < 2; round++)
      expect(await translations.ofFlow('demo', { kind: 'config' }, TEXT)).toBeUndefined();
    expect([command.mock.calls.length, kept.weight]).toEqual([1, 0]);
  });

  test('are requested again when the hub did not respond', async () => {
    await expect(textOf(() => Promise.reject(new HubUnreachable('silent')))).rejects.toThrow('silent');
  });
});
