/** The verdict of one check about one subject. */
export interface Finding {
  /** The name of the check, such as `trusted proxies`. */
  readonly check: string;
  /** `Hub villa`, `CRD hubs.hub-operator.dev`, `cluster` */
  readonly subject: string;
  /** `notice`: worth to know, and nothing is broken. `skipped`: the check could not be made. */
  readonly verdict: 'ok' | 'notice' | 'fault' | 'skipped';
  /** The fault or notice, as a sentence. */
  readonly message: string;
  /** The way out of a fault or notice, a sentence or a text to copy. */
  readonly remedy?: string;
}

/** Makes the findings of one check about one subject. */
export const about = (check: string, subject: string) => ({
  ok: (message: string): Finding => ({ check, subject, verdict: 'ok', message }),
  fault: (message: string, remedy: string): Finding => ({
    check,
    subject,
    verdict: 'fault',
    message,
    remedy,
  }),
  notice: (message: string, remedy: string): Finding => ({
    check,
    subject,
    verdict: 'notice',
    message,
    remedy,
  }),
  skipped: (message: string): Finding => ({ check, subject, verdict: 'skipped', message }),
});
