import type { Script, Step } from '../../stand-in-hub/integrations';
import { form } from '../../stand-in-hub/integrations';

// Flows of integrations as in the `config_flow.py` of Home Assistant 2026.11.0: steps, fields, keys of
// errors. There is no Supervisor, as in a container.

interface StandInForm {
  readonly step_id: string;
  /** Names of text fields. The name of an optional one ends with `?`. */
  readonly fields?: readonly string[];
  /** Fields that replace the text fields. */
  readonly data_schema?: readonly object[];
  /** Options of a menu. */
  readonly menu?: readonly string[];
  /**
   * Whether the step is shown only when the hub has discovered a device, or when the device has an account.
   */
  readonly isSometimes?: boolean;
  /** Whether an answer to the form stops the device. */
  readonly isStop?: boolean;
}

/** A permanent fault: the answer to a step is returned with an error, or the flow ends. */
export interface Fault {
  readonly at: string;
  readonly key: string;
  readonly type: 'error' | 'abort';
  /** Whether the device or service has received credentials. */
  readonly isLogin?: boolean;
}

interface StandIn {
  readonly steps: readonly StandInForm[];
  readonly reconfigure?: readonly StandInForm[];
  readonly options?: readonly StandInForm[];
  /** The forms of the hub when it needs other credentials. */
  readonly reauth?: readonly StandInForm[];
  readonly faults: readonly Fault[];
  /** Whether a user has to act in the hub's UI, so that the resource adopts the entry. */
  readonly isAdopted?: boolean;
}

const aForm = (step_id: string, ...fields: readonly string[]): StandInForm => ({ step_id, fields });
const sometimes = (step: StandInForm): StandInForm => ({ ...step, isSometimes: true });
const menu = (step_id: string, ...options: readonly string[]): StandInForm => ({ step_id, menu: options });
const error = (at: string, ...keys: readonly string[]): Fault[] =>
  keys.map((key) => ({ at, key, type: 'error' }));
const abort = (at: string, ...keys: readonly string[]): Fault[] =>
  keys.map((key) => ({ at, key, type: 'abort' }));
const login = (at: string, ...keys: readonly string[]): Fault[] =>
  keys.map((key) => ({ at, key, type: 'error', isLogin: true }));

const password = aForm('reauth_confirm', 'username', 'password');
const confirmation = aForm('reauth_confirm');
const init = aForm('init', 'an_option?');

/** A section that the hub's UI would send without showing it. */
const mqttSettings = {
  name: 'other_settings',
  type: 'expandable',
  required: true,
  expanded: false,
  schema: [
    { name: 'set_client_cert', required: true, selector: { boolean: {} } },
    { name: 'set_ca_cert', required: true, selector: { select: { options: ['off', 'auto', 'custom'] } } },
    { name: 'keepalive', optional: true, required: false, type: 'string' },
  ],
};
const mqttBroker: StandInForm = {
  step_id: 'broker',
  data_schema: [
    ...['broker', 'port'].map((name) => ({ name, type: 'string', required: true })),
    ...['username', 'password'].map((name) => ({ name, type: 'string', required: false, optional: true })),
    mqttSettings,
  ],
};

