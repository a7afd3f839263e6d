/**
 * Computes the environment variables and the command line of a container's process, with the paths inside the
 * container replaced by those on this machine. All functions are pure.
 */
import { join } from 'node:path';
import type { V1Container, V1EnvVar, V1Pod } from '@kubernetes/client-node';
import { configMapData, MissingReference, secretData, type Lookup } from './lookup';

/** A path inside the container and the corresponding path on this machine. */
export interface Mount {
  inside: string;
  outside: string;
}

/**
 * Replaces a value that is a mounted path, or that begins with one followed by `/`; the longest mounted path
 * wins. A path in the middle of a value (`--config=/config`) is not replaced, so it has to be a separate
 * argument.
 */
export function mapPath(value: string, mounts: readonly Mount[]): string {
  const mount = [...mounts]
    .sort((a, b) => b.inside.length - a.inside.length)
    .find(({ inside }) => value === inside || value.startsWith(`${inside}/`));
  return mount ? mount.outside + value.slice(mount.inside.length) : value;
}

/**
 * Replaces `$(NAME)` by the value of the variable and `$$` by `$`. An unknown name stays, as in the kubelet.
 */
function expand(value: string, variables: Readonly<Record<string, string>>): string {
  return value.replace(/\$(?:\$|\(([^)]*)\))/g, (whole, name: string | undefined) =>
    name === undefined ? '$' : (variables[name] ?? whole),
  );
}

/**
 * The value of a `fieldRef` (downward API).
 *
 * @throws MissingReference the sandbox does not support the field
 */
export function fieldValue(pod: V1Pod, fieldPath: string): string {
  const metadata = pod.metadata ?? {};
  const keyed = /^metadata\.(annotations|labels)\['(.+)'\]$/.exec(fieldPath);
  if (keyed) return metadata[keyed[1] as 'annotations' | 'labels']?.[keyed[2] ?? ''] ?? '';
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.annotations':
      return asLines(metadata.annotations);
    case 'metadata.labels':
      return asLines(metadata.labels);
    case 'spec.nodeName':
      return pod.spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return pod.spec?.serviceAccountName ?? '';
    case 'status.podIP':
    case 'status.podIPs':
      return pod.status?.podIP ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return pod.status?.hostIP ?? '';
    default:
      throw new MissingReference(`fieldRef ${fieldPath} is not supported in the sandbox`);
  }
}

