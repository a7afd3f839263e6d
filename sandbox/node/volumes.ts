/**
 * The volumes of one pod as directories on this machine. The directory of a claim outlives the pod; all others are
 * inside the pod's directory. `readOnly` is not enforced.
 */
import { copyFile, mkdir, realpath, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { V1Container, V1Pod, V1Volume } from '@kubernetes/client-node';
import { replaceFiles } from './atomic-directory';
import type { Mount } from './environment';
import { MissingReference, type Lookup } from './lookup';
import { fileMode, fingerprint, isCopied, projections, volumeFiles } from './volume-files';

/**
 * Requests a token of the pod's service account, once per volume. The token is not renewed when it expires.
 */
type TokenSource = (audience: string | undefined, lifetimeSeconds: number) => Promise<string>;

export class PodVolumes {
  private readonly written = new Map<string, string>();
  private readonly tokens = new Map<string, string>();

  constructor(
    private pod: V1Pod,
    private readonly directory: string,
    private readonly lookup: Lookup,
    private readonly requestToken: TokenSource,
  ) {}

  /**
   * Creates every volume, or updates the files of ConfigMap, Secret, downwardAPI and projected volumes.
   *
   * @throws MissingReference a required source does not exist
   */
  async write(pod: V1Pod): Promise<void> {
    this.pod = pod;
    for (const volume of pod.spec?.volumes ?? []) {
      try {
        await this.writeVolume(volume);
      } catch (error) {
        if (!(error instanceof MissingReference)) throw error;
        throw new MissingReference(`MountVolume.SetUp failed for volume "${volume.name}" : ${error.message}`);
      }
    }
  }

  /** Whether a volume of the pod has this ConfigMap or Secret as a source. */
  refersTo(kind: 'configMap' | 'secret', name: string): boolean {
    const sources = (this.pod.spec?.volumes ?? []).flatMap(projections);
    return sources.some((source) => source[kind]?.name === name);
  }

  /**
   * Returns the container's mounts. As in a kubelet, a `subPath` of a ConfigMap or Secret volume is a copy
   * that never changes.
   */
  async mounts(container: V1Container): Promise<Mount[]> {
    const mounts: Mount[] = [];
    for (const { name, mountPath, subPath } of container.volumeMounts ?? []) {
      const volume = this.pod.spec?.volumes?.find((candidate) => candidate.name === name);
      if (!volume) throw new MissingReference(`volume "${name}" not found`);
      const root = this.path(volume);
      const inside = mountPath.replace(/\/+$/, '');
      if (!subPath) mounts.push({ inside, outside: root });
      else if (isCopied(volume))
        mounts.push({ inside, outside: await this.frozen(container, volume, subPath) });
      else {
        await mkdir(join(root, subPath), { recursive: true });
        mounts.push({ inside, outside: join(root, subPath) });
      }
    }
    return mounts;
  }

  private async writeVolume(volume: V1Volume): Promise<void> {
    if (!isCopied(volume)) {
      await mkdir(this.path(volume), { recursive: true });
      return;
    }
    const files = volumeFiles(volume, this.pod, this.lookup);
    for (const { serviceAccountToken } of projections(volume)) {
      if (!serviceAccountToken) continue;
      const { audience, expirationSeconds = 3600, path } = serviceAccountToken;
      const key = `${volume.name}/${path}`;
      const token = this.tokens.get(key) ?? (await this.requestToken(audience, expirationSeconds));
      this.tokens.set(key, token);
      files.set(path, { data: Buffer.from(token), mode: fileMode(volume) });
    }
    const version = fingerprint(files);
    if (this.written.get(volume.name) === version) return;
    await replaceFiles(this.path(volume), files);
    this.written.set(volume.name, version);
  }

  private path(volume: V1Volume): string {
    if (!volume.persistentVolumeClaim) return join(this.directory, 'volumes', volume.name);
    const { claimName } = volume.persistentVolumeClaim;
    const claim = this.lookup.claim(this.pod.metadata?.namespace ?? '', claimName);
    if (!claim) throw new MissingReference(`persistentvolumeclaim "${claimName}" not found`);
    const persistentVolume = this.lookup.volume(claim.spec?.volumeName ?? '');
    const path = persistentVolume?.spec?.hostPath?.path;
    if (!path)
      throw new MissingReference(`the volume of persistentvolumeclaim "${claimName}" has no hostPath`);
    return path;
  }

  // A kubelet bind-mounts the file as of the container's start; later updates of the volume do not reach the
  // container.
  private async frozen(container: V1Container, volume: V1Volume, subPath: string): Promise<string> {
    const source = await realpath(join(this.path(volume), subPath));
    if ((await stat(source)).isDirectory()) return source;
    const copy = join(this.directory, 'sub-paths', container.name, volume.name, subPath);
    await mkdir(dirname(copy), { recursive: true });
    await copyFile(source, copy);
    return copy;
  }
}
