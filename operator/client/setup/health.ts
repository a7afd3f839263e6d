import { messageOf } from '../../base/errors';
import { onboardingSteps } from '../connection/answers';
import { HubBanned, HubError, HubUnreachable, NotHomeAssistant, NotFound } from '../connection/errors';
import { verifyIsHub } from '../connection/hub-identity';
import type { RestClient } from '../connection/rest';
import type { Of } from '../connection/shape';

export const ONBOARDING_STEPS = ['user', 'core_config', 'analytics', 'integration'] as const;
export type OnboardingStep = (typeof ONBOARDING_STEPS)[number];

/**
 * - `unreachable`: no answer, or an error; `detail` is the cause.
 * - `not-home-assistant`: another server answers at this address; it must not get a token.
 * - `banned`: the hub has banned the operator's address.
 * - `not-loaded`: the hub answers but does not serve its API yet.
 * - `onboarding`: some onboarding steps are not completed; `done` tells which are.
 * - `onboarded`: the hub accepts tokens.
 */
export type Health =
  | { readonly state: 'unreachable' | 'not-home-assistant'; readonly detail: string }
  | { readonly state: 'banned' | 'not-loaded' | 'onboarded' }
  | { readonly state: 'onboarding'; readonly done: Readonly<Record<OnboardingStep, boolean>> };

/**
 * Determines the hub's state from `/manifest.json` and `/api/onboarding`, without a token, so that the
 * requests do not count toward a ban (rules.md, "Health of a hub"). The hub loads `/api/onboarding` before it
 * serves the manifest. After onboarding is completed and the hub restarted, it no longer offers
 * `/api/onboarding`, so that a 404 means completed.
 */
export async function probeHealth(rest: RestClient): Promise<Health> {
  try {
    await verifyIsHub(rest);
  } catch (error) {
    if (error instanceof NotFound) return { state: 'not-loaded' };
    return failure(error);
  }
  try {
    const steps = await rest.get('/api/onboarding', { token: null, answer: onboardingSteps });
    return onboardingHealth(steps);
  } catch (error) {
    if (error instanceof NotFound) return { state: 'onboarded' };
    return failure(error);
  }
}

function onboardingHealth(steps: Of<typeof onboardingSteps>): Health {
  const isDone = (step: OnboardingStep) => steps.some((entry) => entry.step === step && entry.done);
  const done = Object.fromEntries(ONBOARDING_STEPS.map((step) => [step, isDone(step)])) as Readonly<
    Record<OnboardingStep, boolean>
  >;
  return steps.every((entry) => entry.done) ? { state: 'onboarded' } : { state: 'onboarding', done };
}

function failure(error: unknown): Health {
  if (error instanceof HubBanned) return { state: 'banned' };
  if (error instanceof NotHomeAssistant) return { state: 'not-home-assistant', detail: error.message };
  if (error instanceof HubUnreachable) return { state: 'unreachable', detail: error.message };
  if (error instanceof HubError)
    return { state: 'unreachable', detail: `the hub failed to answer: ${messageOf(error)}` };
  throw error;
}
