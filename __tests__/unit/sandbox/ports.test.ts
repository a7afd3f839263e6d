import { createServer } from 'node:net';
import { freePorts } from '../../../sandbox/ports';
import { oneOfThree } from '../../cluster/one-of-three';

describe('freePorts', () => {
  test('gives no port twice, although no server listens on it', async () => {
    const first = await freePorts(150);
    const second = await freePorts(150);
    expect(new Set([...first, ...second]).size).toBe(300);
  });

  test('gives different ports on which one can listen, below those of outgoing connections', async () => {
    // Another process may take one of them before it is tried.
    await oneOfThree(
      async () => {
        const ports = await freePorts(20);
        expect(new Set(ports).size).toBe(20);
        expect(Math.max(...ports)).toBeLessThan(32_768);
        let taken = 0;
        for (const port of ports) {
          const server = createServer();
          await new Promise<void>((resolve) => {
            server.on('error', () => resolve(void taken++)).listen(port, '127.0.0.1', resolve);
          });
          if (server.listening) await new Promise((resolve) => server.close(resolve));
        }
        return taken;
      },
      (taken) => taken === 0,
    );
  });
});
