import { sourceFiles } from './sources';

/** A comment in code: the line in which it begins, and its text without the comment marks. */
interface Comment {
  readonly line: number;
  readonly text: string;
}

const PRONOUN = /^(It|Its|They|Their|These|Those|This is|He|His)\b/;
const NO_SUBJECT = /^(Of|The same)\b/;
const CLAUSE = /\bwhat (it|the|is|was)\b/i;

const forms = [
  ['begins with a pronoun: name the subject', PRONOUN],
  ['begins with “Of” or “The same”: name the subject', NO_SUBJECT],
  ['has a clause “what it/the/is/was …”: use a noun', CLAUSE],
] as const;

const files = [
  ...sourceFiles(
    'operator',
    'cli',
    'sandbox',
    'manifests',
    'deploy',
    'release',
    'bench',
    '__tests__',
    'main.ts',
  ),
].filter(([name]) => /\.(ts|mjs|py)$/.test(name) && !name.endsWith('comment-forms.test.ts'));

const comments = files.flatMap(([file, text]) =>
  commentsOf(text, file.endsWith('.py') ? '#' : '//').map((comment) => ({ file, ...comment })),
);

describe('comments', () => {
  test.each(forms)('none %s', (_, form) => {
    const found = comments.filter(({ text }) => form.test(text));
    expect(found.map(({ file, line, text }) => `${file}:${line}: ${text}`)).toEqual([]);
  });

  test('are found in each of their forms', () => {
    const code = [
      '/** One. */',
      'const a = "// none"; // two',
      '  // three',
      '  // goes on',
      '/**',
      ' * Four',
      ' * goes on.',
      ' *',
      ' * @param b five',
      ' */',
    ];
    expect(commentsOf(code.join('\n'), '//')).toEqual([
      { line: 1, text: 'One.' },
      { line: 2, text: 'two' },
      { line: 3, text: 'three goes on' },
      { line: 5, text: 'Four goes on. @param b five' },
    ]);
    expect(commentsOf('x = 1  # one\n# two', '#')).toEqual([
      { line: 1, text: 'one' },
      { line: 2, text: 'two' },
    ]);
  });
});

function commentsOf(code: string, mark: '//' | '#'): Comment[] {
  const whole = new RegExp(`^\\s*${mark} ?(.*)$`);
  const trailing = new RegExp(`[^\\s'"\`:]\\s+${mark} ([^'"\`]*)$`);
  const found: { line: number; parts: string[] }[] = [];
  let open: { line: number; parts: string[] } | undefined;
  let isBlock = false;
  code.split('\n').forEach((text, index) => {
    const begun = isBlock ? undefined : /^\s*\/\*+ ?(.*)$/.exec(text)?.[1];
    const part = isBlock ? text.replace(/^\s*\*? ?/, '') : (begun ?? whole.exec(text)?.[1]);
    if (part === undefined) {
      open = undefined;
      const end = trailing.exec(text)?.[1];
      if (end !== undefined) found.push({ line: index + 1, parts: [end] });
      return;
    }
    if (begun !== undefined || !open) found.push((open = { line: index + 1, parts: [] }));
    if (begun !== undefined) isBlock = true;
    open.parts.push(part);
    if (isBlock && /\*\/\s*$/.test(text)) {
      isBlock = false;
      open = undefined;
    }
  });
  return found.map(({ line, parts }) => ({
    line,
    text: parts
      .join(' ')
      .replace(/\*?\*?\/\s*$/, '')
      .replace(/\s+/g, ' ')
      .trim(),
  }));
}
