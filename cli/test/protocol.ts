// The protocol between the command line and the Python program (cli/test/runner). The program gets one JSON
// document on its standard input, and writes one JSON object per line to its standard output.

/** The JSON document on the standard input. */
export interface Request {
  /** The sources of the program's modules by name: `clock`, `house`, `coverage`, `steps`. */
  readonly modules: Readonly<Record<string, string>>;
  /** Folder that the program creates, works in and removes. If it is undefined, the program chooses one. */
  readonly folder?: string;
  readonly home: Home;
  readonly files: readonly CaseFile[];
  readonly options: {
    /** Whether traces are kept and the answer `coverage` is sent. */
    readonly coverage: boolean;
    /**
     * Whether the answers `call` and `change` are sent. For a case with a history, `call` is sent regardless.
     */
    readonly timeline: boolean;
  };
}

export interface CaseFile {
  /** Path of the file as the user wrote it. */
  readonly path: string;
  /** Overrides fields of {@link Home.hub}. */
  readonly hub?: Location;
  readonly cases: readonly Case[];
}

/** Location and locale of a home. An absent field keeps the hub's own default. */
export interface Location {
  /** IANA name, such as `Europe/Berlin`. */
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

/** The resources of one Hub, in the form in which the hub gets them. */
export interface Home {
  readonly hub: Location;
  /** Automations, each with its `id`. */
  readonly automations: readonly Payload[];
  /** Scripts by id. */
  readonly scripts: Readonly<Record<string, Payload>>;
  /** Scenes, each with its `id`. */
  readonly scenes: readonly Payload[];
  /** `configuration.yaml` as the user wrote it. Absent if there is none. */
  readonly configuration?: string;
  /** Other files in the configuration directory, by name. */
  readonly files: Readonly<Record<string, string>>;
  /** Secrets by key. A missing secret has its key as value. */
  readonly secrets: Readonly<Record<string, string>>;
  /**
   * Entries with the fields of the hub's commands. Areas refer to their floor and labels in the form that the
   * user wrote.
   */
  readonly zones: readonly Payload[];
  readonly floors: readonly Payload[];
  readonly labels: readonly Payload[];
  readonly areas: readonly Payload[];
  /** Helpers of the hub's storage, each with its domain, such as `input_boolean`. */
  readonly helpers: readonly StoredHelper[];
  readonly blueprints: readonly { readonly domain: string; readonly path: string; readonly yaml: string }[];
  /** Ids of the automations that are off because of `spec.enabled: false`. */
  readonly disabled: readonly string[];
  /**
   * Ids of definitions by the entity ids that they have in a running hub. Without an entry, the hub derives
   * the entity id from the name.
   */
  readonly entityIds?: Readonly<Record<string, string>>;
  /** Areas and labels of the entities of definitions. If absent, no resource has any. */
  readonly entityPlaces?: readonly EntityPlace[];
}

export interface StoredHelper {
  readonly domain: string;
  /** The fields in the hub's storage, with `id`. */
  readonly item: Payload;
}

/** The area and the labels of the entity of a definition, by name. */
interface EntityPlace {
  readonly domain: string;
  /** The integration that provides the entity. */
  readonly platform: string;
  /** Id of the definition, which is the unique id of the entity. */
  readonly id: string;
  readonly area?: string;
  readonly labels: readonly string[];
}

export interface Case {
  readonly name: string;
  readonly line: number;
  /** Local time without a time zone, such as `2026-01-15T12:00:00`. */
  readonly start: string;
  readonly given: Readonly<Record<string, Given>>;
  readonly mock: Readonly<Record<string, Mock>>;
  /** Whether the states of given entities change after calls such as `turn_on`. */
  readonly echo: boolean;
  /** Regular expressions for warnings and errors of the hub that do not fail the case. */
  readonly allowWarnings: readonly string[];
  readonly steps: readonly Step[];
  /**
   * Replayed after the steps. The case starts at the beginning of the history, with its first states, and the
   * answers `call` are sent.
   */
  readonly history?: History;
}

/** Recorded states. */
export interface History {
  /** Begin of the history in epoch seconds; `to` is its end. */
  readonly from: number;
  readonly to: number;
  /** States by entity id. */
  readonly entities: Readonly<Record<string, PackedStates>>;
}

/** The states of an entity in chronological order. The first three lists have one item per state. */
export interface PackedStates {
  /**
   * Milliseconds since the previous state; for the first one, since the beginning of the history. A first
   * value of 0 is the state at the beginning.
   */
  readonly after: readonly number[];
  /** For each state, an index into `texts`. */
  readonly states: readonly number[];
  /** For the attributes of each state, an index into `sets`. */
  readonly attributes: readonly number[];
  readonly texts: readonly string[];
  readonly sets: readonly Payload[];
}

/** The state of an entity. */
export interface Given {
  readonly state?: string;
  readonly attributes?: Payload;
  /** Name of the area. `labels` has names too. */
  readonly area?: string;
  readonly labels?: readonly string[];
}

/** The result of an action that a test defines, instead of carrying the action out. */
export interface Mock {
  readonly response?: Payload;
  /** Message of the error with which the action fails. */
  readonly raises?: string;
  /** Duration of the action in seconds. */
  readonly takes?: number;
}

/** A moment: the next one that matches, strictly after the current time. */
export type Instant =
  /** Time of day, `HH:MM:SS`. */
  | { readonly clock: string }
  /** `offset` is in seconds after the event. */
  | { readonly sun: 'sunset' | 'sunrise' | 'dawn' | 'dusk'; readonly offset: number }
  /** Local time without a time zone, such as `2026-11-03T07:00:00`. */
  | { readonly local: string };

export type Step = { readonly line: number } & (
  | { readonly set: Readonly<Record<string, Given>> }
  | { readonly fire: { readonly event_type: string; readonly event_data: Payload } }
  | { readonly call: { readonly action: string; readonly target: Payload; readonly data: Payload } }
  /** `advance` is in seconds. */
  | { readonly advance: number }
  | { readonly at: Instant }
  /** `down` is in seconds. */
  | { readonly restart: { readonly down: number } }
  | { readonly expect: Expect }
);

/** An expected value. */
export type Want =
  | { readonly text: string }
  /** A number, which also equals a text with its value, such as a state. */
  | { readonly number: number }
  /** A regular expression of Python that must match anywhere in the text. */
  | { readonly regex: string }
  | { readonly exact: null | boolean }
  /** An object with at least these fields, each of which must match. */
  | { readonly object: Readonly<Record<string, Want>> }
  /** A list with exactly these items, in this order. */
  | { readonly list: readonly Want[] };

export interface ExpectedCall {
  readonly action: string;
  /** Entities that must all be among those to which the target resolves. */
  readonly entity?: readonly string[];
  readonly data?: Readonly<Record<string, Want>>;
  readonly times?: number;
  /** Entity id of the automation or script that must have made the call. */
  readonly by?: string;
}

export type ExpectedState =
  Want | { readonly state?: Want; readonly attributes?: Readonly<Record<string, Want>> };

export interface Expect {
  readonly calls: readonly ExpectedCall[];
  /** Whether other calls than those in `calls` are faults. */
  readonly only: boolean;
  readonly none: readonly ExpectedCall[];
  readonly states: Readonly<Record<string, ExpectedState>>;
  /** Time limit in seconds. */
  readonly within: number;
}

/**
 * A line of the standard output. Times are local, in ISO 8601 with an offset:
 * `2026-11-02T19:09:00.000+01:00`.
 */
export type Answer =
  /** The first line, with the versions of the hub and of Python. */
  | { readonly type: 'hub'; readonly version: string; readonly python: string }
  /** The hub does not load a definition. `message` has the hub's own words. Sent once for each definition. */
  | { readonly type: 'refused'; readonly entity: string; readonly name: string; readonly message: string }
  /**
   * Sections of the configuration that are not simulated: calls of their actions are only recorded. Also the
   * triggers that nothing fires.
   */
  | {
      readonly type: 'unsimulated';
      readonly domains: readonly string[];
      readonly triggers?: readonly SilentTrigger[];
    }
  | CallAnswer
  | ChangeAnswer
  | CaseAnswer
  | { readonly type: 'coverage'; readonly items: readonly CoverageItem[] }
  /** The program cannot continue. `message` is the reason as one sentence. */
  | { readonly type: 'failed'; readonly message: string };

/** A trigger of an automation or script that nothing fires in a simulation, such as `webhook`. */
export interface SilentTrigger {
  readonly trigger: string;
  readonly entity: string;
}

/** The case of an answer, as an index into `Request.files` and an index into the file's `cases`. */
interface OfCase {
  readonly file: number;
  readonly case: number;
}

/**
 * A call of an action. `by` is the entity id of its author; it is absent if the author is unknown or a step
 * of the test.
 */
export interface SeenCall {
  readonly at: string;
  readonly action: string;
  readonly entities: readonly string[];
  readonly data: Payload;
  readonly by?: string | null;
}

export type CallAnswer = { readonly type: 'call' } & OfCase & SeenCall;

/**
 * A change of a state. `from` is absent for a new entity, `to` for a removed one. `attributes` has those that
 * changed.
 */
export interface ChangeAnswer extends OfCase {
  readonly type: 'change';
  readonly at: string;
  readonly entity: string;
  readonly from?: string | null;
  readonly to?: string | null;
  readonly attributes?: Payload;
}

/** The end of a case. Its calls and changes precede this answer. */
export interface CaseAnswer extends OfCase {
  readonly type: 'case';
  readonly virtualSeconds: number;
  readonly realSeconds: number;
  /** The faults of the case; empty if it has passed. */
  readonly faults: readonly Fault[];
  /**
   * All warnings and errors of automations, scripts and templates. Those that are not allowed are also
   * faults.
   */
  readonly warnings: readonly string[];
  /** Entities to which the home refers but that have no state. */
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
  /** A sentence that does not contain the time. */
  readonly message: string;
  /** An {@link ExpectedCall} or an {@link ExpectedState}. */
  readonly expected?: unknown;
  /** The calls that are most similar to the expected one, or the unexpected call. */
  readonly seen?: readonly SeenCall[];
  /** Entity id of the automation or script that is at fault. */
  readonly by?: string | null;
}

/** The coverage of an automation or script, from the hub's traces. */
export interface CoverageItem {
  /** Entity id, such as `automation.movie_night`. */
  readonly entity: string;
  /** Id of the definition in the hub. */
  readonly id: string;
  /**
   * All possible paths of traces: `trigger/0`, `condition/0=true`, `condition/0=false`,
   * `action/2/choose/0/sequence/1`; for a script, `sequence/0`.
   */
  readonly total: readonly string[];
  /** The paths that were executed. */
  readonly hit: readonly string[];
}
