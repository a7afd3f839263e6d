/** Thrown where the operator is killed. */
export class Killed extends Error {}

/** Makes a call that answers only as long as a process of the operator lives. */
export type Living = <A extends unknown[], R>(
  call: (...args: A) => R | Promise<R>,
) => (...args: A) => Promise<R>;

/** For a process that is never replaced. */
export const immortal: Living =
  (call) =>
  async (...args) =>
    call(...args);

/** The processes of the operator, and everything that they and the hub do, in order. */
export class Operators {
  readonly events: string[] = [];
  private process = 0;
  private steps = 0;
  private killAt = Infinity;

  /** Starts a new process. The former one does nothing any more: its calls get no answer. */
  start(): Living {
    const process = ++this.process;
    return (call) =>
      (...args) =>
        process === this.process ? immortal(call)(...args) : new Promise<never>(() => undefined);
  }

  /** Kills the operator at the `count`th step from now on: a write to the cluster, or a call of the hub. */
  killAfter(count: number): void {
    this.killAt = this.steps + count;
  }

  /** @throws Killed the operator is killed at this step, which then has no effect */
  step(what: string): void {
    this.steps += 1;
    if (this.steps === this.killAt) throw new Killed(what);
    this.events.push(what);
  }
}
