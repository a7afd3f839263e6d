import { luaProgram, rulesProgram } from '../../sandbox/checks';
import { helmProgram } from '../../sandbox/helm';
import { runSteps } from '../../sandbox/progress';
import { formatError } from '../../sandbox/sandbox-error';
import { type Sandbox, startSandbox } from '../../sandbox';
import { bundleOperator } from '../../sandbox/image/bundle';
import { installOperator, operatorKubeconfig } from '../../sandbox/operator-process';

declare global {
  // For teardown.ts, which jest loads as a module world of its own.
  var hubSandbox: Sandbox | undefined;
}

/**
 * One sandbox for all test files, with the kinds and the operator's role in it, and a fresh bundle of the operator.
 * jest calls this once for all projects that name it, and starts its workers later, so they inherit the environment.
 * `HUB_SANDBOX_HUBS=false`: no node and no Home Assistant, which the schemas do without.
 */
export default async function setup(): Promise<void> {
  const hubs = process.env['HUB_SANDBOX_HUBS'] !== 'false';
  // Every machine runs the programs that it builds, also where `make run` of a test starts a cluster of its own.
  process.env['HUB_OPERATOR_KUBERNETES_RELEASES'] ??= 'none';
  // Many hubs share the machine: one that answers late is not to lose its readiness, which no test expects.
  const sandbox = await startSandbox({ hubs, progress: 'plain', probePatience: 6 }).catch(
    (error: unknown) => {
      throw new Error(formatError(error));
    },
  );
  globalThis.hubSandbox = sandbox;
  delete process.env['HUB_SANDBOX_GOGC']; // the memory is for this cluster, not for the small ones of single tests
  // Here, since a first build takes longer than a test may.
  await runSteps(
    [
      { title: 'Helm', run: async (report) => void (await helmProgram(report)) },
      { title: 'Engine of Prometheus', run: async (report) => void (await rulesProgram(report)) },
      { title: 'Lua of Argo CD', run: async (report) => void (await luaProgram(report)) },
    ],
    'plain',
  );
  await Promise.all([bundleOperator(), installOperator(sandbox)]);
  process.env['HUB_SANDBOX_DIRECTORY'] = sandbox.directory;
  process.env['HUB_SANDBOX_KUBECONFIG'] = sandbox.kubeconfig;
  process.env['HUB_SANDBOX_API_SERVER'] = sandbox.apiServer;
  process.env['HUB_SANDBOX_KUBECTL'] = JSON.stringify(sandbox.kubectl);
  process.env['HUB_SANDBOX_OPERATOR_KUBECONFIG'] = await operatorKubeconfig(sandbox);
  if (sandbox.hubSoftware) process.env['HUB_SANDBOX_VENV'] = sandbox.hubSoftware.venv;
  const forkServer = await sandbox.forkServer?.address();
  if (forkServer !== undefined) process.env['HUB_SANDBOX_FORK_SERVER'] = forkServer;
}
