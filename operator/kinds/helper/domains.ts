/** The integration of the hub that each sort of helper belongs to. */
export const helperDomains = {
  boolean: 'input_boolean',
  button: 'input_button',
  number: 'input_number',
  text: 'input_text',
  select: 'input_select',
  datetime: 'input_datetime',
  counter: 'counter',
  timer: 'timer',
  schedule: 'schedule',
} as const;

export type HelperType = keyof typeof helperDomains;
