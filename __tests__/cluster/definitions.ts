import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { kubectl, mustKubectl, until } from '.';
import { getObject } from './api';

/** CRDs of other projects, as they ship. Go keeps their modules in its cache. */
const modules = {
  certManager: {
    module: 'github.com/cert-manager/cert-manager@v1.19.1',
    folder: 'deploy/crds',
    names: ['cert-manager.io_certificates', 'cert-manager.io_issuers'],
  },
  gatewayApi: {
    module: 'sigs.k8s.io/gateway-api@v1.4.0',
    folder: 'config/crd/standard',
    names: ['gateway.networking.k8s.io_gateways', 'gateway.networking.k8s.io_httproutes'],
  },
} as const;

type Definitions = keyof typeof modules;

/** Installs the CRDs, without the controllers that would act on them. */
export async function install(definitions: Definitions): Promise<void> {
  const files = await filesOf(definitions);
  await mustKubectl(['apply', '--server-side', ...files]);
  // `kubectl wait` fails on a CRD that has no conditions yet.
  for (const name of modules[definitions].names) await established(name);
}

async function established(name: string): Promise<void> {
  const [group, plural] = name.split('_');
  await until(`${plural} are established`, async () => {
    const { status } = (await getObject('customresourcedefinition', '', `${plural}.${group}`)) as {
      status?: { conditions?: readonly { type: string; status: string }[] };
    };
    return status?.conditions?.some((each) => each.type === 'Established' && each.status === 'True');
  });
}

/** Removes the CRDs, and with them all objects of these kinds. */
export async function uninstall(definitions: Definitions): Promise<void> {
  // Waits until the CRDs are gone: an apply to one that is being deleted would succeed, and its deletion
  // would continue.
  await mustKubectl(['delete', '--ignore-not-found', '--timeout=180s', ...(await filesOf(definitions))]);
  const [first] = modules[definitions].names;
  const [group] = first.split('_');
  await until(`${group} is gone`, async () => (await kubectl(['get', '--raw', `/apis/${group}`])).code !== 0);
}

/** Returns the flags with which kubectl reads the CRD files. */
export async function filesOf(definitions: Definitions): Promise<string[]> {
  const { module, folder, names } = modules[definitions];
  const { stdout } = await promisify(execFile)('go', ['mod', 'download', '-json', module], {
    env: { ...process.env, GOFLAGS: '-mod=mod', GOWORK: 'off' },
    cwd: __dirname,
    maxBuffer: 1024 * 1024,
  });
  const { Dir: directory } = JSON.parse(stdout) as { Dir: string };
  const files = names.map((name) => join(directory, folder, `${name}.yaml`));
  await Promise.all(files.map((file) => readFile(file)));
  return files.map((file) => `--filename=${file}`);
}
