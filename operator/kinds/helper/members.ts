import { anyValue, wholeMap } from '../entity';
import { flag, nonEmptyText, textUpTo } from '../fields';
import type { Field, Schema } from '../schema';

// The settings of each sort of helper. The hub replaces a helper as a whole, so that an absent field has the default of the hub.

/** Characters of a state of the hub. */
const LONGEST_STATE = 255;

const AT_EACH_START =
  'It is set at each start of the hub. Absent: the hub restores the value that the helper had.';

const integer = (description: string) =>
  ({ type: 'integer', format: 'int64', description }) as const satisfies Schema;

const number = (description: string) => ({ type: 'number', description }) as const satisfies Schema;

const unit = nonEmptyText(64, 'Unit of the value, such as `°C`. Absent: none.');

const boolean = {
  ...wholeMap,
  description: 'Settings of a switch (`input_boolean`). Absent: the defaults.',
  properties: { initial: flag(`Whether it is on. ${AT_EACH_START}`) },
} as const satisfies Field;

const numberMember = {
  type: 'object',
  description: 'Settings of a number (`input_number`). The hub restores the value at its start.',
  properties: {
    min: number('Lowest value.'),
    max: number('Highest value, above `min`.'),
    step: { ...number('Step between two values. Default 1.'), minimum: 1e-9 },
    mode: {
      type: 'string',
      description: 'How dashboards show it. Default slider.',
      enum: ['slider', 'box'],
    },
    unit,
    deviceClass: {
      type: 'string',
      description:
        'Kind of the quantity, such as `temperature`, which `unit` has to fit. Needs Home Assistant 2026.11. Absent: none.',
      pattern: '^[a-z0-9_]+$',
      maxLength: 64,
    },
  },
  required: ['min', 'max'],
  'x-kubernetes-validations': [
    { rule: 'self.max > self.min', message: 'max must be greater than min', fieldPath: '.max' },
  ],
} as const satisfies Field;

const text = {
  ...wholeMap,
  description: 'Settings of a text (`input_text`). Absent: the defaults.',
  properties: {
    min: {
      type: 'integer',
      description: 'Smallest number of characters. Default 0.',
      minimum: 0,
    },
    max: {
      type: 'integer',
      description: 'Largest number of characters. Default 100.',
      minimum: 1,
      maximum: LONGEST_STATE,
    },
    pattern: nonEmptyText(
      1024,
      'Regular expression that a text has to match. Absent: any text. The hub does not load a helper whose expression is wrong, so the operator takes the parts ' +
        'that the hub and the browser understand alike: characters, classes, groups, alternatives, repetitions, anchors and look-ahead.',
    ),
    mode: {
      type: 'string',
      description: 'password hides the text on the screen, and nowhere else. Default text.',
      enum: ['text', 'password'],
    },
    unit,
    initial: textUpTo(LONGEST_STATE, `The text. ${AT_EACH_START}`),
  },
  'x-kubernetes-validations': [
    {
      rule: '(has(self.max) ? self.max : 100) >= (has(self.min) ? self.min : 0)',
      message: 'max must not be less than min; without it, max is 100',
      fieldPath: '.max',
    },
    {
      rule: '!has(self.initial) || (size(self.initial) >= (has(self.min) ? self.min : 0) && size(self.initial) <= (has(self.max) ? self.max : 100))',
      message: 'initial must have at least min and at most max characters (default 0 and 100)',
      fieldPath: '.initial',
    },
  ],
} as const satisfies Field;

const select = {
  type: 'object',
  description:
    'Settings of a choice (`input_select`). When the present choice is removed, the state is `unknown` until another is chosen.',
  properties: {
    options: {
      type: 'array',
      description: 'The choices, each once, in the order in which dashboards show them.',
      items: { type: 'string', maxLength: LONGEST_STATE },
      minItems: 1,
      maxItems: 256,
      'x-kubernetes-list-type': 'set',
    },
    initial: textUpTo(LONGEST_STATE, `One of \`options\`. ${AT_EACH_START}`),
  },
  required: ['options'],
  'x-kubernetes-validations': [
    {
      rule: '!has(self.initial) || self.initial in self.options',
      message: 'initial must be one of options',
      fieldPath: '.initial',
    },
  ],
} as const satisfies Field;

