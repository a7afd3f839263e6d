import { appendFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { API_GROUP } from '../../operator/kinds/group';
import { mustKubectl } from '.';
import { kubectlHub } from './command-line';
import { type Home, hub } from './home';
import { writeHome } from './homes-to-convert';
import { HubProcess } from './hub-process';
import { HubRecorder } from './hub-recorder';
import { onboardedVolume } from './onboarded-volume';

const FILES = ['automations.yaml', 'scripts.yaml', 'scenes.yaml'];

/** The result of `kubectl hub export`. */
interface Exported {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly written: readonly { readonly path: string; readonly kind: string; readonly name: string }[];
  readonly notExpressed: readonly { readonly object: string; readonly reason: string }[];
  /** The contents of the files, by their paths. */
  readonly contents: Readonly<Record<string, string>>;
}

/** A real hub outside of the cluster, whose content is exported to files. */
export class HubToExport {
  private constructor(
    readonly process: HubProcess,
    readonly token: string,
    private readonly folder: string,
  ) {}

  /**
   * Starts a hub with these files, whose content is JSON, since JSON is YAML.
   * @param configuration further lines of configuration.yaml
   * @param language of the household, in which integrations name their entities; absent: that of a fresh hub
   */
  static async start(
    files: Readonly<Record<string, string>>,
    configuration = '',
    language?: string,
  ): Promise<HubToExport> {
    const { directory, token } = await onboardedVolume();
    const hubProcess = await HubProcess.create(directory);
    await writeHome(hubProcess.configDir, files);
    await appendFile(join(hubProcess.configDir, 'configuration.yaml'), configuration);
    if (language !== undefined) await setLanguage(hubProcess.configDir, language);
    const folder = await mkdtemp(join(tmpdir(), 'export-'));
    await writeFile(join(folder, 'token'), `${token}\n`);
    await hubProcess.start();
    await hubProcess.running(token);
    return new HubToExport(hubProcess, token, folder);
  }

  /** Options with which the command line reaches this hub. */
  get address(): readonly string[] {
    return this.addressAt(this.process.url);
  }

  private addressAt(url: string): readonly string[] {
    return [`--url=${url}`, `--token-file=${join(this.folder, 'token')}`];
  }

  /** Returns the folder of an export. */
  path(name: string): string {
    return join(this.folder, name);
  }

  /**
   * Exports the content for a Hub `villa`.
   * @param url of a proxy in front of the hub
   */
  async export(
    namespace: string,
    to: string,
    url = this.process.url,
    ...options: readonly string[]
  ): Promise<Exported> {
    const report = ['--output=json', `--to=${this.path(to)}`, ...options];
    const ran = await kubectlHub(namespace, ['export', ...this.addressAt(url), '--hub=villa', ...report]);
    const { written, notExpressed } = JSON.parse(ran.stdout || '{}') as Exported;
    const names = (await readdir(this.path(to), { recursive: true })).filter((name) =>
      name.endsWith('.yaml'),
    );
    const contents: Record<string, string> = {};
    for (const name of names.sort()) contents[name] = await readFile(join(this.path(to), name), 'utf8');
    return { ...ran, written, notExpressed, contents };
  }

  /** Returns the contents of the files that the hub's editor writes. */
  stored(): Promise<readonly string[]> {
    return Promise.all(FILES.map((name) => readFile(join(this.process.configDir, name), 'utf8')));
  }

  /**
   * Applies an export together with a Hub `villa` for this hub, in a namespace with a running operator. Waits
   * until all resources are Ready.
   * @returns everything that the operator asked the hub to change: requests, and commands of the WebSocket
   */
  async adopt(
    home: Home,
    folder: string,
    written: readonly Pick<Exported['written'][number], 'kind' | 'name'>[],
  ): Promise<readonly string[]> {
    const recorder = await HubRecorder.start(this.process.url);
    try {
      await this.join(home, recorder.url);
      const { namespace } = home;
      await mustKubectl(['apply', '--server-side', '--recursive', `--filename=${folder}`], { namespace });
      for (const { kind, name } of written) await home.ready(kind, name);
      return recorder.changes();
    } finally {
      await recorder.stop();
    }
  }

  /**
   * Applies a Hub `villa` for this hub, and waits until it is Ready.
   *
   * @param url of a proxy before the hub
   */
  async join(home: Home, url: string): Promise<void> {
    const tokenSecretRef = { name: 'villa-token' };
    await home.apply(
      {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'villa-token', labels: { [`${API_GROUP}/hub`]: 'villa' } },
        stringData: { token: this.token },
      },
      { ...hub('villa'), spec: { external: { url, tokenSecretRef }, markManaged: false } },
    );
    await home.ready('hub', 'villa');
  }

  async dispose(): Promise<void> {
    await this.process.dispose();
    await rm(this.folder, { recursive: true });
  }
}

/**
 * Writes the file in which the hub keeps its core settings. Without this file it has the settings of a fresh
 * hub.
 */
async function setLanguage(configDir: string, language: string): Promise<void> {
  const data = {
    latitude: 52.37,
    longitude: 4.89,
    elevation: 0,
    unit_system_v2: 'metric',
    location_name: 'Home',
    time_zone: 'Europe/Berlin',
    external_url: null,
    internal_url: null,
    currency: 'EUR',
    country: null,
    language,
    radius: 100,
  };
  const stored = { version: 1, minor_version: 4, key: 'core.config', data };
  await writeFile(join(configDir, '.storage', 'core.config'), JSON.stringify(stored));
}
