/** One attempt for all who ask: they share its result. After a failure, the next one who asks tries again. */
export class SharedAttempt<T> {
  private result: Promise<T> | undefined;

  constructor(private readonly attempt: () => Promise<T>) {}

  /** @throws what the attempt throws, to all who share it */
  run(): Promise<T> {
    this.result ??= this.attempt().catch((error: unknown) => {
      this.result = undefined;
      throw error;
    });
    return this.result;
  }
}