const datetime = {
  type: 'object',
  description: 'Settings of a date, a time, or both (`input_datetime`).',
  properties: {
    date: flag('True: it has a date. Default false.'),
    time: flag('True: it has a time. Default false.'),
    initial: {
      type: 'string',
      description:
        'In quotes: `2026-12-24 18:00:00` with date and time, `2026-12-24` with a date alone, `18:00:00` with a time alone; seconds may be ' +
        `left out. ${AT_EACH_START}`,
      pattern:
        '^([12][0-9]{3}-[01][0-9]-[0-3][0-9]|([12][0-9]{3}-[01][0-9]-[0-3][0-9] )?([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?)$',
      maxLength: 19,
    },
  },
  'x-kubernetes-validations': [
    {
      rule: '(has(self.date) && self.date) || (has(self.time) && self.time)',
      message: 'set date, time or both to true',
    },
    {
      rule:
        '!has(self.initial) || ' +
        "(self.initial.contains('-') == (has(self.date) && self.date) && self.initial.contains(':') == (has(self.time) && self.time))",
      message: 'initial has the form of a date, a time, or both with a space, as date and time say',
      fieldPath: '.initial',
    },
  ],
} as const satisfies Field;

const counter = {
  ...wholeMap,
  description: 'Settings of a counter (`counter`). Absent: the defaults.',
  properties: {
    initial: integer('The value of a new counter, and after a reset. Default 0.'),
    step: { ...integer('The number that is added or taken away. Default 1.'), minimum: 0 },
    minimum: integer('Lowest value. Absent: none.'),
    maximum: integer('Highest value. Absent: none.'),
    restore: flag('False: it is `initial` at each start of the hub. Default true: it keeps its value.'),
  },
  'x-kubernetes-validations': [
    {
      rule: '!has(self.minimum) || !has(self.maximum) || self.minimum <= self.maximum',
      message: 'maximum must not be less than minimum',
      fieldPath: '.maximum',
    },
    {
      rule:
        '(!has(self.minimum) || (has(self.initial) ? self.initial : 0) >= self.minimum) && ' +
        '(!has(self.maximum) || (has(self.initial) ? self.initial : 0) <= self.maximum)',
      message: 'initial, which is 0 when it is absent, must lie between minimum and maximum',
      fieldPath: '.initial',
    },
  ],
} as const satisfies Field;

const timer = {
  ...wholeMap,
  description: 'Settings of a timer (`timer`). Absent: the defaults.',
  properties: {
    duration: {
      type: 'string',
      description: 'How long it runs, as `H:MM:SS` in quotes. Default "0:00:00".',
      pattern: '^[0-9]{1,5}:[0-5][0-9]:[0-5][0-9]$',
      maxLength: 11,
    },
    restore: flag('True: it runs on after a restart of the hub. Default false.'),
  },
} as const satisfies Field;

const slots = (day: string) =>
  ({
    type: 'array',
    description: `When it is on, on ${day}, in any order. Default: never.`,
    items: {
      type: 'object',
      properties: {
        from: {
          type: 'string',
          description: 'Start, as `HH:MM` or `HH:MM:SS` in quotes.',
          pattern: '^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$',
          maxLength: 8,
        },
        to: {
          type: 'string',
          description: 'End, later than `from`. "24:00" is the end of the day.',
          pattern: '^(([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?|24:00(:00)?)$',
          maxLength: 8,
        },
        data: {
          ...wholeMap,
          description:
            'Attributes of the schedule during this time: texts, numbers, true and false. Absent: none.',
          additionalProperties: anyValue,
          maxProperties: 64,
        },
      },
      required: ['from', 'to'],
    },
    maxItems: 64,
  }) as const satisfies Field;

const schedule = {
  ...wholeMap,
  description: 'Settings of a schedule (`schedule`), by day of the week. Absent: it is never on.',
  properties: {
    monday: slots('Mondays'),
    tuesday: slots('Tuesdays'),
    wednesday: slots('Wednesdays'),
    thursday: slots('Thursdays'),
    friday: slots('Fridays'),
    saturday: slots('Saturdays'),
    sunday: slots('Sundays'),
  },
} as const satisfies Field;

export const members = {
  boolean,
  number: numberMember,
  text,
  select,
  datetime,
  counter,
  timer,
  schedule,
} as const;
