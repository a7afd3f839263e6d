import { messageOf } from '../errors';
import { HubBanned, HubError, HubUnreachable, NotHomeAssistant, NotFound } from './errors';
import { verifyIsHub } from './hub-identity';
import type { RestClient } from './rest';

export const ONBOARDING_STEPS = ['user', 'core_config', 'analytics', 'integration'] as const;
export type OnboardingStep = (typeof ONBOARDING_STEPS)[number];

/**
 * - `unreachable`: nothing (useful) answers yet; `detail` says why.
 * - `not-home-assistant`: something else than a hub answers at this address: it must not be sent a token.
 * - `banned`: the hub refuses our address.
 * - `not-loaded`: the hub answers, but does not serve its API yet.
 * - `onboarding`: first steps are left; `done` says which are made.
 * - `onboarded`: ready for a token.
 */
export type Health =
  | { readonly state: 'unreachable' | 'not-home-assistant'; readonly detail: string }
  | { readonly state: 'banned' | 'not-loaded' | 'onboarded' }
  | { readonly state: 'onboarding'; readonly done: Readonly<Record<OnboardingStep, boolean>> };

/**
 * How far the hub is, asked without a token and without feeding its ban (rules.md, "Health of a hub"): `/manifest.json`, then
 * `/api/onboarding`. The latter is loaded before the former is served, and gone after a restart once all is done: so
 * a 404 there means done.
 */
export async function probeHealth(rest: RestClient): Promise<Health> {
  try {
    await verifyIsHub(rest);
  } catch (error) {
    if (error instanceof NotFound) return { state: 'not-loaded' };
    return failure(error);
  }
  try {
    const steps = await rest.get<OnboardingAnswer>('/api/onboarding', { token: null });
    return onboardingHealth(steps);
  } catch (error) {
    if (error instanceof NotFound) return { state: 'onboarded' };
    return failure(error);
  }
}

type OnboardingAnswer = readonly { readonly step: string; readonly done: boolean }[];

function onboardingHealth(steps: OnboardingAnswer): Health {
  const isDone = (step: OnboardingStep) => steps.some((entry) => entry.step === step && entry.done);
  const done = {
    user: isDone('user'),
    core_config: isDone('core_config'),
    analytics: isDone('analytics'),
    integration: isDone('integration'),
  };
  return steps.every((entry) => entry.done) ? { state: 'onboarded' } : { state: 'onboarding', done };
}

function failure(error: unknown): Health {
  if (error instanceof HubBanned) return { state: 'banned' };
  if (error instanceof NotHomeAssistant) return { state: 'not-home-assistant', detail: error.message };
  if (error instanceof HubUnreachable) return { state: 'unreachable', detail: error.message };
  if (error instanceof HubError)
    return { state: 'unreachable', detail: `the hub fails: ${messageOf(error)}` };
  throw error;
}
