/** The value of a setting: null is none. A list has no order. */
export type Setting = string | number | boolean | readonly string[] | null;

export const isList = (value: unknown): value is readonly string[] => Array.isArray(value);

/** Settings by the names of the fields in a spec; a dot leads into an object: `expose.alexa`. */
export type Settings = Readonly<Record<string, Setting>>;

/** An entity or a device of the hub, whose settings the operator changes. */
export interface Configurable {
  /** Id of the registry entry. */
  readonly id: string;
  /** The present values of all settings that it can have. */
  readonly settings: Settings;
  /** `user`, `integration`, `device`, `config_entry`, …; null: it is enabled. */
  readonly disabledBy: string | null;
}

/** The entries of a registry. */
export interface SettingsEntries<R extends Configurable> {
  /** @param id of the registry entry */
  get(id: string): R | undefined;
  readonly all: Iterable<R>;
}

/** A registry whose entries integrations make. It is kept current by the hub's events. */
export interface SettingsRegistry<R extends Configurable = Configurable> {
  /** All entries, with all changes that the hub has reported so far. */
  entries(): Promise<SettingsEntries<R>>;
  /** Has the registry read again before its next use. */
  invalidate(): void;
  /** Calls `listener` when another client may have changed an entry. */
  onChange(listener: () => void): () => void;
  /**
   * Sends these settings, and nothing else, and resolves with the entry as the hub has it afterwards; undefined: it is gone.
   *
   * @throws HubRejected the hub refuses a value
   */
  update(record: R, changes: Settings): Promise<R | undefined>;
}

/** Entries that can be gone through several times, which one iterator cannot. */
export const iterated = <R>(values: () => Iterator<R>): Iterable<R> => ({ [Symbol.iterator]: values });

/** A flag as the hub keeps it: with who set it. */
export const byUser = (value: Setting): 'user' | null => (value === true ? 'user' : null);

/** The fields of one command for these settings. A setting that `toHub` lacks goes another way. */
export function commandFields<Fields extends object, R>(
  toHub: Readonly<Record<string, (value: Setting, record: R) => Fields>>,
  changes: Settings,
  record: R,
): Partial<Fields> {
  return Object.entries(changes).reduce<Partial<Fields>>(
    (all, [name, value]) => ({ ...all, ...toHub[name]?.(value, record) }),
    {},
  );
}

/** A value that an integration sets, as a text: the hub takes any. */
export function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The listeners of a registry. The hub reports a change before it answers the command that made it: those are not announced. */
export class Listeners {
  private readonly listeners = new Set<() => void>();
  /** Keys of entries to which a command of the operator is in flight. */
  private readonly inFlight = new Set<string>();

  add(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Runs commands that change these entries, and then reads them. */
  async whileChanging<T>(keys: readonly string[], run: () => Promise<T>): Promise<T> {
    for (const key of keys) this.inFlight.add(key);
    try {
      return await run();
    } finally {
      for (const key of keys) this.inFlight.delete(key);
    }
  }

  /** @param key of the entry that has changed; absent: any may have */
  call(key?: string): void {
    if (key !== undefined && this.inFlight.has(key)) return;
    for (const listener of this.listeners) listener();
  }
}
