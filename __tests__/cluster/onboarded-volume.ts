import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { systemClock } from '../../operator/base/clock';
import { HubConnection } from '../../operator/client/connection/connection';
import { completeStep, createUser, LATER_STEPS } from '../../operator/client/setup/onboarding';
import { redactor } from '../../operator/client/connection/redact';
import { RestClient } from '../../operator/client/connection/rest';
import { createToken } from '../../operator/client/setup/tokens';
import { generateConfiguration } from '../../operator/sync/configuration/generate/generate';
import { PREPARE_CONFIG } from '../../operator/sync/hub-pod/scripts';
import { cached, contentKey } from '../../sandbox/cache';
import { PROVISIONER, STORAGE_CLASS } from '../../sandbox/node/names';
import { mustKubectl, sandboxDirectory } from '.';
import { configuration, DEFAULT_CONFIGURATION, type Home, hub, HUB_VERSION } from './home';
import { HubProcess } from './hub-process';
import { runPython } from './python-script';
import { silentLog } from './silent-log';

/** The volume of a hub after its onboarding. */
interface OnboardedVolume {
  /** A configuration directory that must only be copied. */
  readonly directory: string;
  /** A long-lived token of the owner. */
  readonly token: string;
}

const OWNER = { name: 'Owner', username: 'admin', password: 'correct horse', language: 'en' };

const YEARS_10 = 3650;

/**
 * Returns an onboarded volume, which is made once on a machine and kept in the cache of the sandbox. An
 * onboarding and a check of the configuration take longer than most tests. Other tests cover the onboarding
 * of fresh hubs.
 */
export async function onboardedVolume(): Promise<OnboardedVolume> {
  const generated = generateConfiguration({ configuration: DEFAULT_CONFIGURATION, hasSecrets: false });
  if (generated.type === 'invalid') throw new Error(generated.message);
  const text = generated.files['configuration.yaml']!;
  const installation = basename(process.env['HUB_SANDBOX_VENV']!);
  const key = contentKey([installation, HUB_VERSION, PREPARE_CONFIG, text, JSON.stringify(OWNER), '1']);
  const entry = await cached('onboarded', key, (partial) => make(partial, text));
  return { directory: join(entry, 'config'), token: await readFile(join(entry, 'token'), 'utf8') };
}

async function make(partial: string, text: string): Promise<void> {
  const config = join(partial, 'config');
  const mounted = { configuration: join(partial, 'configuration'), secrets: join(partial, 'secrets') };
  for (const directory of [config, ...Object.values(mounted)]) await mkdir(directory, { recursive: true });
  await writeFile(join(mounted.configuration, 'configuration.yaml'), text);
  const places = [
    config,
    mounted.configuration,
    mounted.secrets,
    join(partial, 'verdict'),
    join(partial, 'no'),
    '8123',
    join(partial, 'delivery'),
    join(partial, 'parts'),
  ];
  const { code, output } = await runPython(PREPARE_CONFIG, ...places);
  if (code !== 0) throw new Error(`the default configuration of the tests is not accepted: ${output}`);
  const hub = await HubProcess.create(config);
  try {
    await hub.start();
    const token = await onboard(hub);
    await hub.running(token);
    await hub.stop();
    await rm(config, { recursive: true });
    // Without secrets this link is dangling, and the copy would fail.
    await rm(join(hub.configDir, 'secrets.yaml'), { force: true });
    // Copies contents instead of links, because the links of the init container lead to its own mounts.
    await cp(hub.configDir, config, { recursive: true, dereference: true });
    await writeFile(join(partial, 'token'), token);
  } finally {
    await hub.dispose();
  }
  // The file stores the port, and a copy has to listen on another one.
  await rm(join(config, '.storage', 'http'));
  for (const leftover of ['.ha_run.lock', 'printed.log']) await rm(join(config, leftover), { force: true });
}

async function onboard(hub: HubProcess): Promise<string> {
  const rest = new RestClient({ url: hub.url, clock: systemClock, redact: redactor([]) });
  const login = await createUser(rest, OWNER);
  if (!login) throw new Error('the hub is not fresh');
  const connection = new HubConnection({
    rest,
    token: login.accessToken,
    clock: systemClock,
    log: silentLog,
  });
  const token = await createToken(connection, { owner: 'tests', lifespanDays: YEARS_10, clock: systemClock });
  connection.close();
  for (const step of LATER_STEPS) await completeStep(rest, step, login.accessToken);
  rest.close();
  return token;
}

/**
 * Gives the claim of the hub's volume, before the claim exists, an onboarded volume, and gives the Hub the
 * credentials of its owner, like a restore. Resolves with the directory of the volume.
 */
export async function restoreOnboarded(home: Home, hubName: string): Promise<string> {
  const { namespace } = home;
  const { directory } = await onboardedVolume();
  const name = `${namespace}-${hubName}`;
  const path = join(sandboxDirectory(), 'node', 'volumes', name);
  await cp(directory, path, { recursive: true });
  const volume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { 'pv.kubernetes.io/provisioned-by': PROVISIONER } },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '5Gi' },
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name: `${hubName}-config` },
      hostPath: { path, type: 'Directory' },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: STORAGE_CLASS,
    },
  };
  const { username, password } = OWNER;
  const credentials = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: `${hubName}-admin`, namespace },
    stringData: { username, password },
  };
  const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [volume, credentials] });
  await mustKubectl(['create', '--filename=-'], { input });
  return path;
}

/** Applies a Hub with an onboarded volume and its configuration. Resolves when the Hub is Ready. */
export async function startHub(home: Home, name: string, spec: object = {}): Promise<void> {
  await restoreOnboarded(home, name);
  await home.apply(hub(name, spec), configuration(name));
  await home.ready('hub', name);
}
