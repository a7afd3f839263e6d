import { formatError } from './sandbox-error';
import { startSandbox } from './index';
import { untilInterrupted } from './interrupt';
import { removeRunFile, writeRunFile } from './run-file';

/** `make sandbox`: runs a cluster until Ctrl-C; with HUBS=1 also a node that runs hubs. */
async function main(): Promise<void> {
  const hubs = process.env['HUBS'] === '1';
  const interrupted = untilInterrupted();
  const sandbox = await startSandbox({ hubs, interrupted });
  await writeRunFile(sandbox);
  console.log(`
${hubs ? 'The cluster has a node that runs hubs.' : 'The cluster has no node: it stores every object, and pods stay Pending.'} In another terminal:

  export KUBECONFIG=${sandbox.kubeconfig}
  ${sandbox.kubectl.join(' ')} get namespaces

Ctrl-C stops it and removes its data.`);
  await interrupted;
  await removeRunFile(sandbox);
  await sandbox.stop();
  console.log(`All processes are stopped. The data is removed: ${sandbox.directory}`);
}

main().catch((error: unknown) => {
  console.error(`\n${formatError(error)}`);
  // Steps that run in parallel to the failed one may still run; their processes end with this one.
  process.exit(1);
});
