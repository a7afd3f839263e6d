import { createConnection, type Connection } from 'home-assistant-js-websocket';
import type { Clock } from '../clock';
import { withDeadline } from '../deadline';
import { messageOf } from '../errors';
import { commandError } from './command-error';
import type {
  CommandArguments,
  CommandResult,
  Commands,
  Events,
  StreamFields,
  StreamMessage,
  Streams,
} from './commands';
import { HubError, HubUnreachable, TokenRejected } from './errors';
import type { Logger } from '../log';
import type { RestClient } from './rest';
import { terminate, openSocket } from './socket';
import { Timer } from '../timer';
import { AuthBackoff } from './auth-backoff';

export const COMMAND_TIMEOUT = 10_000;

// The hub's own pings come every 55 s, too seldom to notice a frozen hub or a dropped route.
const HEARTBEAT_INTERVAL = 30_000;
const HEARTBEAT_TIMEOUT = 15_000;
const MAX_RECONNECT_DELAY = 5_000;

export interface HubConnectionOptions {
  /** Says where the hub is. */
  readonly rest: RestClient;
  readonly token: string;
  /** Shared by all that use the same token. */
  readonly authBackoff?: AuthBackoff;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface CommandOptions {
  /** Milliseconds until the answer must be there. */
  readonly timeout?: number;
}

type Listener = () => void;

interface Subscription {
  readonly message: { readonly type: string };
  readonly onEvent: (event: unknown) => void;
  /** Ends it in the hub; undefined while the hub does not know of it. */
  cancel: (() => Promise<void>) | undefined;
}

/**
 * The one WebSocket to a hub. Opens at first use; after a loss it comes back by itself (at once, then after 1, 2, …
 * 5 s; after a rejected token when its gate opens) with all its subscriptions, until it is closed. While the hub is
 * known to be gone all methods throw at once.
 *
 * Methods throw only errors of `errors.ts`, and what `assertLeader` of its {@link RestClient} throws.
 */
export class HubConnection {
  private readonly rest: RestClient;
  private readonly token: string;
  private readonly authBackoff: AuthBackoff;
  private readonly clock: Clock;
  private readonly log: Logger;
  private readonly subscriptions = new Set<Subscription>();
  private readonly reconnectListeners = new Set<Listener>();
  private readonly lostListeners = new Set<Listener>();
  private opening: Promise<Connection> | undefined;
  private connection: Connection | undefined;
  /** Between a loss and the return. */
  private reconnecting = false;
  /** Why the last attempt to connect failed. */
  private failure: HubError | undefined;
  private readonly heartbeat: Timer;
  private readonly reconnect: Timer;
  private readonly resubscription: Timer;
  private closed = false;

  constructor(options: HubConnectionOptions) {
    this.rest = options.rest;
    this.token = options.token;
    this.authBackoff = options.authBackoff ?? new AuthBackoff(options.clock);
    this.clock = options.clock;
    this.log = options.log;
    this.heartbeat = new Timer(options.clock);
    this.reconnect = new Timer(options.clock);
    this.resubscription = new Timer(options.clock);
  }

  get connected(): boolean {
    return this.connection?.connected ?? false;
  }

  /** Sends a command and resolves with its result. */
  command<K extends keyof Commands>(
    type: K,
    ...[fields, options]: CommandArguments<K, CommandOptions>
  ): Promise<CommandResult<K>> {
    const answer = this.requireConnection().then((connection) => {
      this.rest.assertLeader(); // whether a command changes anything cannot be told by its name
      return connection.sendMessagePromise<CommandResult<K>>({ type, ...fields });
    });
    return this.answerWithin(type, answer, options?.timeout);
  }

  /**
   * Calls `onEvent` for every event of that type. It goes on after a reconnect, but what happened in between is not
   * told: see `onReconnect`. Resolves, once the hub has agreed, with the function that ends it.
   */
  subscribeEvents<K extends keyof Events>(
    eventType: K,
    onEvent: (data: Events[K]) => void,
  ): Promise<() => Promise<void>> {
    const message = { type: 'subscribe_events', event_type: eventType };
    return this.follow(message, (event) => onEvent((event as { data: Events[K] }).data));
  }

  /** Like `subscribeEvents`, for a command that is answered by a stream of messages. */
  subscribe<K extends keyof Streams>(
    type: K,
    fields: StreamFields<K>,
    onMessage: (message: StreamMessage<K>) => void,
  ): Promise<() => Promise<void>> {
    return this.follow({ type, ...fields }, (message) => onMessage(message as StreamMessage<K>));
  }

