export default async function teardown(): Promise<void> {
  // Set by runner/keep-on-failure.mjs after a failure.
  const keep = process.env['HUB_SANDBOX_KEEP'] === 'true';
  const node = globalThis.hubRealNode;
  await node?.stop({ keep });
  if (node && keep) console.log(`Logs and data of the cluster, until the next run: ${node.directory}`);
}
