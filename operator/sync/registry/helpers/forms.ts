import type { FieldForm } from '../entry-type';

// Forms of values that the hub writes in another way than users. Values without such a form stay unchanged.

const withSeconds = (time: string): string => (/^\d\d:\d\d$/.test(time) ? `${time}:00` : time);

/** Form of a date, a time, or both, with seconds. The hub keeps the text unchanged. */
export const moment: FieldForm = {
  toHub: (value) =>
    String(value).replace(
      /(^| )(\d\d:\d\d)$/,
      (_, space: string, time: string) => `${space}${withSeconds(time)}`,
    ),
};

/** Form of a duration: `H:MM:SS`, without leading zeros. */
export const duration: FieldForm = {
  toHub: (value) => String(value).replace(/^0+(?=\d+:\d\d:\d\d$)/, ''),
};

/** Form of a text for which the hub may have an empty one, which means the same as none. */
export const notEmpty: FieldForm = { toHub: (value) => (value === '' ? null : (value as string | null)) };

interface Slot {
  readonly from: string;
  readonly to: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/**
 * Form of the time ranges of a day: sorted, with seconds, and without empty data. The hub itself sorts them
 * only at its start.
 */
export const slots: FieldForm = {
  toHub: (value) =>
    (Array.isArray(value) ? (value as readonly Slot[]) : [])
      .map(({ from, to, data = {} }) => ({
        from: withSeconds(from),
        to: withSeconds(to),
        ...(Object.keys(data).length > 0 && { data }),
      }))
      .sort((a, b) => (a.from < b.from ? -1 : 1)),
};
