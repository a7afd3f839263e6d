import type { Field } from './schema';

/** Decimals are strings, so that other programs that read and write the resource keep all digits. */

export const latitude = {
  type: 'string',
  description: 'Degrees north, a decimal in quotes from "-90" to "90", such as "52.5200".',
  pattern: '^[+-]?([0-8]?[0-9](\\.[0-9]{1,15})?|90(\\.0{1,15})?)$',
  maxLength: 20,
} as const satisfies Field;

export const longitude = {
  type: 'string',
  description: 'Degrees east, a decimal in quotes from "-180" to "180", such as "13.4050".',
  pattern: '^[+-]?((1[0-7][0-9]|[0-9]?[0-9])(\\.[0-9]{1,15})?|180(\\.0{1,15})?)$',
  maxLength: 20,
} as const satisfies Field;
