import { systemClock } from '../../operator/clock';
import { HubConnection } from '../../operator/client/connection';
import { getConfig } from '../../operator/client/core';
import { completeStep, createUser, LATER_STEPS } from '../../operator/client/onboarding';
import { RestClient } from '../../operator/client/rest';
import { redactor } from '../../operator/client/redact';
import { createToken } from '../../operator/client/tokens';
import { setTimeout as sleep } from 'node:timers/promises';
import { HubProcess } from './hub-process';
import { silentLog } from './silent-log';

export interface OnboardedHub {
  readonly hub: HubProcess;
  /** A long-lived token of its owner. */
  readonly token: string;
}

/** A fresh real hub that is through its onboarding and runs. */
export async function startOnboardedHub(): Promise<OnboardedHub> {
  const hub = await HubProcess.start();
  const rest = new RestClient({ url: hub.url, clock: systemClock, redact: redactor([]) });
  const owner = { name: 'Owner', username: 'owner', password: 'correct horse', language: 'en' };
  const login = await createUser(rest, owner);
  if (!login) throw new Error('the hub is not fresh');
  const connection = new HubConnection({
    rest,
    token: login.accessToken,
    clock: systemClock,
    log: silentLog,
  });
  const token = await createToken(connection, { owner: 'tests', lifespanDays: 30, clock: systemClock });
  connection.close();
  for (const step of LATER_STEPS) await completeStep(rest, step, login.accessToken);
  rest.close();
  await running(hub, token);
  return { hub, token };
}

/** Resolves once the hub has started up completely. */
export async function running(hub: HubProcess, token: string): Promise<void> {
  const rest = new RestClient({ url: hub.url, token, clock: systemClock, redact: redactor([]) });
  const deadline = Date.now() + 60_000;
  while ((await getConfig(rest)).state !== 'RUNNING') {
    if (Date.now() > deadline) throw new Error('the hub does not finish starting');
    await sleep(100);
  }
  rest.close();
}
