import { isTestFile } from '../../../operator/offline/files';
import type { HubClient } from '../../../operator/client/hub-client';
import type { Manifest } from '../../../operator/offline/manifests';
import { blueprint, configuration, hub as hubKind, kindsByName } from '../../../operator/kinds';
import type { CustomResource } from '../../../operator/kinds/resource';
import type { ClusterObject } from '../../../operator/runtime/objects';
import { builtin } from '../../../operator/runtime/types';
import { basename } from 'node:path';
import type { Cluster } from '../../cluster';
import { CommandError } from '../../command-error';
import type { Environment } from '../../environment';
import { type ExitCode, exitCodes } from '../../exit-codes';
import { openHub } from '../../hub/access';
import { printResult } from '../../output';
import { hubNameOf } from '../../status/causes';
import { withTexts } from '../../with-texts';
import { describeHome } from '../home';
import { type HomeFiles, readHome } from '../home-files';
import { checkVersion, chooseLaunch } from '../launch';
import { pullImage } from '../pull-image';
import { printFindings } from '../report/findings';
import type { TestOptions } from '../test';
import { compareCalls } from './compare-calls';
import { readHistory } from './history';
import { play } from './play';
import { entitiesReadBy } from './read-entities';
import { isNew, recordLines, type RecordReport } from './report';
import { readRunningHub, type RunningHub } from './running-hub';
import { type Sides, sidesOf, withoutBlueprints } from './sides';

