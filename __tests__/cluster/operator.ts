import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { startOperator, type OperatorProcess } from '../../sandbox/operator-process';
import { patchObject } from './api';
import { eventsWritten, writtenEvents } from './events';
import { clusterAccess, stopAtEnd, until } from '.';

interface TestOperatorOptions {
  /** Settings by environment variable. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Path of another kubeconfig than the service account's own. */
  readonly kubeconfig?: string;
  /**
   * A process that ends by itself with an error is started again, as a kubelet does: a leader ends when a busy machine lets
   * the API server answer too late.
   */
  readonly isRestarted?: boolean;
}

interface PassEnd {
  readonly kind: string;
  readonly name: string;
  readonly outcome: 'Ready' | 'Waiting' | 'Stalled';
  readonly reason: string;
}

/**
 * The operator as it ships (the bundle, a process of its own, the shipped role) for one namespace, so that test files
 * do not disturb each other. It is stopped when the test file is through.
 *
 * Without leader election unless the settings ask for it: on a machine that has more to do, an answer of the API server
 * may take longer than the 10 s after which a leader ends.
 */
export async function startTestOperator(
  namespace: string,
  options: TestOperatorOptions = {},
): Promise<TestOperator> {
  const operator = new TestOperator(namespace, options);
  stopAtEnd(() => operator.stop());
  await operator.start();
  return operator;
}

/** Longer than the operator waits before it looks at its own writes. */
const CALM = 3_000;
/** As much as one answer proves. */
const LONGEST_STEP = 600;

export class TestOperator {
  private current: OperatorProcess | undefined;
  /** The test itself ends the process. */
  private isEnding = false;
  /** Resolves once the process has ended and, if that is to be, the next one was started. */
  private restart: Promise<void> | undefined;

  constructor(
    readonly namespace: string,
    private readonly options: TestOperatorOptions,
  ) {}

  /** Starts the process; it need not be ready yet. */
  async start(): Promise<void> {
    this.isEnding = false;
    await this.launch();
  }

  private async launch(): Promise<void> {
    const started = await startOperator(clusterAccess(), {
      name: `${this.options.settings?.['POD_NAME'] ?? 'operator'}-${this.namespace}`,
      kubeconfig: this.options.kubeconfig ?? process.env['HUB_SANDBOX_OPERATOR_KUBECONFIG']!,
      settings: {
        WATCH_NAMESPACES: this.namespace,
        LEADER_ELECTION: 'false',
        LEASE_NAME: this.namespace,
        LOG_LEVEL: 'debug',
        FREEZE_CACHE: 'true',
        ...this.options.settings,
      },
    });
    this.current = started;
    if (this.options.isRestarted)
      this.restart = started.process.exited.then(() => this.restartAfterLostLease());
  }

  /** After any other end, such as one by a bug, it stays down and the test fails. */
  private async restartAfterLostLease(): Promise<void> {
    const lines = (await this.log()).trimEnd().split('\n').slice(-20);
    if (!this.isEnding && lines.some((line) => line.includes('lost lease'))) await this.launch();
  }

  /** Ends as with kill -9, or resolves once it has ended by itself. */
  async kill(): Promise<void> {
    this.isEnding = true;
    await this.process.kill();
  }

  /** Starts one that a failed test has left dead: each test after it would wait for its whole time. */
  async ensureRuns(): Promise<void> {
    if (!this.process.running) await this.start();
  }

  get pid(): number {
    return this.process.pid;
  }

  /** SIGSTOP freezes the process, SIGCONT thaws it. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Resolves with the exit code once the process has ended. */
  get ended(): Promise<number> {
    return this.process.exited;
  }

  /** SIGTERM; resolves with its exit code. */
  async stop(): Promise<number> {
    this.isEnding = true;
    await this.current?.process.stop();
    await this.restart;
    await this.current?.process.stop(); // one that was being started
    return this.current?.process.exited ?? 0;
  }

  /** The log of the operator so far, over all starts. */
  log(): Promise<string> {
    return readFile(this.process.logFile, 'utf8');
  }