export const STAND_INS: Readonly<Record<string, StandIn>> = {
  mqtt: {
    steps: [mqttBroker],
    reconfigure: [mqttBroker],
    options: [init],
    reauth: [password],
    faults: [...error('broker', 'cannot_connect', 'bad_certificate'), ...login('broker', 'invalid_auth')],
  },
  nut: {
    steps: [aForm('user', 'host', 'port', 'username?', 'password?'), sometimes(aForm('ups', 'alias'))],
    reconfigure: [aForm('reconfigure', 'host', 'port', 'username?', 'password?')],
    reauth: [password],
    faults: [
      ...error('user', 'cannot_connect'),
      ...login('user', 'invalid_auth', 'unknown'),
      ...abort('user', 'already_configured', 'no_ups_found'),
    ],
  },
  ping: { steps: [aForm('user', 'host')], options: [init], faults: abort('user', 'already_configured') },
  wled: {
    steps: [aForm('user', 'host')],
    reconfigure: [aForm('user', 'host')],
    options: [init],
    faults: [
      ...error('user', 'cannot_connect', 'unsupported_version'),
      ...abort('user', 'already_configured'),
    ],
  },
  workday: {
    steps: [aForm('user', 'country?'), aForm('options', 'province?', 'days_offset?')],
    options: [aForm('init', 'province?')],
    faults: [...error('options', 'add_holiday_error'), ...abort('options', 'already_configured')],
  },
  template: {
    steps: [menu('user', 'binary_sensor', 'sensor'), aForm('binary_sensor', 'name', 'state')],
    options: [aForm('binary_sensor', 'state')],
    faults: error('binary_sensor', 'invalid_template'),
  },
  cast: {
    steps: [aForm('config', 'known_hosts?')],
    options: [init],
    faults: abort('config', 'single_instance_allowed'),
  },
  systemmonitor: { steps: [aForm('user')], options: [init], faults: abort('user', 'already_configured') },
  tasmota: {
    steps: [aForm('config', 'discovery_prefix?')],
    faults: error('config', 'invalid_discovery_topic'),
  },
  met: {
    steps: [aForm('user', 'location', 'elevation')],
    options: [init],
    faults: abort('user', 'no_home'),
    isAdopted: true,
  },
  esphome: {
    steps: [aForm('user', 'host', 'port?'), aForm('encryption_key', 'noise_psk')],
    reconfigure: [aForm('user', 'host', 'port?')],
    options: [init],
    reauth: [aForm('reauth_encryption_removed_confirm')],
    faults: [
      ...error('user', 'connection_error', 'resolve_error'),
      ...login('encryption_key', 'invalid_psk'),
      ...abort('encryption_key', 'already_configured'),
    ],
  },
  shelly: {
    steps: [
      sometimes(aForm('user', 'device')),
      aForm('user_manual', 'host', 'port?'),
      sometimes(aForm('credentials', 'username', 'password')),
    ],
    reconfigure: [aForm('reconfigure', 'host', 'port?')],
    options: [init],
    reauth: [password],
    faults: [
      ...error('user_manual', 'cannot_connect', 'mac_address_mismatch'),
      ...login('credentials', 'invalid_auth'),
      ...abort('user_manual', 'already_configured', 'another_device'),
    ],
  },
  hue: {
    steps: [sometimes(aForm('init', 'id')), aForm('manual', 'host'), aForm('link')],
    options: [init],
    faults: [
      ...error('link', 'register_failed', 'linking'),
      ...abort('manual', 'cannot_connect', 'already_configured'),
    ],
  },
  yeelight: {
    steps: [aForm('user', 'host?')],
    reconfigure: [aForm('reconfigure', 'host')],
    options: [init],
    faults: [...error('user', 'cannot_connect'), ...abort('user', 'already_configured', 'no_devices_found')],
  },
  tplink: {
    steps: [aForm('user', 'host'), sometimes(aForm('user_auth_confirm', 'username', 'password'))],
    reconfigure: [aForm('reconfigure', 'host')],
    reauth: [password],
    faults: [
      ...error('user', 'cannot_connect'),
      ...login('user_auth_confirm', 'invalid_auth'),
      ...abort('user', 'already_configured', 'already_in_progress'),
    ],
  },
  lifx: {
    steps: [aForm('user', 'host?', 'serial?')],
    reconfigure: [aForm('reconfigure', 'host')],
    faults: [
      ...error('user', 'cannot_connect'),
      ...abort('user', 'already_configured', 'already_in_progress'),
    ],
  },
  zwave_js: {
    steps: [aForm('manual', 'url')],
    reconfigure: [
      menu('reconfigure', 'intent_reconfigure', 'intent_migrate'),
      aForm('manual_reconfigure', 'url'),
    ],
    faults: [
      ...error('manual', 'cannot_connect', 'invalid_ws_url', 'unknown'),
      ...abort('manual', 'already_configured'),
    ],
  },
  zha: {
    steps: [
      aForm('choose_serial_port', 'path'),
      menu('choose_setup_strategy', 'setup_strategy_recommended', 'setup_strategy_advanced'),
      menu('choose_formation_strategy', 'reuse_settings', 'upload_manual_backup', 'form_new_network'),
    ],
    // The form has no fields, and its confirmation unloads Zigbee.
    options: [
      { ...aForm('init'), isStop: true },
      menu('prompt_migrate_or_reconfigure', 'intent_migrate', 'intent_reconfigure'),
    ],
    faults: abort('choose_serial_port', 'wrong_firmware_installed', 'usb_probe_failed'),
  },
  unifi: {
    steps: [
      aForm('user', 'host', 'username', 'password', 'port?', 'verify_ssl?'),
      sometimes(aForm('site', 'site')),
    ],
    reconfigure: [aForm('reconfigure', 'host', 'username', 'password', 'port?', 'verify_ssl?')],
    options: [init],
    reauth: [aForm('user', 'host', 'username', 'password')],
    faults: [
      ...error('user', 'service_unavailable'),
      ...login('user', 'faulty_credentials', 'mfa_required'),
      ...abort('user', 'already_configured'),
    ],
  },
  synology_dsm: {
    steps: [
      aForm('user', 'host', 'username', 'password', 'ssl?', 'verify_ssl?', 'port?'),
      sometimes(aForm('2sa', 'otp_code')),
    ],
    options: [init],
    reauth: [password],
    faults: [
      ...error('user', 'cannot_connect', 'missing_data'),
      ...login('user', 'invalid_auth', 'otp_failed', 'otp_enforced', 'insufficient_privilege', 'unknown'),
      ...abort('user', 'reconfigure_successful'),
    ],
  },
  fritz: {
    steps: [aForm('user', 'host', 'username', 'password', 'ssl?', 'feature_device_tracking?', 'port?')],
    reconfigure: [aForm('reconfigure', 'host', 'port?', 'ssl?')],
    options: [init],
    reauth: [password],
    faults: [
      ...error('user', 'cannot_connect', 'upnp_not_configured', 'already_configured'),
      ...login('user', 'invalid_auth', 'unknown_error'),
    ],
  },
  homekit_controller: {
    steps: [aForm('user', 'device'), aForm('pair', 'pairing_code')],
    faults: [
      ...abort('user', 'no_devices', 'already_paired', 'accessory_not_found_error'),
      ...login('pair', 'authentication_error', 'unable_to_pair', 'max_peers_error'),
    ],
  },
  samsungtv: {
    steps: [aForm('user', 'host')],
    reconfigure: [aForm('reconfigure', 'host')],
    reauth: [confirmation],
    faults: [
      ...error('user', 'invalid_host', 'auth_missing'),
      ...abort('user', 'cannot_connect', 'not_supported'),
    ],
  },
  webostv: {
    steps: [aForm('user', 'host'), aForm('pairing')],
    reconfigure: [aForm('reconfigure', 'host')],
    options: [init],
    reauth: [confirmation],
    faults: [...error('pairing', 'error_pairing', 'cannot_connect'), ...abort('user', 'already_in_progress')],
  },
  androidtv_remote: {
    steps: [aForm('user', 'host'), aForm('pair', 'pin')],
    reconfigure: [aForm('reconfigure', 'host')],
    reauth: [confirmation],
    faults: error('user', 'cannot_connect'),
    isAdopted: true,
  },
  tuya: {
    steps: [
      aForm('user', 'user_code'),
      { step_id: 'scan', data_schema: [{ name: 'QR', selector: { qr_code: {} } }] },
    ],
    reauth: [aForm('reauth_user_code', 'user_code')],
    faults: error('user', 'login_error'),
    isAdopted: true,
  },
  google: {
    steps: [],
    reauth: [confirmation],
    faults: abort('start', 'missing_configuration'),
    isAdopted: true,
  },
  nest: {
    steps: [aForm('create_cloud_project')],
    reauth: [confirmation],
    faults: abort('create_cloud_project', 'missing_configuration'),
    isAdopted: true,
  },
  spotify: {
    steps: [],
    reauth: [confirmation],
    faults: abort('start', 'missing_configuration'),
    isAdopted: true,
  },
};

