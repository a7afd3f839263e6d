import { readFile } from 'node:fs/promises';
import { formatError, SandboxError } from './sandbox-error';
import { type ClusterAccess, installOperator, operatorEnvironment } from './operator-process';
import { runFile } from './run-file';

/**
 * Runs the operator in this process, for a debugger, against the cluster that `make sandbox` started last.
 * `.vscode/launch.json` starts it from an editor, `node --inspect-brk --import tsx sandbox/debug.ts` from a shell.
 */
async function main(): Promise<void> {
  const sandbox = await runningSandbox();
  await installOperator(sandbox);
  const environment = await operatorEnvironment(sandbox);
  Object.assign(process.env, { LOG_LEVEL: 'debug' }, environment);
  const { run } = await import('../operator/index');
  const { HUB_URL_ANNOTATION: hubUrlAnnotation = '', HUB_SOURCE_ADDRESS: hubSourceAddress = '' } =
    environment;
  run([], { hubUrlAnnotation, hubSourceAddress });
}

async function runningSandbox(): Promise<ClusterAccess> {
  try {
    return JSON.parse(await readFile(runFile(), 'utf8')) as ClusterAccess;
  } catch {
    throw new SandboxError('No sandbox is running.', 'Start one in another terminal: make sandbox HUBS=1');
  }
}

main().catch((error: unknown) => {
  console.error(`\n${formatError(error)}`);
  process.exit(1);
});
