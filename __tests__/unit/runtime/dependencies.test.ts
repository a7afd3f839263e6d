import { Dependencies } from '../../../operator/runtime/dependencies';

const hub = Dependencies.id('Hub', 'home', 'my');
const secret = Dependencies.id('Secret', 'home', 'password');

test('an object leads to all that refer to it', () => {
  const dependencies = new Dependencies();
  dependencies.set('a', [hub, secret]);
  dependencies.set('b', [hub]);
  expect([...dependencies.of(hub)]).toEqual(['a', 'b']);
  expect([...dependencies.of(secret)]).toEqual(['a']);
  expect([...dependencies.of(Dependencies.id('Secret', 'elsewhere', 'password'))]).toEqual([]);
});

test('new references replace the ones before, and those of a resource that went are forgotten', () => {
  const dependencies = new Dependencies();
  dependencies.set('a', [hub, secret]);
  dependencies.set('a', [hub]);
  expect([...dependencies.of(secret)]).toEqual([]);
  dependencies.remove('a');
  dependencies.remove('a');
  expect([...dependencies.of(hub)]).toEqual([]);
});

test('a resource that refers to the same object twice is found once', () => {
  const dependencies = new Dependencies();
  dependencies.set('a', [hub, hub]);
  expect([...dependencies.of(hub)]).toEqual(['a']);
  dependencies.set('a', []);
  expect([...dependencies.of(hub)]).toEqual([]);
});