/**
 * Returns a flow with these steps.
 * @param shown whether the flow shows the steps that depend on a discovery
 */
export function scriptOf(
  steps: readonly StandInForm[],
  end: () => Step,
  { fault, shown = true }: { readonly fault?: Fault | undefined; readonly shown?: boolean } = {},
): Script {
  // Steps with a fault are shown.
  const present = steps.filter((step) => shown || !step.isSometimes || step.step_id === fault?.at);
  return (answers) => {
    const answered = answers.length === 0 ? { step_id: 'start' } : present[answers.length - 1];
    const next = present[answers.length];
    if (fault && answered?.step_id === fault.at)
      return fault.type === 'abort'
        ? { type: 'abort', reason: fault.key }
        : stepOf(answered, { errors: { base: fault.key } });
    return next ? stepOf(next) : end();
  };
}

function stepOf({ step_id, fields = [], data_schema, menu: menu_options }: StandInForm, more = {}): Step {
  if (menu_options) return { type: 'menu', step_id, menu_options } as unknown as Step;
  const schema =
    data_schema ??
    fields.map((field) =>
      field.endsWith('?')
        ? { name: field.slice(0, -1), type: 'string', required: false, optional: true }
        : { name: field, type: 'string', required: true },
    );
  return form([], { step_id, data_schema: schema as never, ...more });
}
