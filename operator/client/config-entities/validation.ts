import type { EntityPayload } from '../connection/config-entity';
import type { HubConnection } from '../connection/connection';
import { isUnknownCommand } from '../connection/errors';

/** The parts of a definition that the hub validates, with the hub's names for them. */
const PARTS = {
  automation: { triggers: 'triggers', conditions: 'conditions', actions: 'actions' },
  script: { actions: 'sequence' },
} as const;

/**
 * Why the hub would disable a definition, in the hub's words; undefined if it accepts the definition, or its
 * version cannot tell.
 *
 * @param definition a definition without a blueprint
 */
export async function validationError(
  connection: Pick<HubConnection, 'command'>,
  kind: keyof typeof PARTS,
  definition: EntityPayload,
): Promise<string | undefined> {
  const asked = Object.entries(PARTS[kind]).flatMap(([name, key]) =>
    definition[key] === undefined ? [] : [[name, definition[key]] as const],
  );
  if (asked.length === 0) return undefined;
  try {
    const answer = await connection.command('validate_config', Object.fromEntries(asked));
    return Object.values(answer).flatMap((part) => part?.error ?? [])[0];
  } catch (error) {
    if (isUnknownCommand(error)) return undefined;
    throw error;
  }
}
