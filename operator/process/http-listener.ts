import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Logger } from '../base/log';

interface ListenOptions {
  /** 0 selects a free port. */
  readonly port: number;
  /** The address to listen on. The empty text stands for all addresses of the pod. */
  readonly address: string;
  /** The command line option of the port, such as `--http-port`. */
  readonly option: string;
  readonly log: Logger;
}

/**
 * Starts to listen and returns the port. A later error, such as too many open files for a further connection,
 * is logged: the server continues to listen.
 *
 * @throws Error for the user: the port is in use
 */
export async function listen(
  server: Server | TlsServer,
  { port, address, option, log }: ListenOptions,
): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(
              `cannot listen on port ${port}: it is in use; choose another with ${option}, or 0 for a free one`,
            )
          : error,
      );
    server.once('error', fail);
    server.listen(port, address || undefined, () => {
      server.off('error', fail);
      resolve();
    });
  });
  server.on('error', (error) => log.warn({ error, option }, 'failed to accept connection'));
  return (server.address() as AddressInfo).port;
}

/** Closes all connections, and resolves when the server has stopped. */
export async function close(server: Server | TlsServer): Promise<void> {
  await new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
}
