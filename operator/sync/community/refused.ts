import { OperationalError } from '../../base/errors';

/** A repository that is not installed. The message is a sentence for its condition, with the file or the limit. */
export class RepositoryRefused extends OperationalError {
  override readonly name = 'RepositoryRefused';
}
