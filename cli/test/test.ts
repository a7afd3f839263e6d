import type { BoundedTasks } from '../../operator/base/bounded-task';
import { isObject } from '../../operator/base/is-object';
import { isComparable, isLower, OLDEST_SUPPORTED } from '../../operator/base/hub-version';
import type { Finding } from '../../operator/offline/findings';
import { CommandError } from '../command-error';
import type { Environment } from '../environment';
import { type ExitCode, exitCodes } from '../exit-codes';
import { oneLine, type OutputOptions, printResult } from '../output';
import { withTexts } from '../with-texts';
import type { TestFile } from './file/compile';
import { readTestFile } from './file/test-file';
import { type DescribedHome, describeHome } from './home';
import { type HomeFiles, readHome } from './home-files';
import { checkVersion, chooseLaunch, type PythonOptions } from './launch';
import type { Request } from './protocol';
import { pullImage } from './pull-image';
import { runPython } from './python-program';
import { type CoverageResult, coverageOf } from './report/coverage';
import { resultData } from './report/data';
import { printFindings } from './report/findings';
import { junitReport } from './report/junit';
import { checkReport, writeReport } from './report/file';
import { caseLines, coverageLines, heading, notes, refusedLine, summary } from './report/text';
import { type CaseResult, ResultCollector, type RunResult } from './result';
import { loader, runnerModules } from './runner';
import { findTests, testsInAppliedFolders } from './test-paths';

export interface TestOptions extends OutputOptions, PythonOptions {
  readonly hub?: string;
  readonly namespace?: string;
  readonly only?: string;
  readonly timeline?: true;
  readonly coverage?: true;
  /** Least coverage for success, in percent. */
  readonly minCoverage?: number;
  readonly junit?: string;
}

/**
 * Runs the tests of the paths and prints the report.
 *
 * @throws CommandError, NotRead
 */
export async function runTests(
  paths: readonly string[],
  options: TestOptions,
  environment: Environment,
): Promise<ExitCode> {
  // The cases run only after `withTexts` has ended, because during it a signal ends this program immediately.
  const prepared = await withTexts(environment.clock, (texts) => prepare(paths, options, environment, texts));
  if ('run' in prepared) return prepared.run();
  await printFindings(prepared.findings, options, environment.terminal);
  return exitCodes.failure;
}

/** Reads all files. @returns the run, or the errors that prevent it */
async function prepare(
  paths: readonly string[],
  options: TestOptions,
  environment: Environment,
  texts: BoundedTasks,
): Promise<TestRun | { readonly findings: readonly Finding[] }> {
  const { tests, resources } = await findTests(paths);
  const home = await readHome(resources, options, () => environment.readStandardInput(), texts);
  const checked = await Promise.all(tests.map((path) => readTestFile(path, paths.includes(path), texts)));
  const findings = [...home.errors, ...checked.flatMap((each) => ('findings' in each ? each.findings : []))];
  if (findings.length > 0) return { findings };
  const files = chosenCases(
    checked.flatMap((each) => ('file' in each ? [each.file] : [])),
    options.only,
  );
  const warnings = await testsInAppliedFolders(tests, home.filesInFolders);
  const described = describeHome(home.manifests);
  return new TestRun(options, environment, home, described, files, warnings);
}

/** @throws CommandError no name matches */
function chosenCases(files: readonly TestFile[], only: string | undefined): readonly TestFile[] {
  if (only === undefined) return files;
  const pattern = patternOf(only);
  const chosen = files
    .map((file) => ({ ...file, cases: file.cases.filter(({ name }) => pattern.test(name)) }))
    .filter(({ cases }) => cases.length > 0);
  if (chosen.length === 0)
    throw new CommandError(
      `no case has ${only} in its name: ${files.flatMap(({ cases }) => cases).length} cases were found, leave out --only to run all`,
    );
  return chosen;
}

function patternOf(only: string): RegExp {
  try {
    return new RegExp(only);
  } catch {
    throw new CommandError(`--only ${only} is not a regular expression: check its brackets`);
  }
}

/** The secrets of all files. @throws CommandError two files have different values for one secret */
function secretsOf(files: readonly TestFile[]): Readonly<Record<string, string>> {
  const from = new Map<string, TestFile>();
  for (const file of files)
    for (const [key, value] of Object.entries(file.secrets)) {
      const other = from.get(key) ?? file;
      if (other.secrets[key] !== value)
        throw new CommandError(
          `the secret ${key} has one value in ${other.path} and another in ${file.path}: give it the same one, or run the files one by one`,
        );
      from.set(key, other);
    }
  return Object.fromEntries([...from].map(([key, { secrets }]) => [key, secrets[key]!]));
}

/** One run of all cases, and its report. */
class TestRun {
  private readonly collector: ResultCollector;
  private readonly warnings: string[];
  private lastFile: string | undefined;
  private hasHeading = false;

  constructor(
    private readonly options: TestOptions,
    private readonly environment: Environment,
    private readonly home: HomeFiles,
    private readonly described: DescribedHome,
    private readonly files: readonly TestFile[],
    warnings: readonly string[],
  ) {
    this.warnings = [...warnings];
    this.collector = new ResultCollector(files, (result) => this.showCase(result));
  }

  async run(): Promise<ExitCode> {
    const { clock, signal, terminal } = this.environment;
    const began = clock.monotonic();
    const { junit } = this.options;
    // Checked first: a run may take minutes, and must not be lost because of a misspelt file name.
    if (junit !== undefined) await checkReport(junit);
    const launch = await chooseLaunch(this.options, this.described.hub, {
      folder: __dirname,
      variables: process.env,
    });
    await pullImage(launch, signal, (text) => terminal.progress(text));
    terminal.progress('Starting Home Assistant');
    await runPython(launch, this.request(), {
      clock,
      signal,
      loader: loader(),
      onAnswer: (answer) => {
        this.collector.add(answer);
        if (answer.type === 'hub') this.useVersion(answer.version);
        this.showHeading();
      },
      current: () => this.collector.current,
      isComplete: () => this.collector.isComplete,
    });
    return this.finish(this.collector.result, (clock.monotonic() - began) / 1_000);
  }

