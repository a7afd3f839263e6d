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
  // The prepack script of the package creates both bundles.
  await run('Packing the command line', ['npm', 'pack', '--pack-destination', folder], {
    cwd: join(source, 'cli'),
  });
  const packed = (await readdir(folder)).find((name) => name.startsWith('kubectl-hub'))!;
  if (packed !== cli) await rename(at(packed), at(cli));
  await copyFile(join(source, 'build', 'kubectl-hub.cjs'), at('kubectl-hub.cjs'));

  report('listing the packages of the bundles');
  const bundles = ['operator', 'kubectl-hub'];
  for (const bundle of bundles) {
    await run(
      'Listing the packages of the bundles',
      [
        join(source, 'node_modules', '.bin', 'cyclonedx-esbuild'),
        '--output-reproducible',
        '--output-file',
        at(`${bundle}.cdx.json`),
        join('build', `${bundle}.meta.json`),
      ],
      { cwd: source },
    );
  }

  await writeFile(at('NOTES.md'), `${notes}\n`);
  const files = (await readdir(folder)).sort();
  const sums = await Promise.all(
    files.map(async (name) => `${hexOf(digestOf(await readFile(at(name))))}  ${name}\n`),
  );
  await writeFile(at('SHA256SUMS'), sums.join(''));
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
