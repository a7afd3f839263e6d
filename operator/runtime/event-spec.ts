import type { EventReason } from '../kinds/reasons';

/** An event to be written onto a resource. */
export interface EventSpec {
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
  /**
   * Stands for the message when repeated events are counted: for a message with a part that is different each time.
   * Default: the message.
   */
  readonly series?: string;
}
