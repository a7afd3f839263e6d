import type { FieldForm } from '../entry-type';

// Values that the hub writes in another way than people do. A value that has none of these forms stays as it is.

const withSeconds = (time: string): string => (/^\d\d:\d\d$/.test(time) ? `${time}:00` : time);

/** A date, a time, or both: the hub keeps the text. */
export const moment: FieldForm = {
  toHub: (value) =>
    String(value).replace(
      /(^| )(\d\d:\d\d)$/,
      (_, space: string, time: string) => `${space}${withSeconds(time)}`,
    ),
};

/** `H:MM:SS`. */
export const duration: FieldForm = {
  toHub: (value) => String(value).replace(/^0+(?=\d+:\d\d:\d\d$)/, ''),
};

interface Slot {
  readonly from: string;
  readonly to: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** The times of one day, sorted. The hub sorts them at its start, and keeps no empty data that matters. */
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
