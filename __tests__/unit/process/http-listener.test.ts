import { createServer } from 'node:http';
import { close, listen } from '../../../operator/process/http-listener';
import { RecordingLog } from '../runtime/recording-log';

describe('listen', () => {
  test('an error after the start is logged, and the server continues to answer', async () => {
    const server = createServer((_, response) => response.end('here'));
    const log = new RecordingLog();
    const port = await listen(server, { port: 0, address: '127.0.0.1', option: '--http-port', log });
    // Errors with which Node.js reports a connection that it cannot accept, for example without free file
    // descriptors.
    for (const error of [new Error('accept EMFILE'), new Error('accept ENFILE')]) server.emit('error', error);
    expect(log.lines).toMatchObject([
      {
        level: 'warn',
        message: 'failed to accept connection',
        fields: { error: { message: 'accept EMFILE' } },
      },
      { fields: { error: { message: 'accept ENFILE' } } },
    ]);
    expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('here');
    await close(server);
    await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow();
  });

  test('an error other than a port in use is passed on', async () => {
    const server = createServer();
    const options = { port: 0, address: '203.0.113.1', option: '--http-port', log: new RecordingLog() };
    await expect(listen(server, options)).rejects.toMatchObject({ code: 'EADDRNOTAVAIL' });
  });
});
