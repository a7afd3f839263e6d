import { withRaisedPins } from '../../../sandbox/other-hub';

test('the manifest of an integration takes the raised release of a package, and keeps its other pins', () => {
  const manifest = '{"requirements": ["SQLAlchemy==2.0.41", "fnv-hash-fast==1.6.0"], "version": "1.6.0"}';
  expect(withRaisedPins(manifest)).toBe(
    '{"requirements": ["SQLAlchemy==2.0.41", "fnv-hash-fast>=2.0.1"], "version": "1.6.0"}',
  );
});
