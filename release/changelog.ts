/** What a section of CHANGELOG.md says. */
interface Section {
  readonly version: string;
  /** The day of the release, `2026-11-25`. */
  readonly date: string;
  /** Markdown. */
  readonly notes: string;
}

/** The heading of what has changed since the last release. */
const UNRELEASED = '## Unreleased\n';

/**
 * The text of a changelog with this section, above all others or in the place of one of the same version. What stored resources see
 * after the upgrade is written by hand, under "Changes of behaviour" of the section "Unreleased": it becomes the end of this section.
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

/** The section of a version. undefined: there is none. */
export function sectionOf(changelog: string, version: string): string | undefined {
  return changelog
    .split(/^(?=## )/m)
    .find((each) => each.startsWith(`## ${version} (`))
    ?.trim();
}

/** A list of the subjects of commits, without those that only merge or concern the repository itself. */
export function notesOf(subjects: readonly string[]): string {
  const ofUsers = subjects.filter(
    (subject) => !/^(Merge |Revert |Lint|Format|Tests?\b|Comments?\b)/.test(subject),
  );
  if (ofUsers.length === 0) return 'No change for users.';
  return ofUsers.map((subject) => `- ${subject}`).join('\n');
}
