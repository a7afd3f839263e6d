import { home, type Home } from '../../../cluster/hub-test';

/** An automation whose action is taken from the event: `fireStep('act', { action, target, data, after })`. */
const act = {
  id: 'act',
  alias: 'Act',
  mode: 'parallel',
  max: 1000,
  triggers: [{ trigger: 'event', event_type: 'act' }],
  actions: [
    { delay: { seconds: '{{ trigger.event.data.after | default(0) }}' } },
    {
      action: '{{ trigger.event.data.action }}',
      target: '{{ trigger.event.data.target | default({}) }}',
      data: '{{ trigger.event.data.data | default({}) }}',
    },
  ],
};

const notify = (message: string) => ({ action: 'notify.phone', data: { message } });

const CONFIGURATION = `
input_boolean: {film: {}, holiday: {}}
input_number: {level: {min: 0, max: 100, initial: 7}}
input_text: {note: {}}
input_select: {mode: {options: [day, night]}}
input_datetime: {wake: {has_time: true, has_date: false}}
input_button: {bell: {}}
counter: {visits: {}}
timer: {oven: {duration: '00:10:00'}}
template:
  - binary_sensor:
      - name: Dark
        state: "{{ states('sensor.lux') | float(100) < 10 }}"
`;

/** The home for the tests of all keywords of a test file. */
export const homeOfEvents: Home = home({
  configuration: CONFIGURATION,
  floors: [{ name: 'Ground' }],
  labels: [{ name: 'Night' }],
  areas: [{ name: 'Living room', floor: 'Ground', labels: ['Night'] }, { name: 'Kitchen' }],
  zones: [{ name: 'Work', latitude: 52.5, longitude: 13.3, radius: 200 }],
  disabled: ['off'],
  automations: [
    act,
    {
      id: 'hall_off',
      alias: 'Hall off',
      triggers: [{ trigger: 'state', entity_id: 'binary_sensor.hall', to: 'off', for: '00:05:00' }],
      actions: [{ action: 'light.turn_off', target: { entity_id: 'light.hall' } }],
    },
    {
      id: 'seven',
      alias: 'Seven',
      triggers: [{ trigger: 'time', at: '07:00:00' }],
      actions: [notify('seven')],
    },
    {
      id: 'eight',
      alias: 'Eight',
      triggers: [{ trigger: 'time', at: '08:00:00' }],
      actions: [{ action: 'light.turn_off', target: { entity_id: 'light.hall' } }],
    },
    {
      id: 'enters',
      alias: 'Enters',
      triggers: [
        { trigger: 'zone', entity_id: 'person.ada', zone: 'zone.home', event: 'enter' },
        { trigger: 'numeric_state', entity_id: 'zone.home', above: 0 },
      ],
      actions: [notify('{{ trigger.platform }}')],
      mode: 'queued',
    },
    {
      id: 'pauses',
      alias: 'Pauses',
      triggers: [{ trigger: 'event', event_type: 'pauses' }],
      actions: [{ delay: { milliseconds: 300 } }, { action: 'a.x' }, { action: 'a.y' }],
    },
    {
      id: 'half_past_two',
      alias: 'Half past two',
      triggers: [{ trigger: 'time', at: '02:30:00' }],
      actions: [notify('half past two')],
    },
    {
      id: 'off',
      alias: 'Off',
      triggers: [{ trigger: 'event', event_type: 'off' }],
      actions: [notify('is on')],
    },
    {
      id: 'night',
      alias: 'Night',
      triggers: [{ trigger: 'event', event_type: 'night' }],
      conditions: [{ condition: 'time', after: '23:00:00', before: '01:00:00' }],
      actions: [
        notify("{{ now().isoformat() }} {{ today_at('23:30').isoformat() }} {{ utcnow().isoformat() }}"),
      ],
    },
    {
      id: 'follows',
      alias: 'Follows',
      triggers: [{ trigger: 'state', entity_id: 'light.sofa', to: 'on' }],
      actions: [notify("sofa {{ state_attr('light.sofa', 'brightness') }}")],
    },
    {
      id: 'loop',
      alias: 'Loop',
      mode: 'parallel',
      max: 1000,
      triggers: [{ trigger: 'event', event_type: 'loop' }],
      actions: [{ event: 'loop' }],
    },
    {
      id: 'slow_loop',
      alias: 'Slow loop',
      mode: 'parallel',
      max: 1000,
      triggers: [{ trigger: 'event', event_type: 'slow_loop' }],
      actions: [
        { delay: { seconds: '{{ trigger.event.data.delay }}' } },
        { event: 'slow_loop_goes_on', event_data: { delay: '{{ trigger.event.data.delay }}' } },
      ],
    },
    {
      id: 'goes_on',
      alias: 'Goes on',
      mode: 'parallel',
      max: 1000,
      triggers: [{ trigger: 'event', event_type: 'slow_loop_goes_on' }],
      actions: [{ event: 'slow_loop', event_data: { delay: '{{ trigger.event.data.delay }}' } }],
    },
    {
      id: 'counted_loop',
      alias: 'Counted loop',
      mode: 'queued',
      max: 100,
      triggers: [{ trigger: 'event', event_type: 'counted_loop' }],
      conditions: [{ condition: 'template', value_template: '{{ trigger.event.data.left > 0 }}' }],
      actions: [{ event: 'counted_loop', event_data: { left: '{{ trigger.event.data.left - 1 }}' } }],
    },
    {
      id: 'absent',
      alias: 'Absent',
      triggers: [{ trigger: 'event', event_type: 'absent' }],
      conditions: [{ condition: 'state', entity_id: 'sensor.absent', state: 'on' }],
      actions: [notify('never')],
    },
    {
      id: 'odd_name',
      alias: 'The heating has been disabled: now',
      triggers: [{ trigger: 'event', event_type: 'odd_name' }],
      actions: [{ if: [{ condition: 'state', entity_id: 'sensor.absent', state: 'on' }], then: [] }],
    },
    {
      id: 'wrong_template',
      alias: 'Wrong template',
      triggers: [{ trigger: 'event', event_type: 'wrong_template' }],
      actions: [notify("{{ states('sensor.nowhere') | int }}")],
    },
    {
      id: 'started',
      alias: 'Started',
      triggers: [{ trigger: 'homeassistant', event: 'start' }],
      conditions: [{ condition: 'state', entity_id: 'input_boolean.holiday', state: 'on' }],
      actions: [{ action: 'logbook.log', data: { name: 'hub', message: "{{ states('light.sofa') }}" } }],
    },
    {
      id: 'asks',
      alias: 'Asks',
      triggers: [{ trigger: 'event', event_type: 'asks' }],
      actions: [
        {
          action: 'weather.get_forecasts',
          target: { entity_id: 'weather.home' },
          response_variable: 'answer',
        },
        notify('{{ answer }}'),
      ],
    },
    {
      id: 'dark',
      alias: 'Dark',
      triggers: [{ trigger: 'state', entity_id: 'binary_sensor.dark', to: 'on' }],
      actions: [notify('dark')],
    },
    {
      id: 'wake',
      alias: 'Wake',
      triggers: [{ trigger: 'time', at: 'input_datetime.wake' }],
      actions: [notify('wake')],
    },
  ],
  scripts: {
    good_night: {
      sequence: [
        { action: 'light.turn_off', target: { entity_id: 'light.sofa' } },
        { delay: '00:01:00' },
        { action: 'notify.phone', data: { message: 'good night' } },
      ],
    },
  },
  scenes: [{ id: 'cosy', name: 'Cosy', entities: { 'light.sofa': { state: 'on', brightness: 40 } } }],
});
