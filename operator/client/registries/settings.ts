/** The value of a setting; null if it has none. The order of a list has no meaning. */
export type Setting = string | number | boolean | readonly string[] | null;

export const isList = (value: unknown): value is readonly string[] => Array.isArray(value);

/** Settings by the name of their field in a spec. A dot stands for a nested field: `expose.alexa`. */
export type Settings = Readonly<Record<string, Setting>>;

/** An entity or a device of the hub whose settings the operator changes. */
export interface Configurable {
  /** Id of the registry entry. */
  readonly id: string;
  /** The current values of all settings that the object can have. */
  readonly settings: Settings;
  /** Who disabled the object: `user`, `integration`, `device`, `config_entry`, …; null if it is enabled. */
  readonly disabledBy: string | null;
}

/** The entries of a registry. */
export interface SettingsEntries<R extends Configurable> {
  /** @param id id of the registry entry */
  get(id: string): R | undefined;
  readonly all: Iterable<R>;
}

/**
 * A registry whose entries are created by integrations. The operator's copy is kept current by the hub's
 * events.
 */
export interface SettingsRegistry<R extends Configurable = Configurable> {
  /** All entries, with all changes that the hub has reported so far. */
  entries(): Promise<SettingsEntries<R>>;
  /** Causes the registry to be read again before its next use. */
  invalidate(): void;
  /** Calls `listener` when another client may have changed an entry. */
  onChange(listener: () => void): () => void;
  /**
   * Sends these settings and no others. @returns the entry afterwards; undefined if it no longer exists
   *
   * @throws HubRejected the hub refuses a value
   */
  update(record: R, changes: Settings): Promise<R | undefined>;
}

/** An iterable that can be iterated several times, unlike an iterator. */
export const iterated = <R>(values: () => Iterator<R>): Iterable<R> => ({ [Symbol.iterator]: values });

/** A flag in the form of the hub, which stores who set it. */
export const byUser = (value: Setting): 'user' | null => (value === true ? 'user' : null);

/**
 * The fields of a command for these settings. Settings that are not in `toHub` need another command and are
 * skipped.
 */
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

/** A value of any type, set by an integration, as a text; null if there is no value. */
export function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/**
 * The listeners of a registry. Changes by the operator's own commands are not announced to them. The hub
 * reports such a change before it answers the command.
 */
export class Listeners {
  private readonly listeners = new Set<() => void>();
  /** Keys of entries for which a command of the operator is in flight. */
  private readonly inFlight = new Set<string>();

  add(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Runs commands that change these entries, and the read that follows them. */
  async whileChanging<T>(keys: readonly string[], run: () => Promise<T>): Promise<T> {
    for (const key of keys) this.inFlight.add(key);
    try {
      return await run();
    } finally {
      for (const key of keys) this.inFlight.delete(key);
    }
  }

  /** @param key key of the entry that has changed; absent if any entry may have changed */
  call(key?: string): void {
    if (key !== undefined && this.inFlight.has(key)) return;
    for (const listener of this.listeners) listener();
  }
}
