/**
 * An error that the user can solve: `message` says what happened, `hint` what to do. Commands print both, without a stack.
 */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly hint = '',
  ) {
    super(message);
  }
}

/** Runs a command to its end and exits; an error that is no {@link CommandError} is a bug and is printed with its stack. */
export function runCommand(main: () => Promise<void>): void {
  main().then(
    () => process.exit(0),
    (error: unknown) => {
      if (!(error instanceof CommandError)) console.error(error);
      else console.error(['', error.message, error.hint].filter((line, at) => at === 0 || line).join('\n'));
      process.exit(1);
    },
  );
}
