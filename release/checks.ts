import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { helmProgram } from '../sandbox/helm';
import { startSandbox } from '../sandbox';
import { sandboxKubectl } from '../sandbox/operator-process';
import type { Report } from '../sandbox/progress';
import type { Artifacts } from './artifacts';
import type { Run } from './run';

/**
 * Tries each file of a release as users do.
 * @throws Error for the first file that cannot be used
 */
export async function checkArtifacts(
  artifacts: Artifacts,
  { version, image }: { readonly version: string; readonly image: string },
  run: Run,
  report: Report,
): Promise<void> {
  report('the checksums');
  await run('Checking the checksums', ['sha256sum', '--check', '--strict', artifacts.checksums], {
    cwd: artifacts.folder,
  });
  report('the SBOMs');
  for (const sbom of artifacts.sboms) await checkSbom(sbom);
  report('the command line');
  await checkCommandLine(artifacts, version, run);
  report('the chart');
  const helm = await helmProgram(report);
  await run('Linting the chart', [helm, 'lint', '--strict', artifacts.chart]);
  const rendered = await run('Rendering the chart', [
    helm,
    'template',
    'hub-operator',
    artifacts.chart,
    '--kube-version',
    '1.36.0',
  ]);
  demandImage('the chart', rendered, image);
  report('the manifests, in a control plane');
  await applyManifests(artifacts, image);
}

async function checkSbom(file: string): Promise<void> {
  const { bomFormat, components } = JSON.parse(await readFile(file, 'utf8')) as {
    bomFormat?: string;
    components?: unknown[];
  };
  if (bomFormat !== 'CycloneDX' || !components?.length)
    throw new Error(`cannot use ${file}: it lists no packages`);
}

/** Installs the package like npm, without a registry, and runs it. */
async function checkCommandLine(
  { cliPackage, cliBundle }: Artifacts,
  version: string,
  run: Run,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'release-'));
  try {
    const npm = [
      'npm',
      'install',
      '--offline',
      '--no-audit',
      '--no-fund',
      '--prefix',
      folder,
      cliPackage,
    ] as const;
    await run('Installing the package of the command line', npm, { cwd: folder });
    const commands: [string, ...string[]][] = [
      [join(folder, 'node_modules', '.bin', 'kubectl-hub')],
      [process.execPath, cliBundle],
    ];
    for (const command of commands) {
      const printed = await run('Running the command line', [...command, '--version'], { cwd: folder });
      if (printed.trim() !== version)
        throw new Error(`cannot use ${command.at(-1)}: it says version ${printed.trim()}, not ${version}`);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function applyManifests({ crds, install, installNamespaced }: Artifacts, image: string): Promise<void> {
  const sandbox = await startSandbox({ progress: 'silent' });
  try {
    const apply = (file: string, ...args: string[]) =>
      sandboxKubectl(sandbox, ['apply', '--server-side', ...args, '-f', file]);
    await apply(crds);
    await apply(install, '--force-conflicts');
    await apply(installNamespaced, '--dry-run=server', '--force-conflicts');
    const deployments = await sandboxKubectl(sandbox, [
      'get',
      'deployments',
      '--all-namespaces',
      '--output=jsonpath={.items[*].spec.template.spec.containers[*].image}',
    ]);
    demandImage('install.yaml', deployments, image);
  } finally {
    await sandbox.stop();
  }
}

function demandImage(what: string, text: string, image: string): void {
  if (!text.includes(image)) throw new Error(`cannot publish ${what}: it does not name ${image}`);
}
