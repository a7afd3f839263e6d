import type { CaseResult, RunResult } from '../result';
import { faultLines } from './fault';
import { timelineOf } from './timeline';

/**
 * The JUnit report for a CI server. Each case is a test case; its failure is the first fault, and its output
 * is the timeline. A definition that the hub does not load is a test case with an error.
 */
export function junitReport({ cases, refused }: RunResult): string {
  const files = [...new Set(cases.map(({ file }) => file))];
  const suites = files.map((file) =>
    suite(
      file,
      cases.filter((each) => each.file === file),
    ),
  );
  const loads = refused.map(
    ({ entity, message }) =>
      `    <testcase classname="load" name=${attribute(entity)}><error message=${attribute(message)}/></testcase>\n`,
  );
  const load =
    loads.length === 0
      ? ''
      : `  <testsuite name="load" tests="${loads.length}" failures="0" errors="${loads.length}">\n${loads.join('')}  </testsuite>\n`;
  const head = `tests="${cases.length + loads.length}" failures="${cases.filter(hasFailed).length}" errors="${loads.length}" time="${secondsOf(cases)}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="hub test" ${head}>\n${load}${suites.join('')}</testsuites>\n`;
}

const hasFailed = ({ faults }: CaseResult): boolean => faults.length > 0;

const secondsOf = (cases: readonly CaseResult[]): string =>
  cases.reduce((all, { realSeconds }) => all + realSeconds, 0).toFixed(3);

function suite(file: string, cases: readonly CaseResult[]): string {
  const head = `name=${attribute(file)} tests="${cases.length}" failures="${cases.filter(hasFailed).length}" errors="0" time="${secondsOf(cases)}"`;
  return `  <testsuite ${head}>\n${cases.map(testCase).join('')}  </testsuite>\n`;
}

function testCase(result: CaseResult): string {
  const { file, test, faults, warnings, realSeconds } = result;
  const [first] = faults;
  const failure = first
    ? `      <failure message=${attribute(first.message)} type=${attribute(first.kind)}>${text(
        faults.flatMap((each) => faultLines(each, file)).join('\n'),
      )}</failure>\n`
    : '';
  const log = warnings.length > 0 ? `      <system-err>${text(warnings.join('\n'))}</system-err>\n` : '';
  const out = `      <system-out>${text(timelineOf(result).join('\n'))}</system-out>\n`;
  const head = `classname=${attribute(file)} name=${attribute(test.name)} file=${attribute(file)} line="${test.line}" time="${realSeconds.toFixed(3)}"`;
  return `    <testcase ${head}>\n${failure}${out}${log}    </testcase>\n`;
}

/** Characters that an XML document may not contain, not even escaped. */
const NOT_XML = /[^\t\n\r\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

const text = (value: string): string =>
  value
    .replace(NOT_XML, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');

/** A quoted attribute value, in which line breaks are preserved. */
const attribute = (value: string): string =>
  `"${text(value).replaceAll('"', '&quot;').replaceAll('\n', '&#10;').replaceAll('\t', '&#9;')}"`;
