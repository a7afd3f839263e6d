import { readFileSync, statSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';

const repository = new URL('../..', import.meta.url).pathname;
const nameOf = (path) => relative(repository, path);

/**
 * A test sequencer for jest that runs the longest files first, so that no worker runs a long one alone at the
 * end. The file TEST_DURATIONS has the duration of each test file in its last run, in milliseconds. Test
 * files without a duration come first, sorted by size.
 */
export default class LongestFirst {
  sort(tests) {
    const durations = recorded();
    const rank = ({ path }) => durations[nameOf(path)] ?? 1e9 + statSync(path).size;
    return [...tests].sort((a, b) => rank(b) - rank(a));
  }

  /** jest calls this with the results of a run. */
  async cacheResults(_tests, { testResults }) {
    const file = process.env.TEST_DURATIONS;
    if (!file) return;
    const durations = recorded();
    for (const { testFilePath, perfStats, numFailingTests } of testResults)
      if (numFailingTests === 0 && perfStats.runtime > 0) durations[nameOf(testFilePath)] = perfStats.runtime;
    await mkdir(dirname(file), { recursive: true });
    await writeFile(`${file}.${process.pid}`, JSON.stringify(durations, undefined, 1));
    await rename(`${file}.${process.pid}`, file);
  }

  allFailedTests(tests) {
    return tests;
  }
}

function recorded() {
  try {
    return JSON.parse(readFileSync(process.env.TEST_DURATIONS ?? '', 'utf8'));
  } catch (error) {
    // The file does not exist yet, or a run was killed while it wrote the file. Any order is valid then.
    if (error.code !== 'ENOENT' && !(error instanceof SyntaxError)) throw error;
    return {};
  }
}
