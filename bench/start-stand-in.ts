import { join } from 'node:path';
import type { Sandbox } from '../sandbox';
import { SandboxProcess } from '../sandbox/process';

/** Starts a lightweight stand-in of a hub (stand-in.mjs) at a port. */
export const startStandIn = (
  sandbox: Pick<Sandbox, 'directory'>,
  name: string,
  port: number,
): Promise<SandboxProcess> =>
  SandboxProcess.start({
    name,
    command: [process.execPath, join(__dirname, 'stand-in.mjs')],
    directory: join(sandbox.directory, 'stand-ins'),
    env: { SETUP_PORT: String(port) },
  });
