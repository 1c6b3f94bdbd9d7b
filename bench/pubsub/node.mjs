// The third side: `node node.mjs CASE ADDRESS MESSAGES`, with @google-cloud/pubsub in node_modules of the current folder.
import {createRequire} from 'node:module';

const [, , name, address, count] = process.argv;
process.env.PUBSUB_EMULATOR_HOST = address;
const {PubSub} = createRequire(process.cwd() + '/')('@google-cloud/pubsub');
const messages = Number(count);
const payload = Buffer.from('0123456789abcdef');
const pubsub = new PubSub({projectId: 'bench-project'});

const seconds = () => {
  const {user, system} = process.cpuUsage();
  return {cpu: (user + system) / 1e6, wall: performance.now() / 1e3};
};
const report = (from, to) =>
    console.error(`cpu=${(to.cpu - from.cpu).toFixed(6)} wall=${(to.wall - from.wall).toFixed(6)}`);

async function publish() {
  const together = 8000;
  const topic = pubsub.topic('bench-plain', {batching: {maxMessages: 1000, maxMilliseconds: 10}});
  const start = seconds();
  let left = messages;
  const one = async () => {
    while (left > 0) {
      --left;
      await topic.publishMessage({data: payload});
    }
  };
  await Promise.all(Array.from({length: together}, one));
  report(start, seconds());
}

async function consume() {
  const subscription = pubsub.subscription('bench-kept', {flowControl: {maxMessages: 1000}});
  let seen = 0;
  let start;
  await new Promise((resolve, reject) => {
    subscription.on('error', reject);
    subscription.on('message', (message) => {
      if (seen === 0) start = seconds();
      message.ack();
      if (++seen === messages) resolve();
    });
  });
  report(start, seconds());
  await subscription.close();
}

await {publish, consume}[name]();
process.exit(0);
