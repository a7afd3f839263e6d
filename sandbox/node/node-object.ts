import { arch, cpus, platform, totalmem } from 'node:os';
import type { V1Node } from '@kubernetes/client-node';
import { MERGE_PATCH, type NodeCache } from './node-cache';
import { NODE_ADDRESS, NODE_NAME } from './names';
import { retry } from './retry';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' };

/**
 * Describes this machine as a Node. The node lifecycle controller is off, so nothing changes the condition
 * Ready.
 */
// eslint-disable-next-line max-lines-per-function -- one object: the Node
function nodeObject(now: Date): V1Node {
  const resources = { cpu: String(cpus().length), memory: `${Math.floor(totalmem() / 1024)}Ki`, pods: '110' };
  const architecture = ARCHITECTURES[arch()] ?? arch();
  return {
    metadata: {
      name: NODE_NAME,
      labels: {
        'kubernetes.io/hostname': NODE_NAME,
        'kubernetes.io/os': platform(),
        'kubernetes.io/arch': architecture,
      },
    },
    status: {
      capacity: resources,
      allocatable: resources,
      addresses: [
        { type: 'InternalIP', address: NODE_ADDRESS },
        { type: 'Hostname', address: NODE_NAME },
      ],
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'SandboxReady',
          message: 'containers run as processes',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
      // All these fields are required; `kubectl get nodes -o wide` shows them.
      nodeInfo: {
        architecture,
        bootID: '',
        containerRuntimeVersion: 'processes://1',
        kernelVersion: '',
        kubeProxyVersion: '',
        kubeletVersion: 'sandbox',
        machineID: '',
        operatingSystem: platform(),
        osImage: 'sandbox',
        systemUUID: '',
      },
    },
  };
}

/** Creates the Node if it does not exist and sets its condition Ready. */
export async function registerNode(cluster: NodeCache): Promise<V1Node> {
  const { core, signal, log } = cluster;
  const body = nodeObject(new Date());
  await retry('node', () => core.createNode({ body }), signal, log);
  // The API server taints every new node as not ready. The controller that would remove the taint is off.
  const untaint = () => core.patchNode({ name: NODE_NAME, body: { spec: { taints: null } } }, MERGE_PATCH);
  await retry('node', untaint, signal, log);
  const ready = () => core.patchNodeStatus({ name: NODE_NAME, body: { status: body.status } }, MERGE_PATCH);
  await retry('node', ready, signal, log);
  return body;
}
