import { explain } from '../../sandbox/failure';
import { type Sandbox, startSandbox } from '../../sandbox';

declare global {
  // For teardown.ts, which jest loads as a module world of its own.
  var hubSandbox: Sandbox | undefined;
}

/**
 * One sandbox for all test files. jest calls this once for all projects that name it, and starts its workers later, so
 * they inherit the environment.
 */
export default async function setup(): Promise<void> {
  const sandbox = await startSandbox({ hubs: true, progress: 'plain' }).catch((error: unknown) => {
    throw new Error(explain(error));
  });
  globalThis.hubSandbox = sandbox;
  process.env['HUB_SANDBOX_DIRECTORY'] = sandbox.directory;
  process.env['HUB_SANDBOX_KUBECONFIG'] = sandbox.kubeconfig;
  process.env['HUB_SANDBOX_API_SERVER'] = sandbox.apiServer;
  process.env['HUB_SANDBOX_KUBECTL'] = JSON.stringify(sandbox.kubectl);
}
