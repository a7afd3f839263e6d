import { LinkedSignal } from '../../../operator/runtime/combined-signal';

test('follows each of its sources, with their reason', () => {
  const first = new AbortController();
  const second = new AbortController();
  const link = new LinkedSignal(first.signal, undefined, second.signal);
  expect(link.signal.aborted).toBe(false);
  const reason = new Error('enough');
  second.abort(reason);
  first.abort(new Error('later'));
  expect(link.signal.reason).toBe(reason);
});

test('is aborted at once when a source was', () => {
  const reason = new Error('before');
  expect(new LinkedSignal(AbortSignal.abort(reason)).signal.reason).toBe(reason);
});

test('follows nothing any more once it is unlinked, and leaves nothing behind', () => {
  const source = new AbortController();
  const added = jest.spyOn(source.signal, 'addEventListener');
  const removed = jest.spyOn(source.signal, 'removeEventListener');
  const link = new LinkedSignal(source.signal);
  link.unlink();
  source.abort();
  expect(link.signal.aborted).toBe(false);
  expect(removed.mock.calls).toEqual(added.mock.calls);
});

test('its own abort does not reach the sources', () => {
  const source = new AbortController();
  new LinkedSignal(source.signal).abort(new Error('mine'));
  expect(source.signal.aborted).toBe(false);
});
