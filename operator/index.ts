import { extname, join } from 'node:path';
import { version } from '../package.json';
import { systemClock } from './base/clock';
import { messageOf } from './base/errors';
import { rejectOwnAddresses } from './client/connection/local-address';
import { checkKubeconfig } from './process/kubeconfig';
import { EXIT_DELAY, FAULT_EXIT } from './base/limits';
import { createLogger, type Logger } from './base/log';
import { Metrics } from './process/metrics';
import { HubOperator } from './operator';
import { favorMemory } from './process/favor-memory';
import { ProbeServer } from './process/probes';
import { readSettings, type Settings, settingsHelp, type TestSettings } from './process/settings';

/**
 * The commands are a separate program, so that the operator does not hold their code in memory. In the bundle
 * both files are in one folder.
 */
const COMMANDS = join(__dirname, extname(__filename) === '.ts' ? '../cli/index.ts' : 'kubectl-hub.cjs');

interface CommandsModule {
  /** @returns the exit code */
  main(name: 'hub-operator', args: readonly string[]): Promise<number>;
}

/**
 * Runs a command of the command line, prints help or version, or runs the operator.
 *
 * @returns the exit code
 */
async function main(args: readonly string[], testSettings: Partial<TestSettings>): Promise<number> {
  if (args[0] !== undefined && !args[0].startsWith('-')) {
    const commands = (await import(COMMANDS)) as CommandsModule;
    return commands.main('hub-operator', args);
  }
  favorMemory();
  if (args.includes('--help')) {
    process.stdout.write(
      `Commands for people, such as status, doctor and validate: hub-operator help. Without a command the operator runs:\n\n${settingsHelp()}\n`,
    );
    return 0;
  }
  if (args.includes('--version')) {
    process.stdout.write(`${version}\n`);
    return 0;
  }
  return operate(readSettings(args, process.env, testSettings));
}

/**
 * Starts the operator and waits for its end.
 *
 * @returns the exit code: 0 after SIGTERM or SIGINT, 1 after a lost lease or a bug
 */
async function operate(settings: Settings): Promise<number> {
  const log = createLogger(settings.logLevel);
  const metrics = new Metrics(version);
  checkKubeconfig(process.env['KUBECONFIG']);
  rejectOwnAddresses({ ...process.env, POD_IP: settings.podIp });
  const operator = new HubOperator(settings, systemClock, log, metrics);
  const answers = {
    livenessErrors: () => operator.livenessErrors(),
    readinessErrors: () => operator.readinessErrors(),
    metrics: async () => ({
      contentType: metrics.registry.contentType,
      text: await metrics.registry.metrics(),
    }),
  };
  const probes = await ProbeServer.listen(settings.httpPort, settings.httpAddress, answers, {
    clock: systemClock,
    log,
  });
  stopOnSignal(operator, log);
  const hasFailed = stopOnBug(operator, log);
  log.info({ version, node: process.versions.node, port: probes.port, ...settings }, 'starting operator');
  await operator.start();
  const end = await operator.ended;
  await probes.close();
  log.info({ end }, 'operator ended');
  return end === 'stopped' && !hasFailed() ? 0 : 1;
}

function stopOnSignal(operator: HubOperator, log: Logger): void {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      log.info({ signal }, 'received signal, stopping operator');
      void operator.stop();
    });
  }
}

/**
 * Stops the operator after an error that no code caught.
 *
 * @returns the function that reports whether there was one
 */
function stopOnBug(operator: HubOperator, log: Logger): () => boolean {
  let failed = false;
  const fail = (error: unknown) => {
    log.error({ error }, 'bug in the operator, stopping; please report it');
    if (failed) process.exit(1); // stopping failed too
    failed = true;
    systemClock.after(FAULT_EXIT, () => process.exit(1));
    void operator.stop();
  };
  process.on('unhandledRejection', fail);
  process.on('uncaughtException', fail);
  return () => failed;
}

/**
 * Lets the process exit on its own, but within EXIT_DELAY even if connections or timers are open: they do no
 * work of the operator. An immediate `process.exit` waits for the threads of V8. A thread that compiles may
 * be waiting for this one to collect garbage, and then the process never exits
 * (https://github.com/nodejs/node/issues/54918). {@link favorMemory} makes that likely.
 */
function endProcess(code: number): void {
  process.exitCode = code;
  setTimeout(() => process.exit(), EXIT_DELAY).unref();
}

/** @param testSettings given only by the entry point of a sandbox */
export function run(args: readonly string[], testSettings: Partial<TestSettings> = {}): void {
  main(args, testSettings).then(endProcess, (error: unknown) => {
    process.stderr.write(`hub-operator: ${messageOf(error)}\n`);
    endProcess(1);
  });
}

if (require.main === module) run(process.argv.slice(2));
