import { RepositoryRefused } from './refused';

/** Another resource has the same target on the volume. */
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
