/** The parts of the automation that all benches use: two triggers, a condition and three actions. */
export const automationParts = (index: number) => ({
  alias: `Automation number ${index}`,
  triggers: [
    { trigger: 'state', entity_id: `binary_sensor.motion_${index}`, from: 'off', to: 'on' },
    { trigger: 'time', at: '07:30:00', id: 'morning' },
  ],
  conditions: [{ condition: 'state', entity_id: 'sun.sun', state: 'below_horizon' }],
  actions: [
    { action: 'light.turn_on', target: { entity_id: `light.room_${index}` }, data: { brightness: 128 } },
    { delay: { minutes: 5 } },
    { action: 'light.turn_off', target: { entity_id: `light.room_${index}` } },
  ],
});
