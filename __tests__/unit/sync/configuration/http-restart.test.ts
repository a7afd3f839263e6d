import { House } from './house';

const WITHOUT = 'input_boolean:\n  first:\n';
const WITH = `${WITHOUT}http:\n  ip_ban_enabled: false\n`;
const DEFAULTS = { server_port: 8123, ip_ban_enabled: true };

/** A hub that runs with {@link WITHOUT}, and the settings of the web server that were sent to it. */
async function started() {
  const house = new House();
  const sent: unknown[] = [];
  house.hub.attach({
    commands: {
      'http/config': () => ({
        stable: DEFAULTS,
        pending: null,
        default: DEFAULTS,
        active_config_type: 'stable',
      }),
      'http/config/configure': ({ config }) => sent.push(config),
    },
  });
  const before = house.desired(WITHOUT);
  house.begin(before);
  expect(await house.settle(before)).toBe('ConfigurationLoaded');
  return { house, sent };
}

// The hub restarts for each change of these settings.
describe('settings of the web server', () => {
  test('are sent to a hub that may restart', async () => {
    const { house, sent } = await started();
    await house.reconcile(house.desired(WITH), 5);
    expect(sent).toContainEqual({ ...DEFAULTS, ip_ban_enabled: false });
  });

  test('are sent after the restart for another section', async () => {
    const { house, sent } = await started();
    house.isSuspended = true;
    await house.reconcile(house.desired(WITH), 5);
    house.isSuspended = false;
    const desired = house.desired(`${WITH}counter:\n  visits:\n`);
    house.pod.holdsRollouts = true;
    const pending = await house.reconcile(desired, 5);
    expect(sent).toEqual([]);
    expect(pending.message).toContain('The hub is being restarted to load counter');
    house.pod.holdsRollouts = false;
    await house.reconcile(desired, 5);
    expect(sent).not.toEqual([]);
  });

  test('are not sent while the Hub is suspended', async () => {
    const { house, sent } = await started();
    house.isSuspended = true;
    const held = await house.reconcile(house.desired(WITH), 5);
    expect(sent).toEqual([]);
    // A Hub may be suspended for days.
    expect(held).toMatchObject({ reason: 'RestartPending', type: 'Waiting', after: 30_000 });
    expect(held.message).toContain('once the Hub villa no longer reports Suspended');
    house.isSuspended = false;
    await house.reconcile(house.desired(WITH), 5);
    expect(sent).not.toEqual([]);
  });

  test('are not sent to a hub whose Hub is suspended together with the change, or while the hub is asked', async () => {
    const { house, sent } = await started();
    house.showsSuspension = false;
    house.isSuspended = true;
    expect((await house.reconcile(house.desired(WITH), 5)).reason).toBe('RestartPending');
    house.isSuspended = false;
    Object.defineProperty(house, 'occupation', { get: () => void (house.isSuspended = true) });
    const held = await house.reconcile(house.desired(WITH), 5);
    expect(held.message).toContain('once the Hub villa no longer reports Suspended');
    expect(sent).toEqual([]);
  });

  test('are not sent during a backup', async () => {
    const { house, sent } = await started();
    house.occupation = 'backup';
    const held = await house.reconcile(house.desired(WITH), 5);
    expect(sent).toEqual([]);
    expect(held).toMatchObject({
      message: expect.stringContaining('once it no longer makes or restores a backup') as string,
      after: 5_000,
    });
    house.occupation = undefined;
    await house.reconcile(house.desired(WITH), 5);
    expect(sent).not.toEqual([]);
  });
});
