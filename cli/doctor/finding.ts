/** The result of one check for one subject. */
export interface Finding {
  /** Name of the check, such as `trusted proxies`. */
  readonly check: string;
  /** The object that was checked, such as `Hub villa`, `CRD hubs.hub-operator.dev` or `cluster`. */
  readonly subject: string;
  /** `notice`: nothing is broken, but the user should know. `skipped`: the check could not be made. */
  readonly verdict: 'ok' | 'notice' | 'fault' | 'skipped';
  /** The result as a sentence. */
  readonly message: string;
  /** The remedy for a fault or notice: a sentence, or a text to copy. */
  readonly remedy?: string;
}

/** Creates findings for one check of one subject. */
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
