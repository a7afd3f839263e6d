import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The behaviour of a test integration, and of the device that it talks to. */
export interface Device {
  /** Seconds that the set-up of an entry takes. */
  readonly setupSleep?: number;
  /** Number of set-ups from now on that fail. */
  readonly setupFailures?: number;
  /** Seconds that the form `user` takes to answer. */
  readonly formSleep?: number;
  /**
   * Password of the device. When it is set, the form `user` asks for a password, and the set-up of an entry
   * with another password starts a reauthentication.
   */
  readonly password?: string;
  /** Whether the form of a reauthentication has the field `password` or no field. */
  readonly reauth?: 'password' | 'confirmation';
  /** Whether the host is the unique id, so that a second flow for it ends with `already_configured`. */
  readonly hasUniqueId?: boolean;
  /** Whether a second flow makes an entry that replaces the former one. */
  readonly replaces?: boolean;
  /** Whether a second flow changes the existing entry instead, and ends with `reconfigure_successful`. */
  readonly takesOver?: boolean;
  /** Whether the flow begins with a form `pick`. */
  readonly picks?: boolean;
  /**
   * Whether the integration has a reconfiguration form, which asks for the host. The hub reads this when it
   * starts.
   */
  readonly reconfigures?: boolean;
  /** Whether the integration has options, which ask for an interval. The hub reads this when it starts. */
  readonly hasOptions?: boolean;
}

/** A request to the device. Exactly one of the fields is set. */
interface DeviceRequest {
  /** Host of an entry that was set up. */
  readonly setup?: string;
  /** Password of a login. */
  readonly login?: string;
  /** Fields that were answered in a reauthentication. */
  readonly reauth?: readonly string[];
  /** Host of a reconfiguration. */
  readonly reconfigure?: string;
}

/**
 * A custom integration on the volume of a hub. All domains have the same code, and each has its own
 * behaviour.
 */
export class DeviceIntegration {
  private constructor(
    private readonly directory: string,
    private device: Device,
  ) {}

  /** Puts the integration on the volume of a hub that has not started yet. */
  static async add(volume: string, domain: string, device: Device = {}): Promise<DeviceIntegration> {
    const directory = join(volume, 'custom_components', domain);
    await mkdir(directory, { recursive: true });
    await cp(join(__dirname, 'device-integration'), directory, { recursive: true });
    const manifest = {
      domain,
      name: domain,
      version: '1.0.0',
      config_flow: true,
      codeowners: [],
      dependencies: [],
      documentation: 'https://example.org',
      iot_class: 'local_polling',
      requirements: [],
    };
    await writeFile(join(directory, 'manifest.json'), JSON.stringify(manifest));
    const integration = new DeviceIntegration(directory, device);
    await integration.change({});
    return integration;
  }

  /** Changes the behaviour of the device from now on. Fields that are not named keep their values. */
  async change(device: Device): Promise<void> {
    this.device = { ...this.device, ...device };
    const file = join(this.directory, 'device.json');
    await writeFile(`${file}.new`, JSON.stringify(this.device));
    await rename(`${file}.new`, file);
  }

  async requests(): Promise<readonly DeviceRequest[]> {
    const text = await readFile(join(this.directory, 'requests.log'), 'utf8').catch(() => '');
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as DeviceRequest);
  }

  /** Passwords of the logins so far. */
  async logins(): Promise<readonly string[]> {
    return (await this.requests()).flatMap(({ login }) => login ?? []);
  }
}
