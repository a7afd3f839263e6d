import { createConnection, type Connection, type HaWebSocket } from 'home-assistant-js-websocket';
import type { Clock } from '../../base/clock';
import { withDeadline } from '../../base/deadline';
import { errorOf } from '../../base/errors';
import { checkedResult, eventShape, messages } from './answers';
import { commandError } from './command-error';
import {
  type CommandArguments,
  type CommandResult,
  type Commands,
  type Events,
  requestTypeOf,
  type StreamFields,
  type StreamMessage,
  type Streams,
} from './commands';
import { HubError, HubUnreachable, TokenRejected } from './errors';
import { KnownCommands } from './known-commands';
import { BoundedLog } from '../../base/bounded-log';
import type { Logger } from '../../base/log';
import { Timer } from '../../base/timer';
import type { RestClient } from './rest';
import { checked, type Shape } from './shape';
import { openSocket, refusalOf, terminate } from './socket';
import { UnusableMessages } from './unusable-messages';
import { AuthBackoff } from './auth-backoff';
import { type HubLists, type KeptLists, keptLists } from './kept-lists';

/** Milliseconds until the answer to a command. */
const COMMAND_TIMEOUT = 10_000;

// Milliseconds. The hub's own pings every 55 s are too rare to detect a hung hub or a lost route.
const HEARTBEAT_INTERVAL = 30_000;
const HEARTBEAT_TIMEOUT = 15_000;
const MAX_RECONNECT_DELAY = 5_000;
const MAX_RESUBSCRIPTION_DELAY = 5 * 60_000;
/** From this attempt on, the delay has its largest value. */
const LAST_ATTEMPT = MAX_RECONNECT_DELAY / 1_000;

interface HubConnectionOptions {
  /** The HTTP client for the hub, whose address and checks also apply to this connection. */
  readonly rest: RestClient;
  readonly token: string;
  /** Shared by all clients with the same token. */
  readonly authBackoff?: AuthBackoff;
  readonly clock: Clock;
  readonly log: Logger;
  /** The account of all lists that the operator keeps of hubs. Default: that of the process. */
  readonly keptLists?: KeptLists;
}

interface CommandOptions {
  /** Timeout in milliseconds. Default {@link COMMAND_TIMEOUT}. */
  readonly timeout?: number;
}

type Listener = () => void;

interface Subscription {
  readonly message: { readonly type: string };
  readonly onEvent: (event: unknown) => void;
  /** Cancels the subscription in the hub; undefined while the hub does not have the subscription. */
  cancel: (() => Promise<void>) | undefined;
}

type ConnectionState =
  | { readonly phase: 'idle' | 'closed' }
  /** The first connection is being opened. */
  | { readonly phase: 'opening'; readonly opening: Promise<Connection> }
  | { readonly phase: 'open'; readonly connection: Connection; readonly socket: HaWebSocket }
  | {
      readonly phase: 'lost';
      /** Set while an attempt to reconnect is in flight. */
      opening?: Promise<Connection> | undefined;
      /** The error of the last attempt. Callers get it at once. */
      error?: HubError;
    };

/**
 * The WebSocket connection to a hub. It is opened at first use. After a loss, it reconnects (at once, then
 * after 1, 2, … 5 s) and restores all subscriptions, until it is closed. A rejected token is sent again only
 * when its `AuthBackoff` admits that. While reconnecting fails, all methods throw the last error at once.
 *
 * Methods throw only errors of `errors.ts`, and errors that `assertLeader` of its {@link RestClient} throws.
 */
export class HubConnection {
  /** The account of the lists that the operator keeps of the hub. */
  readonly lists: HubLists;
  private readonly rest: RestClient;
  private readonly token: string;
  private readonly authBackoff: AuthBackoff;
  private readonly clock: Clock;
  private readonly log: Logger;
  private readonly subscriptions = new Set<Subscription>();
  private readonly reconnectListeners = new Set<Listener>();
  private readonly lostListeners = new Set<Listener>();
  private readonly missedListeners = new Set<Listener>();
  private readonly heartbeat: Timer;
  private readonly reconnect: Timer;
  private readonly resubscription: Timer;
  private state: ConnectionState = { phase: 'idle' };
  private readonly unusable: UnusableMessages;
  private readonly unaskedLog: BoundedLog;

  constructor(options: HubConnectionOptions) {
    this.rest = options.rest;
    this.token = options.token;
    this.authBackoff = options.authBackoff ?? new AuthBackoff(options.clock);
    this.clock = options.clock;
    this.log = options.log;
    this.lists = (options.keptLists ?? keptLists).ofHub(options.clock, {
      onDropped: (fields) =>
        this.log.warn(fields, 'dropped list of hub: lists of all hubs take too much memory'),
      onReadmitted: () => {
        if (this.connected) this.callAll(this.missedListeners); // otherwise the reconnect is reported
      },
    });
    this.unusable = new UnusableMessages(options);
    this.unaskedLog = new BoundedLog(options, 'messages of hub answer nothing that was asked');
    this.heartbeat = new Timer(options.clock);
    this.reconnect = new Timer(options.clock);
    this.resubscription = new Timer(options.clock);
  }

