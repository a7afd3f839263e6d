import { BlockList, isIPv4 } from 'node:net';
import { lastBannedAddress } from '../../../client/setup/ban-notice';
import { HubError } from '../../../client/connection/errors';
import type { Services } from '../../services';
import type { Authenticated, HubContext, HubStep } from '../steps';
import { unbanReport } from '../../hub-pod/termination-messages';
import { type Pod, podOf } from '../../hub-pod/owned-objects';

/**
 * Checks whether the hub has banned an address of the cluster: its node, or a proxy. Many clients connect
 * through such an address, and wrong passwords of one of them lock out all (rules.md, "Ban recovery").
 */
export function checkClusterBans(services: Pick<Services, 'cache'>): HubStep<HubContext & Authenticated> {
  return {
    name: 'bans',
    async run({ hub, client, reconcile, notices }) {
      const pod = podOf(services, hub);
      if (!pod) return {};
      const last = await lastBannedAddress(client.connection).catch((error: unknown) => {
        if (!(error instanceof HubError)) throw error;
        reconcile.log.debug({ error }, 'failed to read notifications of hub');
        return undefined;
      });
      const atStart = unbanReport(pod)?.banned ?? [];
      const banned = new Set([...atStart, ...(last === undefined ? [] : [last])]);
      const ofCluster = [...banned].filter((address) => isOfCluster(address, pod));
      if (ofCluster.length > 0) notices.push(noticeOf(ofCluster));
      return {};
    },
  };
}

/**
 * Reports whether an address is that of the pod's node, or is in the network of the pod. Nodes and proxies
 * connect to the pod from such addresses.
 */
export function isOfCluster(address: string, { spec, status }: Pod): boolean {
  const nodes = [status?.hostIP, ...(status?.hostIPs ?? []).map(({ ip }) => ip)];
  if (nodes.includes(address)) return true;
  const podIp = status?.podIP;
  if (!podIp || spec?.hostNetwork || isIPv4(podIp) !== isIPv4(address)) return false;
  const network = new BlockList();
  if (isIPv4(podIp)) network.addSubnet(podIp, 16, 'ipv4');
  else network.addSubnet(podIp, 64, 'ipv6');
  return network.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
}

/** The message for users whose clients connect through the cluster. */
function noticeOf(addresses: readonly string[]): string {
  return (
    `The hub has banned ${addresses.join(' and ')} of the cluster, a node or a proxy: every client that connects through it ` +
    'gets 403. Remove it from ip_bans.yaml on the volume and delete the pod of the hub. Visitors keep their own addresses ' +
    'with spec.service.externalTrafficPolicy: Local, or with trusted_proxies in the http section of the HubConfiguration.'
  );
}
