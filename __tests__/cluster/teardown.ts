export default async function teardown(): Promise<void> {
  // Set by runner/keep-on-failure.mjs after a failure.
  const keep = process.env['HUB_SANDBOX_KEEP'] === 'true';
  const sandbox = globalThis.hubSandbox;
  await sandbox?.stop({ keep });
  if (sandbox && keep) console.log(`Logs and data of the cluster, until the next run: ${sandbox.directory}`);
}
