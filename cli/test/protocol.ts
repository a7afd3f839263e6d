// Between the command line and the program in Python (cli/test/runner): one JSON document on its standard input, then one JSON object
// a line on its standard output.

/** The document on the standard input. */
export interface Request {
  /** The sources of the program by name: `clock`, `house`, `coverage`, `steps`. */
  readonly modules: Readonly<Record<string, string>>;
  /** The folder that the program makes, works in and removes; undefined: one of its own choice. */
  readonly folder?: string;
  readonly home: Home;
  readonly files: readonly CaseFile[];
  readonly options: {
    /** Traces are kept, and the answer `coverage` is sent. */
    readonly coverage: boolean;
    /** The answers `call` and `change` are sent. Of a case with a history, the calls are sent in any case. */
    readonly timeline: boolean;
  };
}

export interface CaseFile {
  /** As the user names it. */
  readonly path: string;
  /** Overrides {@link Home.hub} by field. */
  readonly hub?: Location;
  readonly cases: readonly Case[];
}

/** The place of a home. An absent field is the hub's own default. */
export interface Location {
  /** IANA: `Europe/Berlin`. */
  readonly timezone?: string;
  /** Degrees. */
  readonly latitude?: number;
  readonly longitude?: number;
  /** Metres. */
  readonly elevation?: number;
  readonly country?: string;
  readonly language?: string;
  readonly currency?: string;
  /** `metric` or `us_customary`. */
  readonly unitSystem?: string;
}

export type Payload = Readonly<Record<string, unknown>>;

/** The resources of one Hub as its hub gets them. */
export interface Home {
  readonly hub: Location;
  /** Each with its `id`. */
  readonly automations: readonly Payload[];
  /** By id. */
  readonly scripts: Readonly<Record<string, Payload>>;
  /** Each with its `id`. */
  readonly scenes: readonly Payload[];
  /** `configuration.yaml`, as the user wrote it; absent: there is none. */
  readonly configuration?: string;
  /** The files beside it, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** By key; one that is missing has its own name as its value. */
  readonly secrets: Readonly<Record<string, string>>;
  /** As the hub's commands create them; areas name their floor and labels as users do. */
  readonly zones: readonly Payload[];
  readonly floors: readonly Payload[];
  readonly labels: readonly Payload[];
  readonly areas: readonly Payload[];
  readonly blueprints: readonly { readonly domain: string; readonly path: string; readonly yaml: string }[];
  /** Ids of the automations that are off because of `spec.enabled: false`. */
  readonly disabled: readonly string[];
  /** The ids of definitions by the entity ids that they have in a hub. Absent, or without one: the hub makes entity ids of names. */
  readonly entityIds?: Readonly<Record<string, string>>;
}

export interface Case {
  readonly name: string;
  readonly line: number;
  /** Local time without a zone: `2026-01-15T12:00:00`. */
  readonly start: string;
  readonly given: Readonly<Record<string, Given>>;
  readonly mock: Readonly<Record<string, Mock>>;
  /** Whether the states of given entities follow calls of `turn_on` and the like. */
  readonly echo: boolean;
  /** Regular expressions of warnings and errors of the hub that do not fail the case. */
  readonly allowWarnings: readonly string[];
  readonly steps: readonly Step[];
  /** Played after the steps. The case starts at its beginning, with its first states, and the answers `call` are sent. */
  readonly history?: History;
}

/** States of the past. */
export interface History {
  /** Epoch seconds. */
  readonly from: number;
  readonly to: number;
  /** By entity id. */
  readonly entities: Readonly<Record<string, PackedStates>>;
}

/** The states of an entity in the order of their times. The first three lists have an item for each. */
export interface PackedStates {
  /** Milliseconds since the one before; of the first since the beginning: with 0, it is the state at the beginning. */
  readonly after: readonly number[];
  /** Indexes of `texts`. */
  readonly states: readonly number[];
  /** Indexes of `sets`. */
  readonly attributes: readonly number[];
  readonly texts: readonly string[];
  readonly sets: readonly Payload[];
}

/** The state of an entity. */
export interface Given {
  readonly state?: string;
  readonly attributes?: Payload;
  /** Name of an area or label. */
  readonly area?: string;
  readonly labels?: readonly string[];
}

/** The result of an action that is not simulated. */
export interface Mock {
  readonly response?: Payload;
  /** Message of the error that the action ends with. */
  readonly raises?: string;
  /** Seconds. */
  readonly takes?: number;
}

/** A moment: the next one of its kind, strictly after now. */
export type Instant =
  /** `HH:MM:SS` */
  | { readonly clock: string }
  /** `offset`: seconds after it. */
  | { readonly sun: 'sunset' | 'sunrise' | 'dawn' | 'dusk'; readonly offset: number }
  /** `2026-11-03T07:00:00`, without a zone. */
  | { readonly local: string };