  /** Calls `listener` each time the connection is back and its subscriptions stand again. */
  onReconnect(listener: Listener): () => void {
    this.reconnectListeners.add(listener);
    return () => void this.reconnectListeners.delete(listener);
  }

  /** Calls `listener` each time an open connection was lost. */
  onLost(listener: Listener): () => void {
    this.lostListeners.add(listener);
    return () => void this.lostListeners.delete(listener);
  }

  /** Ends the connection for good; what is under way is rejected. */
  close(): void {
    this.closed = true;
    this.heartbeat.clear();
    this.reconnect.clear();
    this.resubscription.clear();
    this.subscriptions.clear();
    const { socket } = this.connection ?? {};
    this.connection?.close();
    terminate(socket); // a hub that hangs would not answer the farewell
  }

  private async follow(
    message: Subscription['message'],
    onEvent: Subscription['onEvent'],
  ): Promise<() => Promise<void>> {
    const { type } = message;
    const subscription: Subscription = {
      message,
      onEvent: (event) => this.callAll([() => onEvent(event)]),
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
    if (this.reconnecting && this.failure) throw this.failure;
    return this.open();
  }

  private async open(): Promise<Connection> {
    if (this.connection?.connected) return this.connection;
    return (this.opening ??= this.connect().finally(() => (this.opening = undefined)));
  }

  private async connect(): Promise<Connection> {
    if (this.closed) throw new HubUnreachable('the connection to the hub is closed');
    this.authBackoff.admit();
    try {
      const socket = await openSocket(this.rest, this.token, this.clock);
      if (this.closed) {
        terminate(socket);
        throw new HubUnreachable('the connection to the hub is closed');
      }
      return this.attach(await createConnection({ createSocket: () => Promise.resolve(socket) }));
    } catch (error) {
      if (error instanceof HubError) this.failure = error;
      if (error instanceof TokenRejected) this.authBackoff.recordRejection(error);
      throw error;
    }
  }

  private attach(connection: Connection): Connection {
    this.authBackoff.recordSuccess();
    this.failure = undefined;
    this.connection = connection;
    this.scheduleHeartbeat(connection);
    connection.addEventListener('disconnected', () => {
      connection.close(); // the library would reconnect on a clock of its own
      this.handleLoss();
    });
    if (this.reconnecting) void this.resubscribe(connection);
    this.reconnecting = false;
    return connection;
  }

  private handleLoss(): void {
    this.log.warn({ url: this.rest.address.url }, 'connection to the hub lost');
    this.heartbeat.clear();
    this.resubscription.clear();
    this.connection = undefined;
    for (const subscription of this.subscriptions) subscription.cancel = undefined;
    this.reconnecting = true;
    this.scheduleReconnect(0);
    this.callAll(this.lostListeners);
  }

  private scheduleReconnect(attempt: number): void {
    const pauseMs = Math.max(Math.min(attempt * 1_000, MAX_RECONNECT_DELAY), this.authBackoff.remaining);
    this.reconnect.set(pauseMs, () => {
      this.open().catch(() => {
        if (!this.closed) this.scheduleReconnect(attempt + 1); // `failure` tells the callers why
      });
    });
  }

  /** Subscribes again to all that the hub has forgotten. What it does not offer yet (it is starting) is tried later. */
  private async resubscribe(connection: Connection): Promise<void> {
    const missing = [...this.subscriptions].filter((subscription) => !subscription.cancel);
    const results = await Promise.allSettled(missing.map((each) => this.subscribeInHub(connection, each)));
    if (!connection.connected || this.closed) return;
    const failed = results.find((result) => result.status === 'rejected');
    if (!failed) return this.callAll(this.reconnectListeners);
    this.log.warn({ reason: messageOf(failed.reason) }, 'the hub does not accept a subscription again yet');
    this.resubscription.set(MAX_RECONNECT_DELAY, () => void this.resubscribe(connection));
  }

  private async subscribeInHub(connection: Connection, subscription: Subscription): Promise<void> {
    const { message, onEvent } = subscription;
    // Not the library's own resubscription: it leaves a refusal as an unhandled rejection.
    const started = connection.subscribeMessage(onEvent, { ...message }, { resubscribe: false });
    try {
      subscription.cancel = await this.answerWithin(message.type, started);
    } catch (error) {
      // It may stand in the hub without our knowing; a new connection makes sure.
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
      throw commandError(error, this.rest.redact);
    }
  }

  private callAll(listeners: Iterable<Listener>): void {
    for (const listener of [...listeners]) {
      try {
        listener();
      } catch (error) {
        this.log.error({ error }, 'a listener of the hub connection failed');
      }
    }
  }
}
