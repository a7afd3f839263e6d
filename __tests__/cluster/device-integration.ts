import { cp, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The behaviour of an integration for tests, and of the device behind it. */
export interface Device {
  /** Seconds that the hub takes to set an entry up. */
  readonly setupSleep?: number;
  /** Set-ups from now on that fail. */
  readonly setupFailures?: number;
  /** Seconds that the hub takes to answer the form `user`. */
  readonly formSleep?: number;
  /** Password of the device. With it, the form `user` asks for one, and a set-up with another one needs new credentials. */
  readonly password?: string;
  /** The field of the form of a reauthentication: the password, or none. */
  readonly reauth?: 'password' | 'confirmation';
  /** The host is the unique id, so that a second flow for it ends with `already_configured`. */
  readonly hasUniqueId?: boolean;
  /** Such a flow makes an entry, by which the hub replaces the former one. */
  readonly replaces?: boolean;
  /** Such a flow changes the entry instead, and ends with `reconfigure_successful`. */
  readonly takesOver?: boolean;
  /** A form `pick` comes first. */
  readonly picks?: boolean;
  /** Has a form to reconfigure it, which asks for the host. Read at the start of the hub. */
  readonly reconfigures?: boolean;
  /** Has options, which ask for an interval. Read at the start of the hub. */
  readonly hasOptions?: boolean;
}

/** The requests to the device, in this order. */
interface DeviceRequest {
  /** Host of an entry that was set up. */
  readonly setup?: string;
  /** Password of a login. */
  readonly login?: string;
  /** Fields of a reauthentication that was answered. */
  readonly reauth?: readonly string[];
  /** Host of a reconfiguration. */
  readonly reconfigure?: string;
}

/** A custom integration on the volume of a hub. Each domain has the same code, and a behaviour of its own. */
export class DeviceIntegration {
  private constructor(
    private readonly directory: string,
    private device: Device,
  ) {}

  /** Puts it on the volume of a hub that has not started yet. */
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

  /** The device behaves so from now on; fields that are not named stay as they were set before. */
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
