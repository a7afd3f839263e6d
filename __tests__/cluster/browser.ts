import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

// A real browser: that of the machine, or else Debian's, which is installed.

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
/** In milliseconds. A package server that does not answer must not delay all other tests. */
const INSTALL_TIMEOUT = 300_000;
/** Milliseconds until something appears on a page of a busy machine. */
const TIMEOUT = 120_000;

/** The path of a browser, or the reason why there is none. */
type FoundBrowser = { readonly path: string } | { readonly obstacle: string };

/**
 * Finds a browser. As root, installs Debian's where there is none. The function is synchronous, because jest
 * calls it before it knows which tests there are.
 */
export function findBrowser(): FoundBrowser {
  const present = onPath();
  if (present !== undefined) return { path: present };
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return { obstacle: `PATH has none of ${PROGRAMS.join(', ')}, and only root can install one` };
  const failure = install();
  if (failure !== undefined) return { obstacle: `apt-get cannot install chromium: ${failure}` };
  const installed = onPath();
  return installed === undefined ? { obstacle: 'the package chromium has no browser' } : { path: installed };
}

function onPath(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => PROGRAMS.map((name) => join(folder, name))).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function install(): string | undefined {
  const command = ['install', '--yes', '--no-install-recommends', 'chromium'];
  if (failureOf(command) === undefined) return undefined;
  return failureOf(['update']) ?? failureOf(command);
}

/** Runs apt-get. Returns the last line of its output if it fails. */
function failureOf(args: readonly string[]): string | undefined {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = ['-o', 'DPkg::Lock::Timeout=120'];
  const { error, status, stderr } = spawnSync('apt-get', [...options, ...args], {
    encoding: 'utf8',
    env,
    timeout: INSTALL_TIMEOUT,
  });
  if (error) return error.message;
  return status === 0 ? undefined : stderr.trim().split('\n').at(-1);
}

/** The frontend of a hub in a browser, with the token of a user. */
export class HubInBrowser {
  private constructor(
    private readonly browser: Browser,
    readonly page: Page,
    private readonly url: string,
  ) {}

  static async open(executablePath: string, url: string, token: string): Promise<HubInBrowser> {
    // Chromium's sandbox does not work for root.
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(TIMEOUT);
    const login = {
      access_token: token,
      token_type: 'Bearer',
      refresh_token: '',
      clientId: `${url}/`,
      hassUrl: url,
      expires_in: 1e9,
      expires: 1e13,
    };
    await page.addInitScript(`localStorage.setItem('hassTokens', '${JSON.stringify(login)}')`);
    return new HubInBrowser(browser, page, url);
  }

  async goto(path: string): Promise<void> {
    await this.page.goto(`${this.url}${path}`);
  }

  /**
   * Clicks a button with exactly this text, or with a text that matches. Among several such buttons it clicks
   * the topmost.
   */
  async click(name: string | RegExp): Promise<void> {
    await this.page.getByRole('button', { name, exact: true }).last().click();
  }

  /** Chooses an option of a list that is open. */
  async choose(name: RegExp): Promise<void> {
    await this.page.getByRole('option', { name }).click();
  }

  async close(): Promise<void> {
    await this.browser.close();
  }
}
