import { LineCounter, parseDocument } from 'yaml';
import { type BoundedTask, type BoundedTasks, runTwice } from '../../../operator/base/bounded-task';
import { isPlainYaml } from '../../../operator/base/plain-yaml';
import { lineIn, type Lines, linesOf } from '../../../operator/offline/lines';
import { syntaxMessage } from '../../../operator/offline/syntax-messages';

/** The value of a test file, with the lines of its parts. */
interface ReadFile {
  readonly value: unknown;
  readonly lines: Lines;
}

/** A message about a text that cannot be read, with the line. */
interface Unreadable {
  readonly line: number;
  readonly message: string;
}

/** Reads the text of a test file within limits of time and memory. */
export async function readTestText(texts: BoundedTasks, content: string): Promise<ReadFile | Unreadable> {
  const read = await runTwice(texts, testTextTask, content, '');
  if (read.type === 'done') return read.output;
  const message = `The file takes more ${read.exceeded} to read than a file may: write its anchors and aliases out, or split it.`;
  return { line: 1, message };
}

export const testTextTask: BoundedTask<string, ReadFile | Unreadable> = {
  name: 'parseTestFile',
  run: parseTestFile,
  inPlace: (content) => (isPlainYaml(content) ? parseTestFile(content) : undefined),
};

const SEVERAL =
  'A second document begins here, and a test file has one: write its cases into `tests` of the first one, or into a file of its own.';
const TAGGED = 'A value has a tag (!…), which a test file does not have: remove it.';

/** Parses a test file as YAML 1.2, in which `on` and `off` are words and `23:00` is a string. */
function parseTestFile(content: string): ReadFile | Unreadable {
  const counter = new LineCounter();
  const lineOf = lineIn(counter);
  const document = parseDocument(content, {
    version: '1.2',
    schema: 'core',
    lineCounter: counter,
    prettyErrors: false,
    logLevel: 'error',
  });
  const [error] = document.errors;
  if (error) {
    const message = error.code === 'MULTIPLE_DOCS' ? SEVERAL : syntaxMessage(error);
    return { line: counter.linePos(error.pos[0]).line, message };
  }
  const [warning] = document.warnings;
  if (warning) return { line: counter.linePos(warning.pos[0]).line, message: TAGGED };
  try {
    const value: unknown = document.toJS();
    const root = document.contents;
    return { value, lines: linesOf(root, root ? lineOf(root) : 1, { lineOf, whole: document }) };
  } catch (reason) {
    if (reason instanceof RangeError) throw reason; // stack overflow: counts as exceeded memory
    return { line: 1, message: syntaxMessage(reason) };
  }
}
