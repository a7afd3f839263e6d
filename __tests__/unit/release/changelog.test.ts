import { notesOf, sectionOf, withSection } from '../../../release/changelog';

const title = '# Changelog\n\nWhat changed.\n';
const of = (version: string, notes = 'Notes.') => ({ version, date: '2026-11-25', notes });

describe('withSection', () => {
  test('puts the newest release above the others', () => {
    const first = withSection(title, of('1.0.0', 'First.'));
    expect(withSection(first, of('1.1.0', '- Second.\n'))).toBe(
      '# Changelog\n\nWhat changed.\n\n## 1.1.0 (2026-11-25)\n\n- Second.\n\n## 1.0.0 (2026-11-25)\n\nFirst.\n',
    );
  });

  test('replaces the section of the same version and no other, so that a release can be made again', () => {
    const both = withSection(withSection(title, of('1.0.0-rc.1')), of('1.0.0'));
    const again = withSection(both, of('1.0.0', 'Corrected.'));
    expect(sectionOf(again, '1.0.0')).toBe('## 1.0.0 (2026-11-25)\n\nCorrected.');
    expect(sectionOf(again, '1.0.0-rc.1')).toContain('Notes.');
    expect(again.match(/^## /gm)).toHaveLength(2);
  });

  test('ends with unreleased changes of behaviour, also when the release is made again', () => {
    const changes = '### Changes of behaviour\n\n- A claim stays.\n\n- A Secret is refused.';
    const first = withSection(
      `${title}\n## Unreleased\n\n${changes}\n\n## 0.9.0 (2026-11-01)\n\nOld.\n`,
      of('1.0.0'),
    );
    expect(sectionOf(first, '1.0.0')).toBe(`## 1.0.0 (2026-11-25)\n\nNotes.\n\n${changes}`);
    expect(first.match(/^## .*/gm)).toEqual(['## 1.0.0 (2026-11-25)', '## 0.9.0 (2026-11-01)']);
    expect(withSection(first, of('1.0.0'))).toBe(first);
    expect(sectionOf(withSection(first, of('1.1.0')), '1.1.0')).toBe('## 1.1.0 (2026-11-25)\n\nNotes.');
  });

  test('has no section of a version that was not released', () => {
    expect(sectionOf(withSection(title, of('1.0.0')), '1.0')).toBeUndefined();
  });
});

describe('notesOf', () => {
  test('lists the commits that concern users', () => {
    const subjects = [
      'Zones are resources',
      'Tests of zones',
      'Merge branch x',
      'Format',
      'A test switch is gone',
    ];
    expect(notesOf(subjects)).toBe('- Zones are resources\n- A test switch is gone');
    expect(notesOf(['Lint'])).toBe('No change for users.');
  });
});
