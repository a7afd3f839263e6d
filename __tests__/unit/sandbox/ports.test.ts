import { createServer } from 'node:net';
import { freePorts } from '../../../sandbox/ports';

describe('free ports', () => {
  test('gives different ports on which one can listen, below those of outgoing connections', async () => {
    const ports = await freePorts(20);
    expect(new Set(ports).size).toBe(20);
    for (const port of ports) {
      expect(port).toBeLessThan(32_768);
      const server = createServer();
      await new Promise<void>((resolve, reject) => {
        server.on('error', reject).listen(port, '127.0.0.1', resolve);
      });
      await new Promise((resolve) => server.close(resolve));
    }
  });
});
