import { luaProgram, rulesProgram } from '../../sandbox/checks';
import { helmProgram } from '../../sandbox/helm';
import { runSteps } from '../../sandbox/progress';
import { formatError } from '../../sandbox/sandbox-error';
import { type Sandbox, startSandbox } from '../../sandbox';
import { bundleOperator } from '../../sandbox/image/bundle';
import { installOperator, operatorKubeconfig } from '../../sandbox/operator-process';

declare global {
  // For teardown.ts, which jest loads into a separate module registry.
  var hubSandbox: Sandbox | undefined;
}

/**
 * Starts one sandbox for all test files, with the kinds and the operator's role in it, and a fresh bundle of
 * the operator. jest calls this once for all projects that name it, and starts its workers afterwards, so
 * that these inherit the environment.
 *
 * With `HUB_SANDBOX_HUBS=false` there is no node and no Home Assistant, which tests of schemas do not need.
 */
export default async function setup(): Promise<void> {
  const hubs = process.env['HUB_SANDBOX_HUBS'] !== 'false';
  // Tests use the programs that the machine builds, even where the `make run` of a test starts another
  // cluster.
  process.env['HUB_OPERATOR_KUBERNETES_RELEASES'] ??= 'none';
  // Many hubs share the machine, so a slow answer must not cost a hub its readiness, which no test expects.
  const sandbox = await startSandbox({ hubs, progress: 'plain', probePatience: 6 }).catch(
    (error: unknown) => {
      throw new Error(formatError(error));
    },
  );
  globalThis.hubSandbox = sandbox;
  // The setting is for this cluster, and not for the small ones that single tests start.
  delete process.env['HUB_SANDBOX_GOGC'];
  // The programs are built here, since a first build takes longer than the time limit of a test.
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
