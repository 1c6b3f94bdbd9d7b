// The third side, for orientation: `node amqplib.mjs CASE URL MESSAGES`, with amqplib in node_modules of the current folder.
import {createRequire} from 'node:module';
import {once} from 'node:events';

const amqplib = createRequire(process.cwd() + '/')('amqplib');
const [, , name, url, count] = process.argv;
const messages = Number(count);
const window = 256;
const payload = Buffer.alloc(name === 'publish.1024' ? 1024 : 16, 'b');

const seconds = () => {
  const {user, system} = process.cpuUsage();
  return {cpu: (user + system) / 1e6, wall: performance.now() / 1e3};
};
const report = (from, to) =>
    console.error(`cpu=${(to.cpu - from.cpu).toFixed(6)} wall=${(to.wall - from.wall).toFixed(6)}`);

async function publish(connection) {
  const channel = await connection.createChannel();
  const start = seconds();
  for (let i = 0; i < messages; ++i) {
    if (!channel.publish('', 'bench.publish', payload, {persistent: false})) await once(channel, 'drain');
  }
  await channel.close();
  await connection.close();
  report(start, seconds());
}

async function confirms(connection) {
  const channel = await connection.createConfirmChannel();
  const start = seconds();
  let confirmed = 0;
  let wake = () => {};
  for (let sent = 0; confirmed < messages;) {
    if (sent < messages && sent - confirmed < window) {
      channel.publish('', 'bench.publish', payload, {persistent: false, mandatory: true}, (refused) => {
        if (refused) throw refused;
        ++confirmed;
        wake();
      });
      ++sent;
    } else {
      await new Promise((resolve) => { wake = resolve; });
    }
  }
  report(start, seconds());
  await connection.close();
}

async function consume(connection) {
  const channel = await connection.createChannel();
  await channel.prefetch(window);
  let seen = 0;
  let start;
  await new Promise((resolve) => channel.consume('bench.consume', (message) => {
    if (seen === 0) start = seconds();
    channel.ack(message);
    if (++seen === messages) resolve();
  }));
  report(start, seconds());
  await connection.close();
}

const run = {'publish.16': publish, 'publish.1024': publish, confirms, 'consume.16': consume}[name];
await run(await amqplib.connect(url));
