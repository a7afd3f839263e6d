/** The content of a section of CHANGELOG.md. */
interface Section {
  readonly version: string;
  /** The day of the release, such as `2026-11-25`. */
  readonly date: string;
  /** The notes of the release in Markdown. */
  readonly notes: string;
}

/** The heading of the changes since the last release. */
const UNRELEASED = '## Unreleased\n';

/**
 * Returns the changelog with this section, above all others or in place of one of the same version. The
 * effects of the upgrade on stored resources are written by hand, under "Changes of behaviour" of the section
 * "Unreleased". They become the end of this section.
 */
export function withSection(changelog: string, { version, date, notes }: Section): string {
  const sections = changelog.split(/^(?=## )/m);
  const isReplaced = (each: string): boolean =>
    each.startsWith(UNRELEASED) || each.startsWith(`## ${version} (`);
  const changes = sections
    .filter(isReplaced)
    .flatMap((each) => /^### Changes of behaviour$.*/ms.exec(each) ?? []);
  const section = [`## ${version} (${date})`, notes, ...changes].map((each) => each.trim()).join('\n\n');
  const others = sections.slice(1).filter((each) => !isReplaced(each));
  return `${[sections[0]!, section, ...others].map((each) => each.trim()).join('\n\n')}\n`;
}

/** Returns the section of a version, or undefined if the changelog has none. */
export function sectionOf(changelog: string, version: string): string | undefined {
  return changelog
    .split(/^(?=## )/m)
    .find((each) => each.startsWith(`## ${version} (`))
    ?.trim();
}

/**
 * Returns a list of the subjects of commits, without merges and without commits that concern only the
 * repository.
 */
export function notesOf(subjects: readonly string[]): string {
  const ofUsers = subjects.filter(
    (subject) => !/^(Merge |Revert |Lint|Format|Tests?\b|Comments?\b)/.test(subject),
  );
  if (ofUsers.length === 0) return 'No change for users.';
  return ofUsers.map((subject) => `- ${subject}`).join('\n');
}
