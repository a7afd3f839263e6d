import { ConfigEntryRegistry } from '../../../../operator/client/entries/config-entry-registry';
import { listsOf } from '../kept';
import type { HubConnection } from '../../../../operator/client/connection/connection';
import type { CallOptions, RestClient } from '../../../../operator/client/connection/rest';

describe('ConfigEntryRegistry', () => {
  test('a reload waits for a set-up that takes minutes, which the hub would cancel if the connection ended', async () => {
    const timeouts: unknown[] = [];
    const rest = {
      writeTimeout: 30_000,
      post: async (_: string, __: unknown, { timeout }: CallOptions) => void timeouts.push(timeout),
    } as unknown as RestClient;
    const listen = () => () => undefined;
    const connection = { lists: listsOf(), onLost: listen, onReconnect: listen } as unknown as HubConnection;
    await new ConfigEntryRegistry(rest, connection).reload('e1');
    expect(timeouts).toEqual([600_000]);
  });
});
