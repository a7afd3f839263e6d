import { OperationalError } from '../operator/base/errors';
import { type ExitCode, exitCodes } from './exit-codes';

/** Ends a command with a text for its user: the object, its state and the way out. */
export class CommandError extends OperationalError {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly exitCode: ExitCode = exitCodes.failure,
  ) {
    super(message);
  }
}
