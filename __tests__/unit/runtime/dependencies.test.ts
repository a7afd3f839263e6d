import { Dependencies } from '../../../operator/runtime/dependencies';
import { objectKey } from '../../../operator/runtime/object-key';

const hub = objectKey('Hub', 'home', 'my');
const secret = objectKey('Secret', 'home', 'password');
const [a, b] = [objectKey('HubScene', 'home', 'a'), objectKey('HubScene', 'home', 'b')];

describe('Dependencies', () => {
  test('an object leads to all resources that refer to it', () => {
    const dependencies = new Dependencies();
    dependencies.set(a, [hub, secret]);
    dependencies.set(b, [hub]);
    expect([...dependencies.of(hub)]).toEqual([a, b]);
    expect([...dependencies.of(secret)]).toEqual([a]);
    expect([...dependencies.of(objectKey('Secret', 'elsewhere', 'password'))]).toEqual([]);
  });

  test('new references replace the old ones, and those of a removed resource are forgotten', () => {
    const dependencies = new Dependencies();
    dependencies.set(a, [hub, secret]);
    dependencies.set(a, [hub]);
    expect([...dependencies.of(secret)]).toEqual([]);
    dependencies.remove(a);
    dependencies.remove(a);
    expect([...dependencies.of(hub)]).toEqual([]);
  });

  test('a resource that refers to the same object twice is returned once', () => {
    const dependencies = new Dependencies();
    dependencies.set(a, [hub, hub]);
    expect([...dependencies.of(hub)]).toEqual([a]);
    dependencies.set(a, []);
    expect([...dependencies.of(hub)]).toEqual([]);
  });
});