export type Step = { readonly line: number } & (
  | { readonly set: Readonly<Record<string, Given>> }
  | { readonly fire: { readonly event_type: string; readonly event_data: Payload } }
  | { readonly call: { readonly action: string; readonly target: Payload; readonly data: Payload } }
  /** `advance`: seconds. */
  | { readonly advance: number }
  | { readonly at: Instant }
  /** `down`: seconds. */
  | { readonly restart: { readonly down: number } }
  | { readonly expect: Expect }
);

/** An expected value. */
export type Want =
  | { readonly text: string }
  /** Compares as a number also with a text, such as a state. */
  | { readonly number: number }
  /** In the syntax of Python, found anywhere in the text. */
  | { readonly regex: string }
  | { readonly exact: null | boolean }
  /** At least these fields, each equal. */
  | { readonly object: Readonly<Record<string, Want>> }
  /** As many items, in this order. */
  | { readonly list: readonly Want[] };

export interface ExpectedCall {
  readonly action: string;
  /** All of these are among those that the target resolves to. */
  readonly entity?: readonly string[];
  readonly data?: Readonly<Record<string, Want>>;
  readonly times?: number;
  /** Entity id of the automation or script that makes the call. */
  readonly by?: string;
}

export type ExpectedState =
  Want | { readonly state?: Want; readonly attributes?: Readonly<Record<string, Want>> };

export interface Expect {
  readonly calls: readonly ExpectedCall[];
  /** Calls that `calls` does not list are faults. */
  readonly only: boolean;
  readonly none: readonly ExpectedCall[];
  readonly states: Readonly<Record<string, ExpectedState>>;
  /** The time limit in seconds. */
  readonly within: number;
}

/** A line of the standard output. Times are local, in ISO 8601 with their offset: `2026-11-02T19:09:00.000+01:00`. */
export type Answer =
  /** The first line: the versions of the hub and of Python. */
  | { readonly type: 'hub'; readonly version: string; readonly python: string }
  /** The hub does not load a definition; `message` has its words. Once for each. */
  | { readonly type: 'refused'; readonly entity: string; readonly name: string; readonly message: string }
  /** Sections of the configuration that are not simulated: their actions are recorded. Triggers that nothing fires. */
  | {
      readonly type: 'unsimulated';
      readonly domains: readonly string[];
      readonly triggers?: readonly SilentTrigger[];
    }
  | CallAnswer
  | ChangeAnswer
  | CaseAnswer
  | { readonly type: 'coverage'; readonly items: readonly CoverageItem[] }
  /** The program cannot go on, for this reason: one sentence. */
  | { readonly type: 'failed'; readonly message: string };

/** A trigger such as `webhook`, of an automation or script. */
export interface SilentTrigger {
  readonly trigger: string;
  readonly entity: string;
}

/** Which case an answer is about: an index into `Request.files` and one into its `cases`. */
interface OfCase {
  readonly file: number;
  readonly case: number;
}

/** A call of an action. `by`: entity id of its author; absent: a step of the test, or unknown. */
export interface SeenCall {
  readonly at: string;
  readonly action: string;
  readonly entities: readonly string[];
  readonly data: Payload;
  readonly by?: string | null;
}

export type CallAnswer = { readonly type: 'call' } & OfCase & SeenCall;

/** A change of a state. Absent `from`: the entity is new; absent `to`: it is gone. `attributes`: those that changed. */
export interface ChangeAnswer extends OfCase {
  readonly type: 'change';
  readonly at: string;
  readonly entity: string;
  readonly from?: string | null;
  readonly to?: string | null;
  readonly attributes?: Payload;
}

/** A case that has ended. Its calls and changes come before it. */
export interface CaseAnswer extends OfCase {
  readonly type: 'case';
  readonly virtualSeconds: number;
  readonly realSeconds: number;
  /** The faults of a case. One that has passed has none. */
  readonly faults: readonly Fault[];
  /** All warnings and errors of automations, scripts and templates. Those that are not allowed are faults, too. */
  readonly warnings: readonly string[];
  /** Entities that the home names and that have no state. */
  readonly withoutState: readonly string[];
}

type FaultKind =
  'missing-call' | 'times' | 'unexpected-call' | 'state' | 'log' | 'runaway' | 'stuck' | 'step' | 'time';

export interface Fault {
  readonly kind: FaultKind;
  /** Index of the step. */
  readonly step?: number | null;
  /** Line of the step in the file. */
  readonly line?: number | null;
  readonly at: string;
  /** A sentence without the time. */
  readonly message: string;
  /** An {@link ExpectedCall}, or an {@link ExpectedState}. */
  readonly expected?: unknown;
  /** The nearest calls, or the unexpected one. */
  readonly seen?: readonly SeenCall[];
  /** Entity id of the automation or script. */
  readonly by?: string | null;
}

/** How much of an automation or script has run, by the hub's traces. */
export interface CoverageItem {
  /** `automation.movie_night` */
  readonly entity: string;
  /** The id in the hub. */
  readonly id: string;
  /**
   * Paths of traces that can be taken: `trigger/0`, `condition/0=true`, `condition/0=false`, `action/2/choose/0/sequence/1`;
   * of a script `sequence/0`.
   */
  readonly total: readonly string[];
  /** The ones that were taken. */
  readonly hit: readonly string[];
}
