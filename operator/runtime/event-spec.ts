import type { EventReason } from '../kinds/reasons';

/** An event to be written onto a resource. */
export interface EventSpec {
  readonly type: 'Normal' | 'Warning';
  readonly reason: EventReason;
  readonly message: string;
}
