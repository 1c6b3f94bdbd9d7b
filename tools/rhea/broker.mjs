// A small AMQP 1.0 broker on rhea, in memory, for tests: `node broker.mjs PORT`, with rhea in node_modules of the current folder.
//
// Queues and topics (by capability) appear when they are asked for. What it does on demand, by the beginning of an address:
//   fixed.     is not there: the attach is refused with amqp:not-found
//   rejects. releases. modifies.   answers every message so
//   small.     takes messages of up to 1,000 bytes
//   foreign.   sends a reader one message of each kind that an encoder of another project makes; its dead letters are JSON
// What is rejected, or may not be delivered again, goes to NAME.dlq. The login is millrace / millrace, or anonymous.
import {createRequire} from 'node:module';

const rhea = createRequire(process.cwd() + '/')('rhea');
const {types, message} = rhea;
const container = rhea.create_container({id: 'rhea-broker'});
container.sasl_server_mechanisms.enable_plain((user, password) => user === 'millrace' && password === 'millrace');
container.sasl_server_mechanisms.enable_anonymous();

/** Messages in order, and the senders of those who read them, served in turn. */
class Queue {
  constructor(name) {
    this.name = name;
    this.messages = [];
    this.readers = [];
  }
  put(m) {
    this.messages.push(m);
    this.serve();
  }
  putBack(m) {
    const at = this.messages.findIndex(other => other.order > m.order);
    this.messages.splice(at < 0 ? this.messages.length : at, 0, m);
    this.serve();
  }
  serve() {
    while (this.messages.length > 0) {
      const at = this.readers.findIndex(reader => reader.sendable());
      if (at < 0) return;
      const [reader] = this.readers.splice(at, 1);
      this.readers.push(reader);
      const m = this.messages.shift();
      reader.held.set(reader.send(m.content).id, m);
    }
  }
}

const queues = new Map();
const topics = new Map();   // name -> Set of queues, one a subscription
const durable = new Map();  // "container/link" -> queue
let order = 0;
let dynamic = 0;

function queueOf(name) {
  if (!queues.has(name)) queues.set(name, new Queue(name));
  return queues.get(name);
}

const isForeign = name => name.startsWith('foreign.') && !name.endsWith('.dlq');
const letterOf = content => ({content, order: ++order});

function route(name, content) {
  const subscriptions = topics.get(name);
  if (!subscriptions) return queueOf(name).put(letterOf(content));
  for (const queue of subscriptions) queue.put(letterOf({...content}));
}

const wantsTopic = terminus => [].concat(terminus.capabilities ?? []).some(c => String(c) === 'topic');

function subscription(sender) {
  const {address} = sender.source;
  if (!topics.has(address)) topics.set(address, new Set());
  const key = sender.source.durable ? `${sender.connection.container_id}/${sender.name}` : undefined;
  const queue = durable.get(key) ?? new Queue(address);
  if (key) durable.set(key, queue);
  topics.get(address).add(queue);
  sender.durableKey = key;
  return queue;
}

function refuse(link, condition) {
  link.close({condition, description: 'the broker does not have it'});
}

container.on('sender_open', ({sender}) => {
  const {source} = sender;
  if (!source || (!source.dynamic && String(source.address).startsWith('fixed.'))) return refuse(sender, 'amqp:not-found');
  const address = source.dynamic ? `dynamic-${++dynamic}` : source.address;
  sender.set_source({address, dynamic: source.dynamic, durable: source.durable, expiry_policy: source.expiry_policy});
  sender.held = new Map();
  setImmediate(() => {  // the attach goes out first
    sender.queue = wantsTopic(source) ? subscription(sender) : queueOf(address);
    sender.queue.readers.push(sender);
    if (isForeign(address)) for (const content of foreign()) route(address, content);
    sender.queue.serve();
  });
});

container.on('sendable', ({sender}) => sender.queue?.serve());
container.on('sender_draining', ({sender}) => sender.set_drained(true));

/** The reader is done with a delivery; `then` says what becomes of the message. */
function done({sender, delivery}, then) {
  const m = sender.held?.get(delivery.id);
  if (!m) return;
  sender.held.delete(delivery.id);
  then(m, sender.queue);
}
const asText = content => ({...content, body: message.data_section(Buffer.from(JSON.stringify(content.body)))});
const bury = (m, {name}) => route(`${name}.dlq`, isForeign(name) ? asText(m.content) : m.content);
container.on('accepted', context => done(context, () => {}));
container.on('rejected', context => done(context, bury));
container.on('released', context => done(context, (m, queue) => queue.putBack(m)));
container.on('modified', context => {
  const {delivery_failed, undeliverable_here} = context.delivery.remote_state;
  done(context, (m, queue) => {
    if (delivery_failed) m.content.delivery_count = (m.content.delivery_count ?? 0) + 1;
    if (undeliverable_here) return bury(m, queue);
    queue.putBack(m);
  });
});

