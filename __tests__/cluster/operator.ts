import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { startOperator, type OperatorProcess } from '../../sandbox/operator-process';
import { patchObject } from './api';
import { eventsWritten, writtenEvents } from './events';
import { clusterAccess, stopAtEnd, until } from '.';

interface TestOperatorOptions {
  /** Environment variables of the operator. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Path of a kubeconfig other than that of the service account. */
  readonly kubeconfig?: string;
  /**
   * Whether a process that ends with an error is started again, as a kubelet does. A leader ends when the API
   * server of a busy machine answers too late.
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
 * Starts the operator as it ships (the bundle as a separate process, the shipped role) for one namespace, so
 * that test files do not disturb each other. The operator is stopped at the end of the test file.
 *
 * There is no leader election unless the settings ask for it: on a busy machine an answer of the API server
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

/**
 * Milliseconds without work after which the operator is idle. Longer than the operator waits before it reads
 * its own writes.
 */
const CALM = 3_000;
/** Most milliseconds of idle time that one answer of the operator proves. */
const LONGEST_STEP = 600;

export class TestOperator {
  private current: OperatorProcess | undefined;
  /** Whether the test itself is ending the process. */
  private isEnding = false;
  /** Resolves when the process has ended and, if a restart is due, the next one has started. */
  private restart: Promise<void> | undefined;

  constructor(
    readonly namespace: string,
    private readonly options: TestOperatorOptions,
  ) {}

  /** Starts the process. Resolves before the operator is ready. */
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

  /** After any other end, such as one by a bug, the process stays down and the test fails. */
  private async restartAfterLostLease(): Promise<void> {
    const lines = (await this.log()).trimEnd().split('\n').slice(-20);
    if (!this.isEnding && lines.some((line) => line.includes('lost lease'))) await this.launch();
  }

  /** Kills the operator with SIGKILL. Resolves when the process has ended. */
  async kill(): Promise<void> {
    this.isEnding = true;
    await this.process.kill();
  }

  /**
   * Starts an operator that a failed test has left dead. Otherwise every later test would wait until its time
   * limit.
   */
  async ensureRuns(): Promise<void> {
    if (!this.process.running) await this.start();
  }

  get pid(): number {
    return this.process.pid;
  }

  /** Sends a signal. SIGSTOP freezes the process, SIGCONT continues it. */
  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal);
  }

  /** Resolves with the exit code when the process has ended. */
  get ended(): Promise<number> {
    return this.process.exited;
  }

  /** Stops the operator with SIGTERM. Resolves with the exit code. */
  async stop(): Promise<number> {
    this.isEnding = true;
    await this.current?.process.stop();
    await this.restart;
    await this.current?.process.stop(); // stops an operator that was just being started
    return this.current?.process.exited ?? 0;
  }

  /** Returns the log of the operator so far, over all its starts. */
  log(): Promise<string> {
    return readFile(this.process.logFile, 'utf8');
  }

  /** Returns the outcome of each reconcile so far, from the log. */
  async outcomes(): Promise<readonly PassEnd[]> {
    return (await this.logLines('"outcome"')) as PassEnd[];
  }

  /**
   * Returns the messages of all errors with which reconciles ended, without those about a slow API server.
   */
  async failures(): Promise<readonly string[]> {
    const lines = (await this.logLines('"reconcile failed"')) as {
      level: string;
      error: { message: string };
    }[];
    return lines.filter(({ level }) => level === 'error').map(({ error }) => error.message);
  }

  /**
   * Returns the parsed log lines that contain these words. Incomplete lines are left out: the last one may
   * just be written, and a killed process may have left one.
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
   * Returns the sum of a metric over all series with these labels, such as `result="error"`.
   * @throws Error when there is no metric of this name
   */
  async metric(name: string, labels = ''): Promise<number> {
    return sumOf(await this.page('/metrics'), name, labels);
  }

  /**
   * Returns all events of an object that the operator has recorded by now, as `<type> <reason>: <message>`,
   * each as many times as it occurred. To assert that an event is absent, wait first for a later state of the
   * object.
   */
  async events(kind: string, name: string): Promise<string[]> {
    await this.eventsWritten();
    return writtenEvents(this.namespace, kind, name);
  }

  /** Resolves when the events of all reconciles until now are written. */
  async eventsWritten(): Promise<void> {
    // An event is recorded after its status is written and before its reconcile has ended.
    await until('no reconcile runs', async () => (await this.activity()).running === 0);
    await eventsWritten(this.namespace);
  }

  /**
   * Triggers a reconcile of a resource that does not change. Resolves when a reconcile that began after the
   * call has ended, and the operator is idle again.
   */
  async touch(kind: string, name: string): Promise<void> {
    await this.calm(); // so that no earlier reconcile is still running
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
   * Resolves when the operator has been idle for 3 s; its own work after a write has ended by then. Time in
   * which the operator does not answer does not count.
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
      /** Number of reconciles that have ended so far. */
      total: sumOf(page, 'controller_runtime_reconcile_total'),
      due: sumOf(page, 'workqueue_depth'),
      running: sumOf(page, 'controller_runtime_active_workers'),
    };
  }

  /** `http://127.0.0.1:<port>`, which serves /healthz, /readyz and /metrics. */
  get url(): string {
    return this.current!.url;
  }

  /** Returns the page that the operator serves at a path. */
  page(path: string): Promise<string> {
    return until(`${path} is served`, async () => (await fetch(`${this.url}${path}`)).text());
  }

  private get process() {
    return this.current!.process;
  }
}

/**
 * Returns the sum of a metric over its series whose labels contain `labels`.
 * @throws Error when there is no such metric
 */
export function sumOf(page: string, name: string, labels = ''): number {
  const lines = page.split('\n');
  if (!lines.some((line) => line.startsWith(`# TYPE ${name} `)))
    throw new Error(`there is no metric ${name}`);
  const series = lines.filter((line) => /^[^{ ]*/.exec(line)![0] === name && line.includes(labels));
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
}
