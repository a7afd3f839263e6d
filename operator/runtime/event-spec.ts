import type { EventReason } from '../kinds/reasons';

/** An event to be recorded on a resource. */
export interface EventSpec {
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
  /** Key by which repeated events are detected, for a message with a variable part. Default: the message. */
  readonly series?: string;
}
