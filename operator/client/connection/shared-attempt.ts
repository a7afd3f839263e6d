/**
 * An operation that is attempted once and whose result all callers share. After a failure, the next call
 * tries again.
 */
export class SharedAttempt<T> {
  private result: Promise<T> | undefined;

  constructor(private readonly attempt: () => Promise<T>) {}

  /** @throws the error of the attempt, to all callers that share it */
  run(): Promise<T> {
    this.result ??= this.attempt().catch((error: unknown) => {
      this.result = undefined;
      throw error;
    });
    return this.result;
  }
}