  get connected(): boolean {
    return this.state.phase === 'open' && this.state.connection.connected;
  }

  /** Sends a command and resolves with its result. */
  command<K extends keyof Commands>(
    type: K,
    ...[fields, options]: CommandArguments<K, CommandOptions>
  ): Promise<CommandResult<K>> {
    const answer = this.requireConnection().then((connection) => {
      this.rest.assertLeader(); // the name of a command does not show whether it writes
      return connection.sendMessagePromise<CommandResult<K>>({ type, ...fields });
    });
    return this.answerWithin(
      type,
      answer.then((result) => checkedResult(type, result)),
      options?.timeout,
    );
  }

  /**
   * Calls `onEvent` for every event of that type, also after a reconnect. Events in between are lost: see
   * `onReconnect`. @returns a function that cancels the subscription, once the hub has confirmed it
   */
  subscribeEvents<K extends keyof Events>(
    eventType: K,
    onEvent: (data: Events[K]) => void,
  ): Promise<() => Promise<void>> {
    const message = { type: 'subscribe_events', event_type: eventType };
    return this.follow(message, eventShape(eventType), ({ data }) => onEvent(data as Events[K]));
  }

  /** Like `subscribeEvents`, for a command that the hub answers with a stream of messages. */
  subscribe<K extends keyof Streams>(
    type: K,
    fields: StreamFields<K>,
    onMessage: (message: StreamMessage<K>) => void,
  ): Promise<() => Promise<void>> {
    return this.follow({ type, ...fields }, messages[type] as Shape<StreamMessage<K>>, onMessage);
  }

  /**
   * Calls `listener` after each reconnect, once the subscriptions that the hub accepts are restored, and
   * again when the hub later accepts another one. @returns a function that removes the listener
   */
  onReconnect(listener: Listener): () => void {
    this.reconnectListeners.add(listener);
    return () => void this.reconnectListeners.delete(listener);
  }

  /**
   * Calls `listener` when a dropped list of the hub may be read again: its changes in the time between were
   * not seen.
   */
  onMissedChanges(listener: Listener): void {
    this.missedListeners.add(listener);
  }

  /** Calls `listener` each time an open connection is lost. @returns a function that removes the listener */
  onLost(listener: Listener): () => void {
    this.lostListeners.add(listener);
    return () => void this.lostListeners.delete(listener);
  }

  /** Closes the connection permanently; commands in flight are rejected. */
  close(): void {
    const { state } = this;
    this.state = { phase: 'closed' };
    this.heartbeat.clear();
    this.reconnect.clear();
    this.resubscription.clear();
    this.subscriptions.clear();
    this.lists.close();
    if (state.phase !== 'open') return;
    state.connection.close();
    terminate(state.socket); // a hung hub would not answer the close frame
  }

  private async follow<T>(
    message: Subscription['message'],
    shape: Shape<T>,
    onEvent: (event: T) => void,
  ): Promise<() => Promise<void>> {
    const { type } = message;
    const subscription: Subscription = {
      message,
      onEvent: (event) => this.callAll([() => onEvent(checked(type, event, shape))]),
      cancel: undefined,
    };
    const connection = await this.answerWithin(type, this.requireConnection());
    await this.subscribeInHub(connection, subscription);
    if (!connection.connected) throw new HubUnreachable('the connection was lost');
    this.subscriptions.add(subscription);
    return async () => {
      this.subscriptions.delete(subscription);
      if (this.connected && subscription.cancel)
        await this.answerWithin('unsubscribe_events', subscription.cancel());
    };
  }

  private async requireConnection(): Promise<Connection> {
    this.noticeLoss();
    if (this.state.phase === 'lost' && this.state.error) throw this.state.error;
    return this.open();
  }

  /**
   * Handles a loss before the library reports it: the library waits for the close of its socket, but a
   * closing socket is lost already.
   */
  private noticeLoss(): void {
    const { state } = this;
    if (state.phase === 'open' && !state.connection.connected) this.handleLoss(state.connection);
  }

  private open(): Promise<Connection> {
    const { state } = this;
    switch (state.phase) {
      case 'closed':
        return Promise.reject(closedError());
      case 'open':
        return Promise.resolve(state.connection);
      case 'opening':
        return state.opening;
      case 'idle': {
        const opening = this.attempt();
        this.state = { phase: 'opening', opening };
        return opening;
      }
      case 'lost':
        state.opening ??= this.attempt();
        return state.opening;
    }
  }

  private attempt(): Promise<Connection> {
    const opening = this.connect();
    opening.catch((error: unknown) => this.handleFailure(error));
    return opening;
  }

  private async connect(): Promise<Connection> {
    this.authBackoff.admit();
    try {
      const socket = await openSocket(this.rest, this.token, this.clock, this.log);
      if (this.isClosed) {
        terminate(socket);
        throw closedError();
      }
      return this.attach(await createConnection({ createSocket: () => Promise.resolve(socket) }), socket);
    } catch (error) {
      if (error instanceof TokenRejected) this.authBackoff.recordRejection(error);
      else this.authBackoff.recordNoAnswer();
      throw error;
    }
  }

