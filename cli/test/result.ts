import type { TestFile } from './file/compile';
import { HubAnswers, type Refused, type Versions } from './hub-answers';
import type {
  Answer,
  CallAnswer,
  Case,
  CaseAnswer,
  ChangeAnswer,
  CoverageItem,
  Fault,
  SilentTrigger,
} from './protocol';

/** A call, or a change of a state, in a case. */
export type TimelineEvent = CallAnswer | ChangeAnswer;

/** The result of a case. */
export interface CaseResult {
  /** Path of the file as the user wrote it. */
  readonly file: string;
  readonly test: Case;
  readonly virtualSeconds: number;
  readonly realSeconds: number;
  /** The faults of the case; empty if it has passed. */
  readonly faults: readonly Fault[];
  readonly warnings: readonly string[];
  readonly withoutState: readonly string[];
  /** The timeline of the case; empty unless it was requested. */
  readonly events: readonly TimelineEvent[];
}

export interface RunResult {
  readonly versions?: Versions;
  readonly refused: readonly Refused[];
  readonly unsimulated: readonly string[];
  readonly silentTriggers: readonly SilentTrigger[];
  readonly cases: readonly CaseResult[];
  readonly coverage: readonly CoverageItem[];
}

/** Collects the answers of the Python program. */
export class ResultCollector {
  private readonly hub = new HubAnswers();
  private readonly cases: CaseResult[] = [];
  private coverage: readonly CoverageItem[] = [];
  private events: TimelineEvent[] = [];

  constructor(
    private readonly files: readonly TestFile[],
    /** Called when a case has ended. */
    private readonly onCase: (result: CaseResult) => void,
  ) {}

  add(answer: Answer): void {
    this.hub.add(answer);
    switch (answer.type) {
      case 'coverage':
        this.coverage = answer.items;
        break;
      case 'case':
        this.endCase(answer);
        break;
      case 'call':
      case 'change':
        this.events.push(answer);
        break;
    }
  }

  /**
   * Name of the first case without a result; undefined if all cases have one, or the hub has not started yet.
   */
  get current(): string | undefined {
    return this.hub.versions && this.next;
  }

  /**
   * Whether all cases have a result. If the hub refuses the configuration, no case runs, and the result is
   * complete too.
   */
  get isComplete(): boolean {
    return this.next === undefined || (this.cases.length === 0 && this.hub.refused.length > 0);
  }

  private get next(): string | undefined {
    return this.files.flatMap(({ cases }) => cases)[this.cases.length]?.name;
  }

  get result(): RunResult {
    const { cases, coverage } = this;
    const { versions, refused, unsimulated, silentTriggers } = this.hub;
    return {
      ...(versions && { versions }),
      refused,
      unsimulated,
      silentTriggers,
      cases,
      coverage,
    };
  }

  private endCase(answer: CaseAnswer): void {
    const file = this.files[answer.file];
    const test = file?.cases[answer.case];
    if (!file || !test) return;
    const { virtualSeconds, realSeconds, faults, warnings, withoutState } = answer;
    const result = {
      file: file.path,
      test,
      virtualSeconds,
      realSeconds,
      faults,
      warnings,
      withoutState,
      events: this.events,
    };
    this.events = [];
    this.cases.push(result);
    this.onCase(result);
  }
}
