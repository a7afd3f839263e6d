// An MQTT broker for tests: `node mqtt-broker-process.mjs <port> [<user> <password>]`. Prints a line when it
// listens. Ends when its standard input is closed.
import { createServer } from 'node:net';
import { Aedes } from 'aedes';

const [port, user, password] = process.argv.slice(2);
const broker = await Aedes.createBroker({
  authenticate(_client, givenUser, givenPassword, done) {
    const isValid = user === undefined || (givenUser === user && givenPassword?.toString() === password);
    // return code 4: bad user name or password
    done(isValid ? null : Object.assign(new Error('rejected'), { returnCode: 4 }), isValid);
  },
});
createServer(broker.handle).listen(Number(port), '127.0.0.1', () => console.log('listening'));
process.stdin.resume().once('close', () => process.exit());