  private handleFailure(error: unknown): void {
    if (this.state.phase === 'opening') this.state = { phase: 'idle' };
    if (this.state.phase === 'lost')
      this.state = { phase: 'lost', ...(error instanceof HubError && { error }) };
  }

  private get isClosed(): boolean {
    return this.state.phase === 'closed';
  }

  private attach(connection: Connection, socket: HaWebSocket): Connection {
    const isReturn = this.state.phase === 'lost';
    this.authBackoff.recordSuccess();
    connection.commands = new KnownCommands(connection.commands, () => this.unaskedLog.add({}));
    this.state = { phase: 'open', connection, socket };
    this.scheduleHeartbeat(connection);
    connection.addEventListener('disconnected', () => {
      connection.close(); // otherwise the library would reconnect itself, without the operator's clock
      this.handleLoss(connection);
    });
    if (isReturn) void this.resubscribe(connection);
    return connection;
  }

  private handleLoss(connection: Connection): void {
    if (this.state.phase !== 'open' || this.state.connection !== connection) return;
    const error = refusalOf(this.state.socket);
    this.state = { phase: 'lost', ...(error && { error }) };
    this.log.warn({ url: this.rest.address.url }, 'lost connection to hub');
    this.heartbeat.clear();
    this.resubscription.clear();
    for (const subscription of this.subscriptions) subscription.cancel = undefined;
    // A hub that exceeded a limit is likely to do so again.
    this.scheduleReconnect(error ? LAST_ATTEMPT : 0);
    this.callAll(this.lostListeners);
  }

  /** @param attempt number of failed attempts since the loss */
  private scheduleReconnect(attempt: number): void {
    this.reconnect.set(Math.min(attempt * 1_000, MAX_RECONNECT_DELAY), () => {
      this.open().catch(() => {
        if (!this.isClosed) this.scheduleReconnect(attempt + 1); // callers read the error from `state`
      });
    });
  }

  /**
   * Restores the subscriptions. A starting hub may reject some, which are retried after pauses that double.
   * The reconnect is reported before all are restored, and reported again when one of the others is restored,
   * since its events were missed.
   */
  private async resubscribe(connection: Connection, pause?: number): Promise<void> {
    const missing = [...this.subscriptions].filter((subscription) => !subscription.cancel);
    const results = await Promise.allSettled(missing.map((each) => this.subscribeInHub(connection, each)));
    if (!connection.connected || this.isClosed) return;
    const isFirst = pause === undefined;
    if (isFirst || results.some((result) => result.status === 'fulfilled'))
      this.callAll(this.reconnectListeners);
    const failed = results.find((result) => result.status === 'rejected');
    if (!failed) return;
    this.log.warn({ error: errorOf(failed.reason) }, 'failed to restore hub subscription');
    const next = isFirst ? MAX_RECONNECT_DELAY : Math.min(2 * pause, MAX_RESUBSCRIPTION_DELAY);
    this.resubscription.set(next, () => void this.resubscribe(connection, next));
  }

  private async subscribeInHub(connection: Connection, subscription: Subscription): Promise<void> {
    const { message, onEvent } = subscription;
    // The library's own resubscription is off: it turns an error of the hub into an unhandled rejection.
    const started = connection.subscribeMessage(onEvent, { ...message }, { resubscribe: false });
    try {
      subscription.cancel = await this.answerWithin(message.type, started);
    } catch (error) {
      // The hub may have the subscription although its answer is missing. A new connection discards such a
      // subscription.
      if (error instanceof HubUnreachable) terminate(connection.socket);
      throw error;
    }
  }

  private scheduleHeartbeat(connection: Connection): void {
    this.heartbeat.set(HEARTBEAT_INTERVAL, () => {
      this.answerWithin('ping', connection.ping(), HEARTBEAT_TIMEOUT).then(
        () => connection.connected && this.scheduleHeartbeat(connection),
        () => terminate(connection.socket),
      );
    });
  }

  private async answerWithin<T>(what: string, answer: Promise<T>, timeout = COMMAND_TIMEOUT): Promise<T> {
    const error = () => new HubUnreachable(`the hub did not answer ${what} within ${timeout / 1000} s`);
    try {
      return await withDeadline({ clock: this.clock, delay: timeout, error }, () => answer);
    } catch (error) {
      throw commandError(error, this.rest.redact, requestTypeOf(what));
    }
  }

  private callAll(listeners: Iterable<Listener>): void {
    for (const listener of [...listeners]) {
      try {
        listener();
      } catch (error) {
        if (error instanceof HubError) this.unusable.count(error);
        else this.log.error({ error }, 'listener of hub connection failed');
      }
    }
  }
}

function closedError(): HubUnreachable {
  return new HubUnreachable('the connection to the hub is closed');
}
