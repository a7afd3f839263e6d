import { CombinedSignal } from '../../../operator/base/deadline';

describe('CombinedSignal', () => {
  test('follows each of its sources, with the reason of the first that aborts', () => {
    const first = new AbortController();
    const second = new AbortController();
    const combined = new CombinedSignal(first.signal, undefined, second.signal);
    expect(combined.signal.aborted).toBe(false);
    const reason = new Error('enough');
    second.abort(reason);
    first.abort(new Error('later'));
    expect(combined.signal.reason).toBe(reason);
  });

  test('is aborted at once when a source was aborted before', () => {
    const reason = new Error('before');
    expect(new CombinedSignal(AbortSignal.abort(reason)).signal.reason).toBe(reason);
  });

  test('follows nothing once it is disposed of, and leaves no listener behind', () => {
    const source = new AbortController();
    const added = jest.spyOn(source.signal, 'addEventListener');
    const removed = jest.spyOn(source.signal, 'removeEventListener');
    const combined = new CombinedSignal(source.signal);
    combined.dispose();
    source.abort();
    expect(combined.signal.aborted).toBe(false);
    expect(removed.mock.calls).toEqual(added.mock.calls);
  });

  test('does not abort its sources when it is aborted itself', () => {
    const source = new AbortController();
    new CombinedSignal(source.signal).abort(new Error('mine'));
    expect(source.signal.aborted).toBe(false);
  });
});
