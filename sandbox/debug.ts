import { readFile } from 'node:fs/promises';
import { formatError, SandboxError } from './sandbox-error';
import { type ClusterAccess, installOperator, operatorEnvironment } from './operator-process';
import { runFile } from './run-file';

/**
 * The operator in this process, so that a debugger can stop in its sources, against the cluster that `make sandbox`
 * started last. `.vscode/launch.json` starts it; `node --inspect-brk --import tsx sandbox/debug.ts` does without an
 * editor.
 */
async function main(): Promise<void> {
  const sandbox = await startedSandbox();
  await installOperator(sandbox);
  Object.assign(process.env, { LOG_LEVEL: 'debug' }, await operatorEnvironment(sandbox));
  await import('../operator/index');
}

async function startedSandbox(): Promise<ClusterAccess> {
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
