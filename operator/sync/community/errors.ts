import { OperationalError } from '../../base/errors';

/**
 * A repository that is not installed. The message is a sentence for its condition and names the file or the
 * limit.
 */
export class RepositoryRefused extends OperationalError {
  override readonly name = 'RepositoryRefused';
}

/**
 * The API server rejects the installer's pod, or the Secrets with its files, for example because of a quota.
 */
export class InstallRejected extends RepositoryRefused {}

/** The digest of the files differs from `spec.digest`. */
export class DigestMismatch extends RepositoryRefused {
  constructor(expected: string, found: string) {
    super(
      `The files have the digest ${found}, and spec.digest is ${expected}: nothing was installed. Check the repository, then correct spec.digest or spec.ref.`,
    );
  }
}

/** Another resource already has this target on the volume. */
export class TargetTaken extends RepositoryRefused {
  constructor(
    readonly target: string,
    owner: string,
  ) {
    super(
      `HubCommunityRepository ${owner} owns /config/${target}, where this repository would be installed. Delete one of the two.`,
    );
  }
}