/** A reader is gone: what it held goes back, uncounted. */
function gone(sender, forGood) {
  const {queue} = sender;
  if (!queue) return;
  queue.readers = queue.readers.filter(reader => reader !== sender);
  const held = [...sender.held.values()];
  sender.held.clear();
  for (const m of held) queue.putBack(m);
  if (topics.get(queue.name)?.has(queue) && (forGood || !sender.durableKey)) {
    topics.get(queue.name).delete(queue);
    durable.delete(sender.durableKey);
  }
  sender.queue = undefined;
}
const sendersOf = session => Object.values(session.links).filter(link => link.is_sender());
// rhea tells of a detach at once, and of the outcomes that came before it afterwards.
container.on('sender_close', ({sender}) => setImmediate(() => gone(sender, sender.remote.detach.closed)));
container.on('session_close', ({session}) => setImmediate(() => sendersOf(session).forEach(sender => gone(sender, false))));
for (const event of ['connection_error', 'connection_close', 'disconnected'])
  container.on(event, ({connection}) => setImmediate(() => {
    for (const session of Object.values(connection.remote_channel_map)) sendersOf(session).forEach(sender => gone(sender, false));
  }));

container.on('receiver_open', ({receiver}) => {
  const {target} = receiver;
  if (!target || target.address === undefined || target.address === null) return refuse(receiver, 'amqp:not-implemented');
  if (target.address.startsWith('fixed.')) return refuse(receiver, 'amqp:not-found');
  if (target.address.startsWith('small.')) receiver.local.attach.max_message_size = 1000;
  if (wantsTopic(target) && !topics.has(target.address)) topics.set(target.address, new Set());
  receiver.set_target({address: target.address});
});

// rhea joins the outcomes of neighbouring deliveries of one tick without comparing them: different ones go out in different ticks.
const answers = [];
let answering = false;
function answer(kind, act) {
  answers.push({kind, act});
  if (answering) return;
  answering = true;
  setImmediate(function some() {
    const {kind: now} = answers[0];
    while (answers.length > 0 && answers[0].kind === now) answers.shift().act();
    answering = answers.length > 0;
    if (answering) setImmediate(some);
  });
}

container.on('message', ({receiver, delivery, message: content}) => {
  const {address} = receiver.target;
  const [kind] = address.split('.');
  if (kind === 'rejects') {
    return answer(kind, () => delivery.reject({condition: 'amqp:resource-limit-exceeded', description: 'as the address says'}));
  }
  if (kind === 'releases') return answer(kind, () => delivery.release());
  if (kind === 'modifies') return answer(kind, () => delivery.modified({delivery_failed: true, undeliverable_here: true}));
  route(address, content);
  answer('accepts', () => delivery.accept());
});

/** Bodies, ids and properties of every type that there is. */
function foreign() {
  const text = body => ({body: message.data_section(Buffer.from(body))});
  return [
    {body: ['a', 'list']},
    {body: {a: 'map'}},
    {body: 42},
    {body: message.sequence_section([1, 2])},
    {body: 'a string'},
    {body: message.data_sections([Buffer.from('two '), Buffer.from('sections')])},
    {...text('uuid'), message_id: types.wrap_uuid(Buffer.from('00112233445566778899aabbccddeeff', 'hex'))},
    {...text('ulong'), correlation_id: types.wrap_ulong(7)},
    {
      ...text('typed'),
      subject: 'a subject',
      group_id: 'a group',
      application_properties: {
        yes: true, int: types.wrap_int(-5), ulong: types.wrap_ulong(9), double: types.wrap_double(0.5), symbol: types.wrap_symbol('s'),
        time: types.wrap_timestamp(1000), binary: Buffer.from([1, 2]),
      },
      message_annotations: {'x-opt-other': 'ignored'},
      footer: {crc: 1},
    },
    text('last'),
  ];
}

for (const event of ['session_error', 'sender_error', 'receiver_error', 'protocol_error', 'error'])
  container.on(event, () => {});
const server = container.listen({
  host: '127.0.0.1', port: Number(process.argv[2]), require_sasl: true, idle_time_out: 60000, treat_modified_as_released: false,
  receiver_options: {autoaccept: false}, credit_window: 1000,
});
server.on('connection', socket => socket.setNoDelay(true));