  private get isTable(): boolean {
    return this.options.output === 'table';
  }

  private get coversAll(): boolean {
    return this.options.coverage === true || this.options.minCoverage !== undefined;
  }

  private request(): Request {
    const { timeline, junit } = this.options;
    return {
      modules: runnerModules(),
      home: { ...this.described.home, secrets: secretsOf(this.files) },
      files: this.files.map(({ secrets: _, ...file }) => file),
      options: { coverage: this.coversAll, timeline: timeline === true || junit !== undefined },
    };
  }

  /** @throws CommandError another version was requested */
  private useVersion(version: string): void {
    const { hubVersion } = this.options;
    const own = this.described.hub?.version;
    checkVersion(version, this.options);
    if (hubVersion === undefined && own !== undefined && isComparable(own) && own !== version)
      this.warnings.push(`The Hub has the version ${own}, and the tests run with ${version}.`);
    if (isLower(version, OLDEST_SUPPORTED))
      this.warnings.push(
        `Home Assistant ${version} is older than ${OLDEST_SUPPORTED}, the oldest one that is supported.`,
      );
  }

  /** The time zone for the heading, and the reason for it if no resource sets it. */
  private get place(): string {
    const { timezone, latitude } = this.described.home.hub;
    const source = this.described.hub ? '' : ', as there is no Hub resource';
    return `${timezone}${source}${latitude === undefined ? ', no location' : ''}`;
  }

  private get hubName(): string {
    const { namespace, hub } = this.home;
    return namespace === undefined ? hub : `${namespace}/${hub}`;
  }

  private showHeading(): void {
    if (this.hasHeading) return;
    this.hasHeading = true;
    if (!this.isTable) return;
    const { terminal } = this.environment;
    const { automations, scripts, scenes } = this.described.home;
    const { versions } = this.collector.result;
    terminal.print(
      heading({
        version: versions?.hub ?? '(unknown)',
        hub: this.hubName,
        place: this.place,
        automations: automations.length,
        scripts: Object.keys(scripts).length,
        scenes: scenes.length,
      }),
    );
  }

  private showCase(result: CaseResult): void {
    const { terminal } = this.environment;
    if (this.isTable) {
      if (result.file !== this.lastFile) terminal.print(this.titleOf(result.file));
      this.lastFile = result.file;
      const paint = terminal.paint.bind(terminal);
      terminal.print(caseLines(result, { paint, timeline: this.options.timeline === true }).join('\n'));
    }
    const { current } = this.collector;
    if (current !== undefined) terminal.progress(oneLine(`Running ${current}`));
  }

  private titleOf(path: string): string {
    const timezone = this.files.find((each) => each.path === path)?.hub?.timezone;
    return oneLine(timezone === undefined ? path : `${path} (${timezone})`);
  }

  private async finish(result: RunResult, seconds: number): Promise<ExitCode> {
    const { terminal } = this.environment;
    const coverage = this.coversAll ? coverageOf(result.coverage, this.described.definitions) : undefined;
    const { junit, minCoverage, timeline } = this.options;
    const lines = [
      ...this.warnings.map((each) => `warning: ${oneLine(each)}`),
      ...notes(result),
      ...(coverage ? coverageLines(coverage) : []),
      ...(coverage && minCoverage !== undefined && coverage.percent < minCoverage
        ? [`error: ${coverage.percent} % are covered, and --min-coverage is ${minCoverage}`]
        : []),
      ...result.refused.map((each) => refusedLine(each, this.placeOf(each.entity, each.name))),
      ...(result.cases.length > 0 ? [summary(result.cases, seconds)] : []),
    ];
    const { namespace, hub } = this.home;
    const place = {
      name: hub,
      ...(namespace !== undefined && { namespace }),
      timezone: this.described.home.hub.timezone!,
    };
    const more = {
      hub: place,
      warnings: this.warnings,
      timeline: timeline === true,
      ...(coverage && { coverage: { ...coverage, ...(minCoverage !== undefined && { minCoverage }) } }),
    };
    await printResult(terminal, this.options, resultData(result, more), () => lines.join('\n'));
    if (junit !== undefined) await writeReport(junit, junitReport(result));
    return this.exitCode(result, coverage);
  }

  /** The place of a definition in the files, by its id, its name, or its entity id. */
  private placeOf(entity: string, name: string): string | undefined {
    const [domain = ''] = entity.split('.');
    const { definitions } = this.described;
    const sameName = [...definitions].find(
      ([key, { object }]) =>
        key.startsWith(`${domain}.`) && isObject(object['spec']) && object['spec']['alias'] === name,
    );
    const found = definitions.get(`${domain}.${name}`) ?? sameName?.[1] ?? definitions.get(entity);
    return (
      found && `${found.file}:${found.lineOf(domain === 'configuration' ? ['spec', 'configuration'] : [])}`
    );
  }

  private exitCode({ cases, refused }: RunResult, coverage: CoverageResult | undefined): ExitCode {
    if (refused.length > 0) return exitCodes.failure;
    const tooLittle = (coverage?.percent ?? 100) < (this.options.minCoverage ?? 0);
    const failed = cases.some(({ faults }) => faults.length > 0);
    return failed || tooLittle ? exitCodes.negative : exitCodes.success;
  }
}
