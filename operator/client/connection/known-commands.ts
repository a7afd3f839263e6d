import type { Connection } from 'home-assistant-js-websocket';
import { HubUnreachable } from './errors';
import { FEATURES_COMMAND } from './socket';

type Commands = Connection['commands'];
type Command = NonNullable<ReturnType<Commands['get']>>;

/**
 * The commands for whose answers the WebSocket library waits. A message for an unknown command would make the
 * library write to standard error, and an event for one would make it send a command and keep that. A hub may
 * send any number of such messages, so they are intercepted here.
 */
export class KnownCommands extends Map<number, Command> implements Commands {
  private readonly unknown: Command;

  /** @param onUnasked called for each answer to an unknown command */
  constructor(commands: Commands, onUnasked: () => void) {
    super(commands);
    this.unknown = {
      resolve: onUnasked,
      reject: onUnasked,
      // An exception ends the connection.
      callback: () => {
        throw new HubUnreachable('the hub sent an event of no subscription');
      },
    } as Command;
  }

  override get(id: number): Command {
    return super.get(id) ?? (id === FEATURES_COMMAND ? ANSWERED : this.unknown);
  }
}

/** Entry for the first message, whose answer is ignored. */
const ANSWERED: Command = { resolve: () => undefined, reject: () => undefined };
