/**
 * The fields of a pod that a hub can use at the level `baseline` of Pod Security
 * (https://kubernetes.io/docs/concepts/security/pod-security-standards/). All other fields are refused, also
 * those that a later version of Kubernetes adds.
 */

/** Left out are `hostPID`, `hostIPC` and `ephemeralContainers`. `hostNetwork` is a field of a Hub's spec. */
export const POD_FIELDS = [
  ...['activeDeadlineSeconds', 'affinity', 'automountServiceAccountToken', 'containers', 'dnsConfig'],
  ...['dnsPolicy', 'enableServiceLinks', 'hostAliases', 'hostNetwork', 'hostUsers', 'hostname'],
  ...['hostnameOverride', 'imagePullSecrets', 'initContainers', 'nodeName', 'nodeSelector', 'os', 'overhead'],
  ...['preemptionPolicy', 'priority', 'priorityClassName', 'readinessGates', 'resourceClaims', 'resources'],
  ...['restartPolicy', 'runtimeClassName', 'schedulerName', 'schedulingGates', 'securityContext'],
  ...['serviceAccount', 'serviceAccountName', 'setHostnameAsFQDN', 'shareProcessNamespace', 'subdomain'],
  ...['terminationGracePeriodSeconds', 'tolerations', 'topologySpreadConstraints', 'volumes'],
];

export const CONTAINER_FIELDS = [
  ...['args', 'command', 'env', 'envFrom', 'image', 'imagePullPolicy', 'lifecycle', 'livenessProbe', 'name'],
  ...['ports', 'readinessProbe', 'resizePolicy', 'resources', 'restartPolicy', 'restartPolicyRules'],
  ...['securityContext', 'startupProbe', 'stdin', 'stdinOnce', 'terminationMessagePath'],
  ...['terminationMessagePolicy', 'tty', 'volumeDevices', 'volumeMounts', 'workingDir'],
];

/**
 * Fields of the securityContext of a pod or container. `windowsOptions` is left out, since no hub runs on
 * Windows.
 */
export const SECURITY_CONTEXT_FIELDS = [
  ...['allowPrivilegeEscalation', 'appArmorProfile', 'capabilities', 'fsGroup', 'fsGroupChangePolicy'],
  ...['privileged', 'procMount', 'readOnlyRootFilesystem', 'runAsGroup', 'runAsNonRoot', 'runAsUser'],
  ...['seLinuxChangePolicy', 'seLinuxOptions', 'seccompProfile', 'supplementalGroups'],
  ...['supplementalGroupsPolicy', 'sysctls'],
];

/** The capabilities of the level `baseline`, and NET_RAW, which containers have by default. */
export const CAPABILITIES = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'KILL', 'MKNOD', 'NET_BIND_SERVICE'],
  ...['NET_RAW', 'SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_CHROOT'],
];

/** The types of seccomp and AppArmor profiles. */
export const PROFILES = ['RuntimeDefault', 'Localhost'];

export const SELINUX_TYPES = ['container_t', 'container_init_t', 'container_kvm_t', 'container_engine_t'];

export const SYSCTLS = [
  ...['kernel.shm_rmid_forced', 'net.ipv4.ip_local_port_range', 'net.ipv4.ip_local_reserved_ports'],
  ...['net.ipv4.ip_unprivileged_port_start', 'net.ipv4.ping_group_range', 'net.ipv4.tcp_fin_timeout'],
  ...['net.ipv4.tcp_keepalive_intvl', 'net.ipv4.tcp_keepalive_probes', 'net.ipv4.tcp_keepalive_time'],
  ...['net.ipv4.tcp_rmem', 'net.ipv4.tcp_syncookies', 'net.ipv4.tcp_wmem'],
];

/**
 * Left out are `hostPath` and in-tree drivers of Kubernetes; among the latter, `gitRepo` and `flexVolume` run
 * programs on the node.
 */
export const VOLUME_SOURCES = [
  ...['configMap', 'csi', 'downwardAPI', 'emptyDir', 'ephemeral', 'image', 'iscsi', 'nfs'],
  ...['persistentVolumeClaim', 'projected', 'secret'],
];

/**
 * Left out are `serviceAccountToken` and `podCertificate`, with which a pod can authenticate to the API
 * server.
 */
export const PROJECTED_SOURCES = ['clusterTrustBundle', 'configMap', 'downwardAPI', 'secret'];

/** The fields that the operator gives to a pod that installs a community repository, and those that the API server adds. */
export const INSTALLER_FIELDS = [
  ...['activeDeadlineSeconds', 'automountServiceAccountToken', 'containers', 'dnsPolicy'],
  ...['enableServiceLinks', 'imagePullSecrets', 'nodeName', 'nodeSelector', 'overhead', 'preemptionPolicy'],
  ...['priority', 'priorityClassName', 'restartPolicy', 'runtimeClassName', 'schedulerName'],
  ...['securityContext', 'serviceAccount', 'serviceAccountName', 'terminationGracePeriodSeconds'],
  ...['tolerations', 'volumes'],
];

export const INSTALLER_CONTAINER_FIELDS = [
  ...['command', 'image', 'imagePullPolicy', 'name', 'resizePolicy', 'resources', 'securityContext'],
  ...['terminationMessagePath', 'terminationMessagePolicy', 'volumeMounts'],
];

/** The fields of a StatefulSet that the operator sets, and those that the API server adds. */
export const STATEFUL_SET_FIELDS = [
  ...['minReadySeconds', 'persistentVolumeClaimRetentionPolicy', 'podManagementPolicy', 'replicas'],
  ...['revisionHistoryLimit', 'selector', 'serviceName', 'template', 'updateStrategy'],
];
