import { arch, cpus, platform, totalmem } from 'node:os';
import type { V1Node } from '@kubernetes/client-node';
import { MERGE_PATCH, type NodeCache } from './node-cache';
import { NODE_ADDRESS, NODE_NAME } from './names';
import { retry } from './retry';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' };

/** This machine as a Node. Its readiness is written once and again, never judged: that controller is off. */
export function nodeObject(now: Date): V1Node {
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
      // The fields are required, so that `kubectl get nodes -o wide` says what kind of node this is.
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

/** Creates the Node when it is not there, and says that it is ready. */
export async function registerNode(cluster: NodeCache): Promise<V1Node> {
  const { core, signal, log } = cluster;
  const body = nodeObject(new Date());
  await retry('node', () => core.createNode({ body }), signal, log);
  // The API server gives every new node a not-ready taint, for a controller that is off here.
  const untaint = () => core.patchNode({ name: NODE_NAME, body: { spec: { taints: null } } }, MERGE_PATCH);
  await retry('node', untaint, signal, log);
  const ready = () => core.patchNodeStatus({ name: NODE_NAME, body: { status: body.status } }, MERGE_PATCH);
  await retry('node', ready, signal, log);
  return body;
}
