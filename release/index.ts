import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '../sandbox/image/bundle';
import { defaultProgress, runSteps } from '../sandbox/progress';
import { formatError } from '../sandbox/sandbox-error';
import { type Artifacts, makeArtifacts } from './artifacts';
import { notesOf, withSection } from './changelog';
import { checkArtifacts } from './checks';
import { recordCrds } from './record-crds';
import { type Run, runIn } from './run';
import { readReleaseSettings, type ReleaseSettings } from './settings';
import { setVersion, versionMistake } from './version';

/**
 * `make release`: creates the files of `build/release/`, which a release publishes with its image. Also
 * changes the files that are committed with the release: the version, `dist/` with the image by digest,
 * CHANGELOG.md, and the CRDs with which later versions are compared. A second run gives the same result.
 *
 * `--version-only` is `make version`. The image is built after the version is set, and the other steps need
 * the digest of the image.
 */
async function main(args: readonly string[]): Promise<void> {
  const run = runIn(repository);
  await (args.includes('--version-only') ? setVersionOnly(run) : release(run));
}

async function release(run: Run): Promise<void> {
  const settings = readReleaseSettings(process.env);
  const { version, image } = settings;
  let notes = '';
  let artifacts: Artifacts;
  await runSteps(
    [
      {
        title: 'Setting the version',
        run: () => setVersionInFiles(version, run),
      },
      {
        title: 'Writing dist/, imports/ and the reference',
        // `make` would install all packages again, because the version has changed their manifests.
        run: async () =>
          void (await run('Writing dist/', ['npm', 'run', 'synth'], { env: { IMAGE: image } })),
      },
      {
        title: 'Writing CHANGELOG.md and recording the CRDs',
        run: async () => {
          notes = await writeChangelog(settings, run);
          await recordCrds(repository);
        },
      },
      {
        title: 'Making build/release/',
        run: async (report) => {
          artifacts = await makeArtifacts(repository, { version, notes }, run, report);
        },
      },
      {
        title: 'Trying what was made',
        run: (report) => checkArtifacts(artifacts, settings, run, report),
      },
    ],
    defaultProgress(),
  );
  console.log(nextSteps(version));
}

const nextSteps = (version: string): string => `
build/release/ is complete. To publish it:
  git commit --all --message 'Release ${version}' && git tag v${version} && git push --follow-tags
docs/contributing/before-a-release.md lists what a person tries first.`;

async function setVersionOnly(run: Run): Promise<void> {
  const version = process.env['VERSION'] ?? '';
  const mistake = versionMistake(version);
  if (mistake !== undefined) throw new Error(mistake);
  await setVersionInFiles(version, run);
}

/** Returns the version. */
async function setVersionInFiles(version: string, run: Run): Promise<string> {
  await setVersion(repository, version, await textsWithVersion(run));
  return version;
}

/** Adds the section of the release to CHANGELOG.md. Returns its notes. */
async function writeChangelog({ version, notesFile }: ReleaseSettings, run: Run): Promise<string> {
  const notes = notesFile
    ? (await readFile(notesFile, 'utf8')).trim()
    : notesOf(await subjectsSinceRelease(run, version));
  const file = join(repository, 'CHANGELOG.md');
  const date = (await run('Reading the date of the commit', ['git', 'log', '-1', '--format=%cs'])).trim();
  const changelog = withSection(await readFile(file, 'utf8'), { version, date, notes });
  await writeFile(file, changelog);
  return notes;
}

/** Returns the pages, tests of pages, and samples. These files name the image by its tag. */
async function textsWithVersion(run: Run): Promise<string[]> {
  const listed = await run('Listing the pages', [
    'git',
    'ls-files',
    'README.md',
    'docs',
    'samples',
    '__tests__/integration/docs',
  ]);
  return listed.split('\n').filter((name) => /\.(md|ya?ml|ts)$/.test(name));
}

/**
 * Returns the subjects of the commits since the last release, or one sentence if there is no earlier release.
 */
async function subjectsSinceRelease(run: Run, version: string): Promise<string[]> {
  const tags = await run('Looking for the last release', [
    'git',
    'tag',
    '--list',
    'v*',
    '--merged=HEAD',
    '--sort=-v:refname',
  ]);
  const last = tags.split('\n').find((tag) => tag !== '' && tag !== `v${version}`);
  if (last === undefined) return ['The first release'];
  const subjects = await run('Reading the commits', [
    'git',
    'log',
    '--no-merges',
    '--format=%s',
    `${last}..HEAD`,
  ]);
  return subjects.split('\n').filter((subject) => subject !== '');
}

main(process.argv.slice(2)).then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`\n${formatError(error)}`);
    process.exit(1);
  },
);
