import { writeFile } from 'node:fs/promises';
import { buildOperatorImage } from '../../sandbox/image';
import { RealNode } from '../../sandbox/real-node';
import { errorLine, formatError, isOfMachine } from '../../sandbox/sandbox-error';

declare global {
  // For teardown.ts, which jest loads into a separate module registry.
  var hubRealNode: RealNode | undefined;
}

/** Networks of nodes, services and pods, which no proxy can reach. */
const NETWORKS = '198.18.0.0/15,10.96.0.0/16,10.88.0.0/16';

/**
 * Starts one cluster for all test files, with the images that pods need. The test files install the operator.
 */
export default async function setup(): Promise<void> {
  for (const name of ['NO_PROXY', 'no_proxy'])
    process.env[name] = [process.env[name], NETWORKS].filter(Boolean).join(',');
  const node = await start().catch(async (error: unknown) => {
    const file = process.env['HUB_NODE_OBSTACLE'];
    if (file && isOfMachine(error)) await writeFile(file, errorLine(error));
    throw new Error(formatError(error));
  });
  // The variables have the names of the sandbox's cluster, so that its functions (../cluster) also work here.
  process.env['HUB_SANDBOX_DIRECTORY'] = node.directory;
  process.env['HUB_SANDBOX_KUBECONFIG'] = node.kubeconfig;
  process.env['HUB_SANDBOX_API_SERVER'] = node.controlPlane.apiServer;
  process.env['HUB_SANDBOX_KUBECTL'] = JSON.stringify(node.kubectl);
  process.env['HUB_NODE_CTR'] = JSON.stringify(node.ctr);
  const { enter, address, visitor } = node.namespaces;
  process.env['HUB_NODE_ENTER'] = JSON.stringify(enter);
  process.env['HUB_NODE_ADDRESS'] = address;
  process.env['HUB_NODE_VISITOR'] = visitor;
}

/** Rejects with the first error, since later errors may only be consequences of it. */
async function start(): Promise<RealNode> {
  const [node, image] = await Promise.all([RealNode.start({ progress: 'plain' }), buildOperatorImage()]);
  globalThis.hubRealNode = node;
  await node.importImage(image);
  return node;
}
