import { CommandError } from '../../command-error';
import type { Environment } from '../../environment';
import { oneLine } from '../../output';
import { HubAnswers, type Refused, type Versions } from '../hub-answers';
import type { Launch } from '../launch';
import type { Answer, Case, CaseAnswer, Given, History, Home, SeenCall, SilentTrigger } from '../protocol';
import { runPython } from '../python-program';
import { momentOf } from '../report/times';
import { loader, runnerModules } from '../runner';

/** The result of playing a history against one home. */
interface Played {
  readonly versions: Versions;
  readonly calls: readonly SeenCall[];
  /** Definitions that the hub refused to load. */
  readonly refused: readonly Refused[];
  readonly unsimulated: readonly string[];
  readonly silentTriggers: readonly SilentTrigger[];
  /** Warnings and errors of automations, scripts and templates. */
  readonly warnings: readonly string[];
  /** Entities to which automations and scripts refer but that have no state in the simulation. */
  readonly withoutState: readonly string[];
}

export interface PlayRequest {
  readonly home: Home;
  readonly history: History;
  /** Areas and labels of entities, by entity id. */
  readonly placed: Readonly<Record<string, Given>>;
  /** Description of the home for messages, such as `the hub as it is`. */
  readonly description: string;
}

/** Limit for the number of calls. A home that makes more is faulty, and its calls would fill the memory. */
const MOST_CALLS = 1_000_000;
/** Limit for the characters of the data of all calls. */
export const MOST_DATA = 64_000_000;
/** Name used as the entity in answers about the configuration. */
export const CONFIGURATION = 'configuration';
/** Number of calls between two lines of progress. */
const REPORTED = 200;

/**
 * Plays a history against a home.
 *
 * @throws CommandError the configuration is not loaded, or an automation runs endlessly
 */
export async function play(
  launch: Launch,
  request: PlayRequest,
  { clock, signal, terminal }: Environment,
): Promise<Played> {
  const { description } = request;
  const collector = new Collector(description, (text) => terminal.progress(text));
  terminal.progress(`Starting Home Assistant for ${description}`);
  await runPython(
    launch,
    {
      modules: runnerModules(),
      home: request.home,
      files: [{ path: 'history', cases: [caseOf(request)] }],
      options: { coverage: false, timeline: false },
    },
    {
      clock,
      signal,
      loader: loader(),
      onAnswer: (answer) => collector.add(answer),
      current: () => description,
      isComplete: () => collector.isComplete,
    },
  );
  return collector.result;
}

const caseOf = ({ history, placed }: PlayRequest): Case => ({
  name: 'history',
  line: 1,
  start: new Date(history.from * 1_000).toISOString().slice(0, 19),
  given: placed,
  mock: {},
  echo: false,
  allowWarnings: [],
  steps: [],
  history,
});

class Collector {
  private readonly hub = new HubAnswers();
  private readonly calls: SeenCall[] = [];
  private dataLength = 0;
  private end: CaseAnswer | undefined;

  constructor(
    private readonly description: string,
    private readonly progress: (text: string) => void,
  ) {}

  /** @throws CommandError */
  add(answer: Answer): void {
    this.hub.add(answer);
    switch (answer.type) {
      case 'call':
        this.addCall(answer);
        break;
      case 'case': {
        const fault = answer.faults.find(({ kind }) => kind !== 'log');
        if (fault)
          throw new CommandError(
            `the history could not be played against ${this.description}: ${momentOf(fault.at)}: ${oneLine(fault.message)}`,
          );
        this.end = answer;
        break;
      }
      default:
        break;
    }
  }

  /** Whether the history was played, or cannot be played because the home was not loaded. */
  get isComplete(): boolean {
    return this.end !== undefined || this.unloaded !== undefined;
  }

  /** The result, once {@link isComplete} is true. @throws CommandError the configuration is not loaded */
  get result(): Played {
    const { calls, end } = this;
    const { versions, refused, unsimulated, silentTriggers } = this.hub;
    if (!end)
      throw new CommandError(
        `Home Assistant does not load ${this.unloaded?.name} of ${this.description}: ${oneLine(this.unloaded?.message ?? '')}`,
      );
    const { warnings, withoutState } = end;
    return { versions: versions!, calls, refused, unsimulated, silentTriggers, warnings, withoutState };
  }

  private get unloaded(): Refused | undefined {
    return this.hub.refused.find(({ entity }) => entity === CONFIGURATION);
  }

  private addCall({ at, action, entities, data, by }: SeenCall): void {
    this.dataLength += JSON.stringify(data).length;
    const isFull = this.dataLength > MOST_DATA;
    if (isFull || this.calls.length >= MOST_CALLS)
      throw new CommandError(
        `${this.description} makes ${isFull ? `calls with more than ${MOST_DATA / 1_000_000} MB of data` : `more than ${MOST_CALLS} calls`}: ask for a shorter time with --record`,
      );
    this.calls.push({ at, action, entities, data, ...(by !== undefined && { by }) });
    if (this.calls.length % REPORTED === 1)
      this.progress(`Playing the history against ${this.description}: ${momentOf(at)}`);
  }
}
