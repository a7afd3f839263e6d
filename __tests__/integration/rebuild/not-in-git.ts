import type { Difference } from './differences';

/** A part of a home that is not in Git, and the way to have it again. */
interface Exception {
  /** The paths of its differences. */
  readonly path: RegExp;
  readonly part: string;
  readonly instead: string;
}

/** All that a home has after it was set up again from its files, and that is not as before. */
const NOT_IN_GIT: readonly Exception[] = [
  {
    path: /^scene\/[^/]+\/metadata/,
    part: 'Which entities of a scene its editor lists without their device',
    instead: 'The scene does the same without it.',
  },
  {
    path: /^category of /,
    part: 'Icons of categories, and categories that nothing is in',
    instead: 'A category is made when something needs it. Give it its icon in the hub.',
  },
  {
    path: /^(entity\/)?tag[/.]/,
    part: 'Tags',
    instead: 'A scan of the tag adds it again. Give it its name in the hub.',
  },
  {
    path: /^dashboard\//,
    part: 'Dashboards that were made in the UI',
    instead: 'Write them in YAML, as files of the HubConfiguration, or restore a backup.',
  },
  {
    path: /^user\//,
    part: 'Users and their passwords, but for the owner whom the operator makes',
    instead: 'Add them in the hub, or restore a backup.',
  },
  {
    path: /^core settings\//,
    part: 'Name, place, language and units of the home, on an external hub',
    instead: '`bootstrap` of a Hub in the cluster sets them.',
  },
];

/** What a snapshot cannot see, since the hub has no list of it. */
const UNSEEN: readonly Pick<Exception, 'part' | 'instead'>[] = [
  {
    part: 'Secrets: passwords and tokens of integrations',
    instead: 'They are in Secrets of the cluster, which the HubIntegration names.',
  },
  {
    part: 'Integrations that need a login in the browser or a button on the device',
    instead: 'Add them in the hub: the HubIntegration adopts the entry.',
  },
  {
    part: 'History, statistics and states, such as the present value of a helper',
    instead: '[Restore a backup](../how-to/keep-data.md).',
  },
  { part: 'Media and `www`', instead: '[Restore a backup](../how-to/keep-data.md).' },
];

const row = ({ part, instead }: Pick<Exception, 'part' | 'instead'>) => `| ${part} | ${instead} |`;

/** The page docs/explanation/what-git-does-not-have.md. */
export const page = (): string => `# What Git does not have

For people who keep their home in Git: the parts that a hub lacks after it was set up again from the files.

A test makes a home as the UI of the hub makes it, exports it, applies the files to an empty hub with the same integrations, and
compares every list of both hubs. It does so in English and in German.

Ids that the hub draws by chance differ, and so do times. All else is equal, except for these parts:

| Part | Instead |
| --- | --- |
${[...NOT_IN_GIT, ...UNSEEN].map(row).join('\n')}

Applied to the hub of the export, the same files write nothing.

<!-- The test of a rebuild compares this page with its list of differences. -->
`;

/** Differences that no exception names. */
export const unexpected = (found: readonly Difference[]): readonly Difference[] =>
  found.filter(({ path }) => !NOT_IN_GIT.some((exception) => exception.path.test(path)));

/** Exceptions without a difference: they are in Git. */
export const unused = (found: readonly Difference[]): readonly string[] =>
  NOT_IN_GIT.filter((exception) => !found.some(({ path }) => exception.path.test(path))).map(
    ({ part }) => part,
  );
