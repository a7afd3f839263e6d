import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ports } from '../../../../sandbox/node/ports';
import { oneOfThree } from '../../../cluster/one-of-three';

const directory = mkdtempSync(join(tmpdir(), 'ports-'));
afterAll(() => rmSync(directory, { recursive: true }));
const file = join(directory, 'ports.json');

describe('Ports', () => {
  test('a name keeps its port, also for the next sandbox', async () => {
    const ports = new Ports(file);
    // Another process may use it meanwhile.
    const first = await oneOfThree(
      async () => {
        const port = await ports.assign('home', 'hub-0');
        const again = [await ports.assign('home', 'hub-0'), await new Ports(file).assign('home', 'hub-0')];
        return again.every((each) => each === port) ? port : undefined;
      },
      (port) => port !== undefined,
    );
    expect(await ports.assign('other', 'hub-0')).not.toBe(first);
  });

  test('names that come at once get ports of their own', async () => {
    const ports = new Ports(join(directory, 'many.json'));
    const assigned = await Promise.all(
      Array.from({ length: 100 }, (_, index) => ports.assign('home', `hub-${index}`)),
    );
    expect(new Set(assigned).size).toBe(100);
  });

  test('a port that another process uses is not assigned', async () => {
    const ports = new Ports(file);
    const server = createServer();
    // Another process may use it before the server does.
    const taken = await oneOfThree(
      async () => {
        const port = await ports.assign('home', 'hub-0');
        await new Promise<void>((resolve) => {
          server.once('error', () => resolve()).listen(port, '127.0.0.1', resolve);
        });
        return port;
      },
      () => server.listening,
    );
    const other = await ports.assign('home', 'hub-0');
    server.close();
    expect(other).not.toBe(taken);
  });
});