export interface RecordOptions extends TestOptions {
  /** Length of the history in milliseconds. */
  readonly record: number;
  /** Entity ids, separated by commas. */
  readonly leaveOut?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Options of tests that cannot be combined with a history. */
const OF_TESTS = ['only', 'timeline', 'coverage', 'minCoverage', 'junit'] as const;

/**
 * Plays the history of a hub against its current definitions and against those of the files, and prints how
 * the calls differ.
 *
 * @throws CommandError, NotRead, HubError
 */
export async function compareWithRecord(
  paths: readonly string[],
  options: RecordOptions,
  environment: Environment,
): Promise<ExitCode> {
  const excluded = OF_TESTS.find((name) => options[name] !== undefined);
  if (excluded !== undefined)
    throw new CommandError(
      `--record and --${excluded.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`)} exclude each other: a history has no cases`,
    );
  const test = paths.find((path) => isTestFile(basename(path)));
  if (test !== undefined)
    throw new CommandError(
      `--record plays a history, and no cases: leave out ${test}, or run it without --record`,
    );
  const files = await withTexts(environment.clock, (texts) =>
    readHome(paths, options, () => environment.readStandardInput(), texts),
  );
  if (files.errors.length > 0) {
    await printFindings(files.errors, options, environment.terminal);
    return exitCodes.failure;
  }
  const cluster = environment.connect({ ...options, ...(files.namespace && { namespace: files.namespace }) });
  try {
    return await new Recording(files, options, environment, cluster).run();
  } finally {
    cluster.close();
  }
}

/** The entities that the option `--leave-out` excludes. */
const leftOut = ({ leaveOut }: RecordOptions): readonly string[] =>
  (leaveOut ?? '').split(',').flatMap((each) => each.trim() || []);

class Recording {
  private readonly progress: (text: string) => void;

  constructor(
    private readonly files: HomeFiles,
    private readonly options: RecordOptions,
    private readonly environment: Environment,
    private readonly cluster: Cluster,
  ) {
    this.progress = (text) => environment.terminal.progress(text);
  }

  async run(): Promise<ExitCode> {
    const { environment, options, files } = this;
    const { terminal } = environment;
    const inCluster = describeHome(await this.resourcesInCluster());
    const hub = await openHub(this.cluster, files.hub, environment.clock);
    const read = await this.read(hub.client, inCluster).finally(() => hub.close());
    const launch = await chooseLaunch(
      options,
      { ...inCluster.hub, version: read.running.version },
      { folder: __dirname, variables: process.env },
    );
    await pullImage(launch, environment.signal, this.progress);
    const sides = [
      [read.sides.before, 'the hub as it is'],
      [read.sides.after, 'the hub with these files'],
    ] as const;
    const played = [];
    for (const [home, description] of sides) {
      const { history } = read.recorded;
      const result = await play(launch, { home, history, placed: read.placed, description }, environment);
      checkVersion(result.versions.hub, options);
      played.push(result);
    }
    const report = this.report(read, played[0]!, played[1]!);
    await printResult(terminal, options, report, () =>
      recordLines(report, terminal.paint.bind(terminal)).join('\n'),
    );
    if (report.refused.after.some((each) => isNew(each, report))) return exitCodes.failure;
    return report.differences.length > 0 ? exitCodes.negative : exitCodes.success;
  }

  /** The resources of the Hub that are stored in the cluster. */
  private async resourcesInCluster(): Promise<readonly Manifest[]> {
    const { hub } = this.files;
    const all = [...(await this.cluster.listAll()).values()].flat();
    const ofHub = all.filter(
      (each) => (each.kind === hubKind.kind ? each.metadata.name : hubNameOf(each)) === hub,
    );
    return [...ofHub, ...(await this.configMapsOf(ofHub))].map((each) => ({
      file: 'cluster',
      object: each as unknown as Manifest['object'],
      lineOf: () => 1,
    }));
  }

  /** The ConfigMaps to which `spec.filesFrom` and HubBlueprints refer. */
  private async configMapsOf(resources: readonly CustomResource[]): Promise<readonly ClusterObject[]> {
    const references = resources
      .filter(({ kind }) => [configuration.kind, blueprint.kind].some((each) => each === kind))
      .flatMap((each) => kindsByName.get(each.kind)!.references(each))
      .filter(({ kind }) => kind === builtin.ConfigMap.kind);
    const found = await Promise.all(
      references.map(({ name }) => this.cluster.api.find(builtin.ConfigMap, this.cluster.namespace, name)),
    );
    return found.flatMap((each) =>
      each ? [{ ...each, apiVersion: 'v1', kind: builtin.ConfigMap.kind }] : [],
    );
  }

  private async read(client: HubClient, inCluster: ReturnType<typeof describeHome>) {
    const { environment, options, files } = this;
    const running = await readRunningHub(client, files.hub, this.progress);
    const { removed, ...given } = sidesOf(running, inCluster, describeHome(files.manifests));
    const sides: Sides = {
      before: await withoutBlueprints(client, given.before),
      after: await withoutBlueprints(client, given.after),
      removed,
    };
    const named = entitiesReadBy([sides.before, sides.after], running.entities);
    const entities = named.filter((each) => !leftOut(options).includes(each));
    const recorded = await readHistory(client.rest, {
      entities,
      until: environment.clock.now() + (client.rest.clockOffset ?? 0) * 1_000,
      period: options.record,
      signal: environment.signal,
      progress: this.progress,
    });
    return { running, sides, recorded, placed: placedIn(running) };
  }

  private report(
    { running, sides, recorded }: Awaited<ReturnType<Recording['read']>>,
    before: Awaited<ReturnType<typeof play>>,
    after: Awaited<ReturnType<typeof play>>,
  ): RecordReport {
    const { from, to, entities } = recorded.history;
    return {
      hub: {
        name: this.files.hub,
        namespace: this.cluster.namespace,
        timezone: running.location.timezone ?? 'UTC',
        version: running.version,
        simulated: after.versions.hub,
      },
      period: {
        from: localIn(running.location.timezone, from),
        to: localIn(running.location.timezone, to),
        seconds: Math.round(to - from),
      },
      history: {
        changes: recorded.changes,
        entities: Object.keys(entities),
        without: [...recorded.without, ...leftOut(this.options)],
        unknown: after.withoutState.filter((each) => !running.entities.includes(each)),
        openLoop: true,
      },
      calls: { before: before.calls.length, after: after.calls.length },
      ...compareCalls(before.calls, after.calls),
      removed: sides.removed,
      refused: { before: before.refused, after: after.refused },
      notCompared: running.notExpressed,
      unsimulated: [...new Set([...before.unsimulated, ...after.unsimulated])].sort(),
      silentTriggers: after.silentTriggers,
      warnings: after.warnings.filter((each) => !before.warnings.includes(each)),
    };
  }
}

/**
 * Areas and labels of entities, without those of automations, scripts and scenes, which the simulation does
 * not use.
 */
const placedIn = ({ placed }: RunningHub): RunningHub['placed'] =>
  Object.fromEntries(
    Object.entries(placed).filter(([entity]) => !/^(automation|scene|script)\./.test(entity)),
  );

/** Formats epoch seconds like the Python program: `2026-11-02T19:09:00.000+01:00`. */
function localIn(timeZone: string | undefined, epoch: number): string {
  const options: Intl.DateTimeFormatOptions = {
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hourCycle: 'h23',
    timeZoneName: 'longOffset',
    timeZone: timeZone ?? 'UTC',
  };
  const parts = new Intl.DateTimeFormat('en', options).formatToParts(new Date(epoch * 1_000));
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value ?? '';
  const offset = part('timeZoneName').replace('GMT', '') || '+00:00';
  return `${part('year')}-${part('month')}-${part('day')}T${part('hour')}:${part('minute')}:${part('second')}.${part('fractionalSecond')}${offset}`;
}
