import { buildOperatorImage } from '../../image';
import { RealNode } from '../../sandbox/real-node';
import { formatError } from '../../sandbox/sandbox-error';

declare global {
  // For teardown.ts, which jest loads as a module world of its own.
  var hubRealNode: RealNode | undefined;
}

/** One cluster for all test files, with the images that pods ask for. The test files install the operator. */
export default async function setup(): Promise<void> {
  const [node, image] = await Promise.all([
    RealNode.start({ progress: 'plain' }).catch((error: unknown) => {
      throw new Error(formatError(error));
    }),
    buildOperatorImage(),
  ]);
  globalThis.hubRealNode = node;
  await node.importImage(image);
  // The names of the tests' other cluster, so that its functions (../cluster) serve here as well.
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
