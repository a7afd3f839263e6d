import { DNS_IMAGE, PAUSE_IMAGE } from './images';

// Configuration files of the programs of a node. JSON is valid YAML.

/** The name of the only node. */
export const NODE_NAME = 'real-node';

const POD_NETWORK = '10.88.0.0/16';
const DNS_ADDRESS = '10.96.0.10';

const RUNTIME_SOCKET = '/run/containerd/containerd.sock';

export function containerdConfiguration(networks: string): string {
  const runtime = "io.containerd.cri.v1.runtime'";
  return `version = 3

[plugins.'io.containerd.cri.v1.images'.pinned_images]
sandbox = '${PAUSE_IMAGE}'

[plugins.'${runtime}]
# A container of root may lack the right to lower it.
restrict_oom_score_adj = true

[plugins.'${runtime}.cni]
bin_dirs = ['/usr/lib/cni']
conf_dir = '${networks}'

[plugins.'${runtime}.containerd.runtimes.runc]
runtime_type = 'io.containerd.runc.v2'

[plugins.'${runtime}.containerd.runtimes.runc.options]
SystemdCgroup = false
`;
}

/** Each pod has its own link to the node, which routes, so no kernel module for bridges is needed. */
export const podNetwork = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'ptp',
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: POD_NETWORK }]],
        routes: [{ dst: '0.0.0.0/0' }],
        dataDir: '/var/lib/cni/networks',
      },
    },
  ],
};

interface KubeletFiles {
  readonly certificateAuthority: string;
  /**
   * Path of the node's `resolv.conf`, which names no server, since the node reaches none of the machine's.
   */
  readonly resolvConf: string;
  readonly volumePlugins: string;
  readonly cgroup: string;
}

export function kubeletConfiguration({
  certificateAuthority,
  resolvConf,
  volumePlugins,
  cgroup,
}: KubeletFiles) {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: false },
      x509: { clientCAFile: certificateAuthority },
    },
    authorization: { mode: 'AlwaysAllow' },
    containerRuntimeEndpoint: `unix://${RUNTIME_SOCKET}`,
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    enforceNodeAllocatable: [],
    failCgroupV1: false,
    failSwapOn: false,
    clusterDNS: [DNS_ADDRESS],
    clusterDomain: 'cluster.local',
    resolvConf,
    volumePluginDir: volumePlugins,
    // Other programs use the machine too, so the pods must not be evicted when its disk or memory is nearly
    // full.
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    syncFrequency: '10s',
    nodeStatusUpdateFrequency: '2s',
  };
}

export function proxyConfiguration(kubeconfig: string) {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig },
    mode: 'iptables',
    clusterCIDR: POD_NETWORK,
    hostnameOverride: NODE_NAME,
    // kube-proxy must not set these limits, which belong to the machine and not to the network namespace.
    conntrack: { maxPerCore: 0, min: 0 },
    iptables: { minSyncPeriod: '100ms', syncPeriod: '10s' },
  };
}

const dns = { name: 'kube-dns', namespace: 'kube-system' };
const dnsLabels = { 'k8s-app': 'kube-dns' };

const COREFILE = `.:53 {
    errors
    ready
    kubernetes cluster.local in-addr.arpa {
        ttl 1
    }
}
`;

/** The default StorageClass and the name server of the cluster. */
export const clusterObjects: readonly object[] = [
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: {
      name: 'host-path',
      annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' },
    },
    provisioner: 'kubernetes.io/host-path',
  },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: dns },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: dns.name },
    rules: [
      {
        apiGroups: [''],
        resources: ['services', 'pods', 'namespaces', 'endpoints'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: dns.name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: dns.name },
    subjects: [{ kind: 'ServiceAccount', ...dns }],
  },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: dns, data: { Corefile: COREFILE } },
  {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: dns,
    spec: {
      selector: { matchLabels: dnsLabels },
      template: {
        metadata: { labels: dnsLabels },
        spec: {
          serviceAccountName: dns.name,
          dnsPolicy: 'Default',
          priorityClassName: 'system-cluster-critical',
          containers: [
            {
              name: 'coredns',
              image: DNS_IMAGE,
              args: ['-conf', '/etc/coredns/Corefile'],
              readinessProbe: { httpGet: { path: '/ready', port: 8181 }, periodSeconds: 1 },
              volumeMounts: [{ name: 'configuration', mountPath: '/etc/coredns' }],
            },
          ],
          volumes: [{ name: 'configuration', configMap: { name: dns.name } }],
        },
      },
    },
  },
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: dns,
    spec: {
      clusterIP: DNS_ADDRESS,
      selector: dnsLabels,
      ports: [
        { name: 'dns', port: 53, protocol: 'UDP' },
        { name: 'dns-tcp', port: 53, protocol: 'TCP' },
      ],
    },
  },
];
