import { DEPENDENCY_REQUEUE, REJECTED_WRITE_RETRY_INTERVAL } from '../../../base/limits';
import { fewNames } from '../../../base/few-names';
import { truncate } from '../../../base/truncate';
import type { HubBlueprintSpec } from '../../../kinds';
import { condition, type Outcome, ready, stalled, type Waiting, waiting } from '../../../runtime/outcome';
import type { CachedBlueprint, Trial } from './contexts';
import type { Seen } from './observe';

/** Maximum number of names in a message, and of automations and scripts in status. */
const MOST_NAMES = 5;
const MOST_BROKEN = 10;
/** Maximum number of characters of the hub's message about one automation or script. */
const LONGEST_PROBLEM = 300;

export const namesOf = (entityIds: readonly string[]): string => fewNames(entityIds, MOST_NAMES);

/**
 * The outcome until the hub has the blueprint. The message does not change, so that status is written only
 * once.
 */
export const inProgress = (details: Pick<Waiting, 'status' | 'events'>, after = 0): Waiting =>
  waiting('BlueprintLoaded', 'The blueprint is being written to the hub.', after, details);

export const loading = (status: Readonly<Record<string, unknown>> = {}): Waiting =>
  waiting('BlueprintLoaded', 'The hub reloads what uses the blueprint.', DEPENDENCY_REQUEUE, { status });

export function dryRun(path: string, seen: Seen['type']): Outcome {
  const remove = 'Remove the annotation to apply it.';
  switch (seen) {
    case 'Equal':
      return ready('DryRun', `Nothing would be sent: the hub has the blueprint ${path} as specified.`);
    case 'Absent':
      return stalled('DryRun', `Would create the blueprint ${path}. ${remove}`);
    case 'Different':
      return stalled(
        'DryRun',
        `Would compare the blueprint ${path} in the hub, and replace it if it differs. ${remove}`,
      );
  }
}

/**
 * The outcome if automations or scripts that use the blueprint would be invalid with the text. The text is
 * then not written, so they continue to run with the former one.
 *
 * @returns undefined when none would be invalid
 */
export function breaksUsers(broken: Trial['broken']): Outcome | undefined {
  if (broken.length === 0) return undefined;
  return stalled(
    'UsersBroken',
    `The blueprint is not written, since the hub would disable what uses it: ${wordsOf(broken)}. What the hub has stays. ` +
      'Correct the blueprint, or the inputs of its users.',
    { after: DEPENDENCY_REQUEUE },
  );
}

const wordsOf = (broken: Trial['broken']): string => {
  const shown = broken
    .slice(0, MOST_NAMES)
    .map(({ entityId, problem }) => `${entityId} (${truncate(problem, LONGEST_PROBLEM)})`);
  const rest = broken.length - shown.length;
  return `${shown.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

interface Loaded {
  /**
   * Entity ids of the automations and scripts that use the blueprint. Undefined if the hub does not report
   * them.
   */
  readonly users: readonly string[] | undefined;
  readonly disabled: Trial['broken'];
  readonly failed: CachedBlueprint['failed'];
  readonly status: Readonly<Record<string, unknown>>;
}

/** The outcome when the hub has the specified blueprint. */
export function loaded(
  { domain, path }: HubBlueprintSpec,
  { users, disabled, failed, status }: Loaded,
): Outcome {
  const brokenUsers = disabled.slice(0, MOST_BROKEN).map(({ entityId }) => entityId);
  const details = {
    status: {
      ...status,
      users: users?.length ?? null,
      brokenUsers: brokenUsers.length > 0 ? brokenUsers : null,
    },
    conditions: { UsersReady: users ? usersReady(disabled) : null },
  };
  if (failed)
    return stalled(
      'ReloadFailed',
      `The hub has the blueprint, and could not reload what uses it: ${failed.message}.`,
      {
        ...details,
        after: REJECTED_WRITE_RETRY_INTERVAL,
      },
    );
  return ready('BlueprintLoaded', `The hub has it as ${domain}/${path}.`, details);
}

const usersReady = (disabled: Trial['broken']) =>
  disabled.length === 0
    ? condition('True', 'AllLoaded', 'The hub has disabled nothing that uses the blueprint.')
    : condition(
        'False',
        'UsersBroken',
        `The hub has disabled ${wordsOf(disabled)}. Correct its inputs, or the blueprint.`,
      );
