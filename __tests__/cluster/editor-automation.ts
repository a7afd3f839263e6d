interface EditorAutomation {
  readonly id: string;
  readonly alias: string;
  readonly isFromBlueprint: boolean;
  /** Default: one service call. */
  readonly actions?: readonly object[];
}

/** A service call as the hub's editor saves it. */
export const EDITOR_ACTION = {
  action: 'light.turn_on',
  metadata: {},
  target: { entity_id: 'light.a' },
  data: {},
};

/** An automation as the hub's editor saves it. */
export const editorAutomation = ({
  id,
  alias,
  isFromBlueprint,
  actions = [EDITOR_ACTION],
}: EditorAutomation) => ({
  id,
  alias,
  description: '',
  ...(isFromBlueprint
    ? {
        use_blueprint: {
          path: 'homeassistant/motion_light.yaml',
          input: { motion_entity: 'binary_sensor.m', light_target: { entity_id: ['light.a'] } },
        },
      }
    : {
        mode: 'single',
        triggers: [{ trigger: 'state', entity_id: ['light.a'], from: null, to: ['on'] }],
        conditions: [],
        actions,
      }),
});
