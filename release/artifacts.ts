import { copyFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { digestOf, hexOf } from '../sandbox/image/layer';
import type { Report } from '../sandbox/progress';
import { archiveOf } from './archive';
import type { Run } from './run';

/** The folder of the published files, relative to the folder of the sources. */
const ARTIFACTS = join('build', 'release');

const names = (version: string) => ({
  chart: `hub-operator-${version}.tgz`,
  cli: `kubectl-hub-${version}.tgz`,
});

/** The paths of the files of a release. */
export interface Artifacts {
  /** The folder that contains all following files. */
  readonly folder: string;
  /** Copies of `dist/install.yaml` and `dist/namespaced/install.yaml`. */
  readonly install: string;
  readonly installNamespaced: string;
  readonly crds: string;
  /** Archive of `dist/chart`. */
  readonly chart: string;
  /** The bundle of the command line, and the npm package that contains the bundle. */
  readonly cliBundle: string;
  readonly cliPackage: string;
  /** SBOMs in the format CycloneDX. Each lists the packages that one of the two bundles consists of. */
  readonly sboms: readonly string[];
  readonly notes: string;
  /** Checksums in the format of `sha256sum --check`. */
  readonly checksums: string;
}

/** Creates the files of a release from `dist/` and the sources. The same sources give the same bytes. */
export async function makeArtifacts(
  source: string,
  { version, notes }: { readonly version: string; readonly notes: string },
  run: Run,
  report: Report,
): Promise<Artifacts> {
  const folder = join(source, ARTIFACTS);
  const { chart, cli } = names(version);
  const at = (name: string) => join(folder, name);
  const dist = (...path: string[]) => join(source, 'dist', ...path);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });

  report('copying the manifests');
  await copyFile(dist('install.yaml'), at('install.yaml'));
  await copyFile(dist('namespaced', 'install.yaml'), at('install-namespaced.yaml'));
  await copyFile(dist('crds.yaml'), at('crds.yaml'));
  await writeFile(at(chart), await archiveOf(dist('chart'), 'hub-operator'));

  report('packing the command line');
  await packCommandLine(source, folder, cli, run);
  await copyFile(join(source, 'build', 'kubectl-hub.cjs'), at('kubectl-hub.cjs'));

  report('listing the packages of the bundles');
  const bundles = ['operator', 'kubectl-hub'];
  for (const bundle of bundles) await listPackages(source, bundle, at(`${bundle}.cdx.json`), run);

  await writeFile(at('NOTES.md'), `${notes}\n`);
  await writeFile(at('SHA256SUMS'), await checksumsOf(folder));
  return {
    folder,
    install: at('install.yaml'),
    installNamespaced: at('install-namespaced.yaml'),
    crds: at('crds.yaml'),
    chart: at(chart),
    cliBundle: at('kubectl-hub.cjs'),
    cliPackage: at(cli),
    sboms: bundles.map((bundle) => at(`${bundle}.cdx.json`)),
    notes: at('NOTES.md'),
    checksums: at('SHA256SUMS'),
  };
}

/** Makes the npm package of the command line, whose prepack script creates both bundles. */
async function packCommandLine(source: string, folder: string, name: string, run: Run): Promise<void> {
  await run('Packing the command line', ['npm', 'pack', '--pack-destination', folder], {
    cwd: join(source, 'cli'),
  });
  const packed = (await readdir(folder)).find((each) => each.startsWith('kubectl-hub'))!;
  if (packed !== name) await rename(join(folder, packed), join(folder, name));
}

/** Writes the SBOM of a bundle. */
async function listPackages(source: string, bundle: string, file: string, run: Run): Promise<void> {
  await run(
    'Listing the packages of the bundles',
    [
      join(source, 'node_modules', '.bin', 'cyclonedx-esbuild'),
      '--output-reproducible',
      '--output-file',
      file,
      join('build', `${bundle}.meta.json`),
    ],
    { cwd: source },
  );
}

async function checksumsOf(folder: string): Promise<string> {
  const files = (await readdir(folder)).sort();
  const sums = await Promise.all(
    files.map(async (name) => `${hexOf(digestOf(await readFile(join(folder, name))))}  ${name}\n`),
  );
  return sums.join('');
}
