/** Runs tasks one after another, in the order in which they came; a failed one does not hold up the next. */
export class Lane {
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** Whether a task runs or waits. */
  get busy(): boolean {
    return this.#pending > 0;
  }

  async run<T>(task: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(task, task);
    this.#last = turn;
    this.#pending++;
    try {
      return await turn;
    } finally {
      this.#pending--;
    }
  }
}
