import { sourceFiles } from './sources';

// Readers of a page look for one thing. The page shows immediately whether it has it, and is short.

const LONGEST = 1_200; // words
const LONGEST_RULES = 8_500; // words of rules.md, in which contributors look up one rule
const LONGEST_AVERAGE = 30; // words of a paragraph
/** Pages that readers search by headings, like a reference. */
const references = ['docs/how-to/troubleshoot.md', 'docs/how-to/popular-integrations.md'];

const pages = [...sourceFiles('docs')].filter(
  ([name]) => name.endsWith('.md') && name !== 'docs/index.md' && !name.startsWith('docs/reference/'),
);

test('the first sentence of each page says for whom it is, and what it does', () => {
  const without = pages.filter(([, text]) => !/^# .+\n\nFor [^\n]+/.test(text));
  expect(pages.length).toBeGreaterThan(40);
  expect(without.map(([name]) => name)).toEqual([]);
});

test(`no tutorial or how-to page has more than ${LONGEST} words`, () => {
  const steps = pages.filter(
    ([name]) => /^docs\/(tutorial|how-to\/)/.test(name) && !references.includes(name),
  );
  const long = steps.map(([name, text]) => ({ name, words: wordsOf(text) }));
  expect(steps.length).toBeGreaterThan(25);
  expect(long.filter(({ words }) => words > LONGEST)).toEqual([]);
});

test(`the page of rules has at most ${LONGEST_RULES} words`, () => {
  const rules = pages.find(([name]) => name === 'docs/explanation/rules.md');
  expect(wordsOf(rules![1])).toBeLessThanOrEqual(LONGEST_RULES);
});

test('each page of some length has headings, by which its parts are found and linked', () => {
  const without = pages.filter(
    ([, text]) => text.split(/\s+/).length > 400 && !/^## /m.test(text.replace(/^```[^]*?^```/gm, '')),
  );
  expect(without.map(([name]) => name)).toEqual([]);
});

test(`the paragraphs of each page have at most ${LONGEST_AVERAGE} words on average`, () => {
  const all = [...sourceFiles('docs', 'README.md', 'CONTRIBUTING.md')].filter(([name]) =>
    name.endsWith('.md'),
  );
  const averages = all.map(([name, text]) => ({ name, words: averageOf(paragraphsOf(text)) }));
  expect(averages.length).toBeGreaterThan(60);
  expect(averages.filter(({ words }) => words > LONGEST_AVERAGE)).toEqual([]);
});

/** Returns the number of words of each paragraph: no heading, table, list, quotation or code. */
const paragraphsOf = (text: string): readonly number[] =>
  text
    .replace(/^---\n[^]*?\n---\n/, '')
    .replace(/^ *```[^]*?^ *```/gm, '')
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .filter((block) => block !== '' && !/^(?:[#|<>:*-]|\d+\.)/.test(block))
    .map((block) => wordsOf(block));

const wordsOf = (text: string): number => text.split(/\s+/).filter(Boolean).length;

const averageOf = (counts: readonly number[]): number =>
  counts.length === 0 ? 0 : counts.reduce((sum, count) => sum + count, 0) / counts.length;
