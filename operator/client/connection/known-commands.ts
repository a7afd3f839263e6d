import type { Connection } from 'home-assistant-js-websocket';
import { HubUnreachable } from './errors';
import { FEATURES_COMMAND } from './socket';

type Commands = Connection['commands'];
type Command = NonNullable<ReturnType<Commands['get']>>;

/**
 * The commands that the library waits for. For a message of no command it would write a line to the standard error, and for an
 * event send a command that it keeps: a hub may send any number of them.
 */
export class KnownCommands extends Map<number, Command> implements Commands {
  private readonly unknown: Command;

  /** @param onUnasked called for each answer of no command */
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

/** The first message, for whose answer no command waits. */
const ANSWERED: Command = { resolve: () => undefined, reject: () => undefined };
