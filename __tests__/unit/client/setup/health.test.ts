import { probeHealth } from '../../../../operator/client/setup/health';
import { RestClient } from '../../../../operator/client/connection/rest';
import { ManualClock } from '../../manual-clock';
import { FakeHub, json, manifest, text, type Answer } from '../fake-hub';

const steps = (...done: boolean[]) =>
  json(
    200,
    ['user', 'core_config', 'analytics', 'integration'].map((step, index) => ({ step, done: done[index] })),
  );

describe('probeHealth', () => {
  test.each<[string, Answer, Answer | undefined, object]>([
    ['serving nothing yet', text(404, '404: Not Found'), undefined, { state: 'not-loaded' }],
    ['all refused', text(403, '403: Forbidden'), undefined, { state: 'banned' }],
    ['behind a proxy without it', text(503, ''), undefined, { state: 'unreachable' }],
    ['failing', text(500, 'oh no'), undefined, { state: 'unreachable' }],
    ['another program', json(200, { name: 'Grafana' }), undefined, { state: 'not-home-assistant' }],
    ['a page', text(200, '<html>', 'text/html'), undefined, { state: 'not-home-assistant' }],
    [
      'a redirect',
      (_, response) => response.writeHead(307, { location: '/x' }).end(),
      undefined,
      { state: 'not-home-assistant' },
    ],
    ['no steps any more', manifest, text(404, '404: Not Found'), { state: 'onboarded' }],
    ['all done', manifest, steps(true, true, true, true), { state: 'onboarded' }],
    [
      'some done',
      manifest,
      steps(true, false, true, false),
      { state: 'onboarding', done: { user: true, core_config: false, analytics: true, integration: false } },
    ],
    ['failing at onboarding', manifest, text(500, ''), { state: 'unreachable' }],
  ])('a hub that is %s', async (_what, first, second, expected) => {
    const hub = await FakeHub.start();
    hub.routes.set('GET /manifest.json', first);
    if (second) hub.routes.set('GET /api/onboarding', second);
    const rest = new RestClient({
      url: hub.url,
      token: 'secret',
      clock: new ManualClock(),
      redact: (words) => words,
    });
    expect(await probeHealth(rest)).toMatchObject(expected);
    // The probe must not count toward a ban and must not send the token to another server.
    expect(hub.asked('/api/config')).toEqual([]);
    for (const request of hub.requests) expect(request.headers.authorization).toBeUndefined();
    rest.close();
    await hub.close();
  });
});
