import { OperationalError } from '../operator/base/errors';
import { type ExitCode, exitCodes } from './exit-codes';

/** Ends a command with a message for the user: the object, its state, and what to do. */
export class CommandError extends OperationalError {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly exitCode: ExitCode = exitCodes.failure,
  ) {
    super(message);
  }
}