  /** How each reconcile ended so far, out of the log. */
  async outcomes(): Promise<readonly PassEnd[]> {
    return (await this.logLines('"outcome"')) as PassEnd[];
  }

  /** The messages of all errors that a reconcile ended with, but for those of an API server that was late. */
  async failures(): Promise<readonly string[]> {
    const lines = (await this.logLines('"reconcile failed"')) as {
      level: string;
      error: { message: string };
    }[];
    return lines.filter(({ level }) => level === 'error').map(({ error }) => error.message);
  }

  /**
   * The lines of its log that contain these words, parsed. Incomplete ones are left out: the last one may be written just
   * now, and a killed process may have left one.
   */
  async logLines(words: string): Promise<readonly object[]> {
    const lines = (await this.log()).split('\n').filter((line) => line.includes(words));
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line) as object];
      } catch {
        return [];
      }
    });
  }

  /**
   * The sum of a metric over all its series whose labels are such, e.g. `result="error"`.
   * @throws Error when it has no metric of this name
   */
  async metric(name: string, labels = ''): Promise<number> {
    return sumOf(await this.page('/metrics'), name, labels);
  }

  /**
   * All events of an object that it has recorded by now, as `<type> <reason>: <message>`, as many times as each
   * happened. What must not be among them must have had its chance before: call this after a state that comes later.
   */
  async events(kind: string, name: string): Promise<string[]> {
    await this.eventsWritten();
    return writtenEvents(this.namespace, kind, name);
  }

  /** Resolves when the events of all reconciles until now are written. */
  async eventsWritten(): Promise<void> {
    // An event is recorded when its status is written, and before its reconcile has ended.
    await until('no reconcile runs', async () => (await this.activity()).running === 0);
    await eventsWritten(this.namespace);
  }

  /**
   * Has a resource reconciled for which nothing changes. Resolves when a reconcile has ended that began after the call,
   * and the operator is calm again.
   */
  async touch(kind: string, name: string): Promise<void> {
    await this.calm(); // a reconcile that runs now is none that begins after the call
    const reconciles = async () =>
      (await this.outcomes()).filter((each) => each.kind === kind && each.name === name).length;
    const before = await reconciles();
    await patchObject(kind, this.namespace, name, {
      metadata: { annotations: { 'example.org/touched': randomUUID() } },
    });
    await until(`${kind} ${name} is reconciled`, async () => (await reconciles()) > before);
    await this.calm();
  }

  /**
   * Resolves when it has had nothing to do for 3 s: its own work after a write is done by then. The time in which it
   * does not answer does not count.
   */
  async calm(): Promise<void> {
    let passes = -1;
    let calmFor = 0;
    let asked = Date.now();
    await until('the operator has nothing to do', async () => {
      const { total, due, running } = await this.activity();
      const now = Date.now();
      const isBusy = total !== passes || due + running > 0;
      calmFor = isBusy ? 0 : calmFor + Math.min(now - asked, LONGEST_STEP);
      passes = total;
      asked = now;
      return calmFor > CALM;
    });
  }

  private async activity() {
    const page = await this.page('/metrics');
    return {
      /** Reconciles that have ended so far. */
      total: sumOf(page, 'controller_runtime_reconcile_total'),
      due: sumOf(page, 'workqueue_depth'),
      running: sumOf(page, 'controller_runtime_active_workers'),
    };
  }

  /** `http://127.0.0.1:<port>`, with /healthz, /readyz and /metrics. */
  get url(): string {
    return this.current!.url;
  }

  /** The page that the operator serves under a path. */
  page(path: string): Promise<string> {
    return until(`${path} is served`, async () => (await fetch(`${this.url}${path}`)).text());
  }

  private get process() {
    return this.current!.process;
  }
}

/** The sum of a metric over its series whose labels contain `labels`. @throws Error when there is no such metric */
export function sumOf(page: string, name: string, labels = ''): number {
  const lines = page.split('\n');
  if (!lines.some((line) => line.startsWith(`# TYPE ${name} `)))
    throw new Error(`there is no metric ${name}`);
  const series = lines.filter((line) => /^[^{ ]*/.exec(line)![0] === name && line.includes(labels));
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