/** The file format of `metadata.annotations` and `metadata.labels` in a volume: `key="escaped value"`, sorted. */
function asLines(map: Record<string, string> | undefined): string {
  return Object.entries(map ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}

/**
 * Returns the container's variables, with paths not yet replaced: `base`, then `envFrom`, then `env`, where a
 * variable may use those before it.
 * @throws MissingReference with the kubelet's message when a required ConfigMap, Secret or key is missing
 */
export function variables(
  container: V1Container,
  pod: V1Pod,
  base: Readonly<Record<string, string>>,
  lookup: Lookup,
): Record<string, string> {
  const result: Record<string, string> = { ...base };
  for (const source of container.envFrom ?? []) {
    const { configMapRef, secretRef, prefix = '' } = source;
    const data = configMapRef
      ? configMapOf(pod, configMapRef.name, configMapRef.optional, lookup)
      : secretRef
        ? secretOf(pod, secretRef.name, secretRef.optional, lookup)
        : {};
    for (const [key, value] of Object.entries(data ?? {})) result[prefix + key] = value.toString();
  }
  for (const variable of container.env ?? []) {
    const value = variableValue(variable, pod, result, lookup);
    if (value !== undefined) result[variable.name] = value;
  }
  return result;
}

function variableValue(
  { value, valueFrom }: V1EnvVar,
  pod: V1Pod,
  before: Readonly<Record<string, string>>,
  lookup: Lookup,
): string | undefined {
  if (!valueFrom) return expand(value ?? '', before);
  const { fieldRef, configMapKeyRef, secretKeyRef } = valueFrom;
  if (fieldRef) return fieldValue(pod, fieldRef.fieldPath);
  const namespace = pod.metadata?.namespace ?? '';
  if (configMapKeyRef) {
    const { name, key, optional } = configMapKeyRef;
    return pick(configMapOf(pod, name, optional, lookup), key, optional, `ConfigMap ${namespace}/${name}`);
  }
  if (secretKeyRef) {
    const { name, key, optional } = secretKeyRef;
    return pick(secretOf(pod, name, optional, lookup), key, optional, `Secret ${namespace}/${name}`);
  }
  return undefined;
}

function pick(
  data: Record<string, Buffer> | undefined,
  key: string,
  optional: boolean | undefined,
  where: string,
): string | undefined {
  const value = data?.[key];
  if (value === undefined && !optional) throw new MissingReference(`couldn't find key ${key} in ${where}`);
  return value?.toString();
}

function configMapOf(pod: V1Pod, name = '', optional: boolean | undefined, lookup: Lookup) {
  const configMap = lookup.configMap(pod.metadata?.namespace ?? '', name);
  if (!configMap && !optional) throw new MissingReference(`configmap "${name}" not found`);
  return configMap && configMapData(configMap);
}

function secretOf(pod: V1Pod, name = '', optional: boolean | undefined, lookup: Lookup) {
  const secret = lookup.secret(pod.metadata?.namespace ?? '', name);
  if (!secret && !optional) throw new MissingReference(`secret "${name}" not found`);
  return secret && secretData(secret);
}

interface HubProgram {
  /** Path of the `hass` program. */
  hass: string;
  /**
   * The configuration directory when nothing is mounted at /config. The directory is deleted with the pod.
   */
  emptyConfiguration: string;
}

/**
 * Returns the command with its arguments, or the entrypoint of the hub's image when the container has no
 * command.
 */
export function commandLine(
  container: V1Container,
  values: Readonly<Record<string, string>>,
  mounts: readonly Mount[],
  hub: HubProgram,
): string[] {
  if (startsHub(container)) {
    const configuration = mounts.find(({ inside }) => inside === '/config')?.outside;
    return [hub.hass, '--config', configuration ?? hub.emptyConfiguration, '--skip-pip'];
  }
  return [...(container.command ?? []), ...(container.args ?? [])].map((part) =>
    mapPath(expand(part, values), mounts),
  );
}

/** Whether the container has no command and so runs the image's entrypoint, which is the hub. */
export function startsHub(container: V1Container): boolean {
  return !container.command?.length;
}

/** The variables with mounted paths replaced. */
export function mapValues(
  values: Readonly<Record<string, string>>,
  mounts: readonly Mount[],
): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, mapPath(value, mounts)]));
}

/** The variables that a Python interpreter reads when it starts. They are equal in every container. */
export function interpreterVariables(venv: string): Record<string, string> {
  return { PATH: `${join(venv, 'bin')}:/usr/local/bin:/usr/bin:/bin`, LANG: 'C.UTF-8' };
}

/**
 * Variables that programs read while they run. An interpreter does not read them when it starts, and modules
 * do not read them when they are imported.
 */
const READ_LATE = ['HOME', 'HOSTNAME', 'SETUP_PORT', 'TMPDIR', 'TZ'];

/**
 * Whether a fork of an interpreter with the hub's modules can run the command just like a separate process.
 * That is true of a hub and of `python3 -c`, also with `-I`, if the environment makes no difference to the
 * interpreter and to the imports.
 */
export function runsInFork(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
  { hass, venv }: { readonly hass: string; readonly venv: string },
): boolean {
  const [program, ...rest] = command;
  const [option, script] = rest[0] === '-I' ? rest.slice(1) : rest;
  const same = interpreterVariables(venv);
  return (
    (program === hass || (program === 'python3' && option === '-c' && script !== undefined)) &&
    Object.entries(environment).every(([name, value]) => READ_LATE.includes(name) || same[name] === value)
  );
}
