const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

interface LocalTime {
  /** The day, such as `Mon 2 Nov 2026`. */
  readonly day: string;
  /** The time of day, such as `19:09:00`. */
  readonly clock: string;
}

/**
 * Day and time of day of an ISO time, in the offset of that time. A text of another form is returned as the
 * time of day.
 */
export function localTimeOf(at: string): LocalTime {
  const [, year, month, day, clock] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d:\d\d:\d\d)/.exec(at) ?? [];
  if (clock === undefined) return { day: '', clock: at };
  const weekday = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDay();
  return { day: `${DAYS[weekday]} ${Number(day)} ${MONTHS[Number(month) - 1]} ${year}`, clock };
}

/** A time without the year: `Mon 2 Nov 19:09:00`. */
export function momentOf(at: string): string {
  const { day, clock } = localTimeOf(at);
  return `${day.replace(/ \d{4}$/, '')} ${clock}`.trim();
}

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** A duration in its two largest units: `2 d 3 h`, `5 min`, `1.5 s`. */
export function spanOf(seconds: number): string {
  if (seconds < 60) return `${Number(seconds.toFixed(seconds < 1 ? 2 : seconds < 10 ? 1 : 0))} s`;
  let rest = Math.round(seconds);
  const parts = [...UNITS, ['s', 1] as const].flatMap(([unit, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? [] : [`${count} ${unit}`];
  });
  return parts.slice(0, 2).join(' ');
}
