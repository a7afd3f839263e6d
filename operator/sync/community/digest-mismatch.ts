import { RepositoryRefused } from './refused';

/** The files are not those of `spec.digest`. */
export class DigestMismatch extends RepositoryRefused {
  constructor(expected: string, found: string) {
    super(
      `The files have the digest ${found}, and spec.digest is ${expected}: nothing was installed. Check the repository, then correct spec.digest or spec.ref.`,
    );
  }
}
