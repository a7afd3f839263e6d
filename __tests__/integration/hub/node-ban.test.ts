import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freshNamespace, until } from '../../cluster';
import { Home } from '../../cluster/home';
import { startTestOperator } from '../../cluster/operator';
import { startHub } from '../../cluster/onboarded-volume';

/**
 * The address from which the node sends its probes, which here differs from the address of the Node object.
 */
const LOCAL = '127.0.0.1';

let home: Home;

beforeAll(async () => {
  home = new Home(await freshNamespace('node-ban'));
  await startTestOperator(home.namespace);
  await startHub(home, 'h');
});

describe('a hub that has banned the address of its node', () => {
  test('stays ready, and Ready names the address and the remedy', async () => {
    const { hostIP } = (await home.get('pod', 'h-0')).status as { hostIP: string };
    for (const address of [LOCAL, hostIP])
      await appendFile(
        join(await home.volumeOf('h'), 'ip_bans.yaml'),
        `\n${address}:\n  banned_at: '2026-11-20T22:14:37+00:00'\n`,
      );
    await home.delete('pod', 'h-0');
    const message = await until('Ready says it', async () => {
      const ready = await home.condition('hub', 'h');
      if (ready?.status === 'True' && ready.message.includes('has banned')) return ready.message;
      throw new Error(`${ready?.reason}: ${ready?.message}`);
    });
    expect(message).toContain(`The hub has banned ${hostIP} of the cluster`);
    expect(message).toContain('Remove it from ip_bans.yaml');
    const url = (await home.get('hub', 'h')).status?.['url'] as string;
    // The hub refuses the visitor at that address, but the pod is ready nevertheless.
    expect((await fetch(`${url}/manifest.json`)).status).toBe(403);
    await until('the pod is ready', async () => {
      expect((await home.get('pod', 'h-0')).status).toMatchObject({
        containerStatuses: [expect.objectContaining({ ready: true, restartCount: 0 })],
      });
      return true;
    });
  });
});
