import t from 'tap';
import { type Clock, systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { type ChannelParts, type EffectContext, openChannel } from '../../../session/open-channel.ts';
import type { Command, Report, Want } from '../../../session/state/command.ts';
import { type Happened, leaseMs } from '../../../session/state/fact.ts';
import { newWorld } from '../state/walk.ts';

const said = (text: string): Command => ({ type: 'submit', text, proof: { from: 'local' } });
const attach = (clientId: string): Command => ({
  type: 'attach',
  clientId,
  kind: 'browser',
  tokenDigest: `digest-${clientId}`,
  controlToken: 'missing',
});

/** A channel over a journal in memory. */
function scene(more: Partial<ChannelParts> = {}) {
  const written: Happened[] = [];
  const wanted: Want[] = [];
  let ids = 0;
  const channel = openChannel({
    state: newWorld().state,
    thread: {
      async append(facts) {
        written.push(...facts);
      },
    },
    clock: systemClock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    async perform(want) {
      wanted.push(want);
    },
    ...more,
  });
  // A lease waits for its end, and the process with it.
  t.teardown(() => channel[Symbol.asyncDispose]());
  return { channel, written, wanted };
}

t.test('an effect starts after its events are on disk', async (t) => {
  const order: string[] = [];
  const { channel } = scene({
    thread: {
      async append(facts) {
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`written ${facts.map(({ type }) => type).join(' ')}`);
      },
    },
    async perform({ type }) {
      order.push(`done ${type}`);
    },
  });
  channel.subscribe((_state, facts) => order.push(`told ${facts.map(({ type }) => type).join(' ')}`));
  await channel.send(said('go on'));
  t.strictSame(order, ['written said turn-began', 'told said turn-began', 'done turn']);
});

t.test('a command that cannot be written changes no state and starts no effect', async (t) => {
  const disk = { isFull: true };
  const { channel, wanted } = scene({
    thread: {
      async append() {
        if (disk.isFull) throw new WritError('EVIDENCE_WRITE_FAILED');
      },
    },
  });
  const before = channel.state;
  await t.rejects(channel.send(said('go on')), { code: 'EVIDENCE_WRITE_FAILED' });
  t.equal(channel.state, before);
  t.strictSame(wanted, []);
  disk.isFull = false;
  await channel.send(said('go on'));
  t.equal(channel.state.status, 'thinking', 'and the next one is taken');
});

t.test('commands run one at a time, so one of two hundred concurrent messages begins a turn', async (t) => {
  const { channel, written, wanted } = scene();
  const sent = Array.from({ length: 200 }, (_, n) => channel.send(said(`m${n}`)));
  const came = await Promise.allSettled(sent);
  t.equal(came.filter(({ status }) => status === 'fulfilled').length, 1);
  t.equal(wanted.length, 1);
  t.equal(written.filter(({ type }) => type === 'said').length, 1);
});

t.test('an effect that throws ends its turn, and the session goes on', async (t) => {
  const { channel, written } = scene({
    async perform() {
      throw new Error('no model');
    },
  });
  await channel.send(said('go on'));
  await channel.send({ type: 'tick' });
  t.match(written.at(-1), { type: 'turn-ended', end: 'failed', reason: 'no model' });
  await channel.send(said('again'));
});

t.test('reports of a finished turn change nothing', async (t) => {
  const { channel, written } = scene();
  await channel.send(said('go on'));
  const turn = channel.state.turn ?? '';
  await channel.send({ turn, type: 'end', end: 'done' });
  const { length } = written;
  await channel.send({ turn, type: 'replied', id: 'late', text: 'late' });
  await channel.send({ turn, type: 'end', end: 'failed' });
  t.equal(written.length, length);
  t.equal(channel.state.status, 'idle');
});

t.test('leases and partial replies are not written to the journal', async (t) => {
  const { channel, written } = scene();
  await channel.send(attach('a'));
  t.match(channel.state.lease, { clientId: 'a' });
  await channel.send({
    type: 'submit',
    text: 'go on',
    proof: { from: 'client', tokenDigest: 'digest-a', controlToken: 'missing' },
  });
  await channel.send({ turn: channel.state.turn ?? '', type: 'replying', id: 'r', text: 'ha' });
  t.strictSame(
    written.map(({ type }) => type),
    ['said', 'turn-began'],
  );
});

t.test('a lease ends by timer, and subscribers are notified', async (t) => {
  let nowMs = 0;
  const sleeping: { readonly ms: number; readonly wake: () => void }[] = [];
  const { channel } = scene({
    clock: {
      now: () => nowMs,
      monotonic: () => nowMs,
      sleep: (ms, signal) =>
        new Promise((resolve, reject) => {
          sleeping.push({ ms, wake: resolve });
          signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        }),
    },
  });
  const told: string[] = [];
  channel.subscribe((_state, facts) => told.push(...facts.map(({ type }) => type)));
  await channel.send(attach('a'));
  t.equal(sleeping.at(-1)?.ms, leaseMs);
  nowMs = leaseMs;
  sleeping.at(-1)?.wake();
  await new Promise((resolve) => setImmediate(resolve));
  await channel.send({ type: 'tick' });
  t.equal(channel.state.lease, undefined);
  t.strictSame(told, ['attached', 'released']);
});

t.test('a step of the wall clock neither extends nor ends a lease', async (t) => {
  let [wallMs, monotonicMs] = [3_600_000, 5000];
  const { channel } = scene({
    clock: {
      now: () => wallMs,
      monotonic: () => monotonicMs,
      sleep: (_ms, signal) =>
        new Promise((_resolve, reject) => {
          signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
        }),
    },
  });
  await channel.send(attach('a'));
  for (wallMs of [0, 30 * 24 * 3_600_000]) {
    await channel.send({ type: 'tick' });
    t.match(channel.state.lease, { clientId: 'a' }, `at ${wallMs} it lasts`);
    await t.rejects(channel.send(attach('b')), { code: 'CONTROLLER_CONFLICT' });
  }
  wallMs = 0;
  monotonicMs += leaseMs;
  await channel.send(attach('b'));
  t.match(channel.state.lease, { clientId: 'b' }, 'and is over after its time');
});

t.test('a subscriber that throws gets no more updates and does not affect other subscribers', async (t) => {
  const { channel } = scene();
  const told: string[] = [];
  channel.subscribe(() => {
    told.push('broken');
    throw new Error('no');
  });
  const stop = channel.subscribe(() => told.push('sound'));
  await channel.send(attach('a'));
  await channel.send(attach('a'));
  stop();
  await channel.send(attach('a'));
  t.strictSame(told, ['broken', 'sound', 'sound']);
  await channel[Symbol.asyncDispose]();
});

t.test('reports that wait together are one write and keep their order with commands', async (t) => {
  const writes: string[][] = [];
  const { channel } = scene({
    thread: {
      async append(facts) {
        await new Promise((resolve) => setImmediate(resolve));
        writes.push(facts.map((fact) => (fact.type === 'noted' ? fact.text : fact.type)));
      },
    },
  });
  await channel.send(said('go on'));
  const turn = channel.state.turn ?? '';
  const note = (text: string): Command => ({ turn, type: 'noted', id: text, text });
  writes.length = 0;
  await Promise.all([
    channel.send(note('a')),
    channel.send(note('b')),
    channel.send({ type: 'cancel', proof: { from: 'local' } }),
    channel.send(note('c')),
    channel.send(note('d')),
  ]);
  t.strictSame(writes, [['a', 'b'], ['cancel-asked'], ['c', 'd']]);
});

t.test('reports that wait together all fail when they cannot be written', async (t) => {
  const disk = { isFull: false };
  const { channel } = scene({
    thread: {
      async append() {
        if (disk.isFull) throw new WritError('EVIDENCE_WRITE_FAILED');
      },
    },
  });
  await channel.send(said('go on'));
  const turn = channel.state.turn ?? '';
  const before = channel.state;
  disk.isFull = true;
  const told = ['a', 'b'].map((id) => channel.send({ turn, type: 'noted', id, text: id }));
  for (const one of told) await t.rejects(one, { code: 'EVIDENCE_WRITE_FAILED' });
  t.equal(channel.state, before);
});

t.test('a secret that was split over two pieces is masked in a partial reply', async (t) => {
  const { channel, written } = scene({ mask: (text) => text.replaceAll('secret', '…') });
  const { turn = '' } = await channel.send(said('go on'));
  const now = channel.state.turn ?? turn;
  await channel.send({ turn: now, type: 'replying', id: 'r', text: 'the sec' });
  await channel.send({ turn: now, type: 'replying', id: 'r', text: 'ret is' });
  await channel.send({ turn: now, type: 'end', end: 'cancelled' });
  t.strictSame(
    written.flatMap((fact) => (fact.type === 'replied' ? [fact.text] : [])),
    ['the … is'],
  );
  t.equal(channel.state.transcript.at(-1)?.content, 'the … is');
});

/** A turn that has begun, and how its effects tell what they do; each write in words. */
async function turnScene({ sleep }: Pick<Clock, 'sleep'> = systemClock, mask?: ChannelParts['mask']) {
  const writes: string[] = [];
  let world: EffectContext | undefined;
  const { channel } = scene({
    clock: { ...systemClock, sleep },
    ...(mask === undefined ? {} : { mask }),
    thread: {
      async append(facts) {
        writes.push(
          facts.map((fact) => (fact.type === 'tool' ? `${fact.id} ${fact.status}` : fact.type)).join(', '),
        );
      },
    },
    async perform(_want, given) {
      world = given;
    },
  });
  await channel.send(said('go on'));
  writes.length = 0;
  if (world === undefined) throw new Error('nothing was wanted');
  const turn = channel.state.turn ?? '';
  const use = (id: string, status: 'running' | 'completed'): Report => ({
    turn,
    type: 'tool',
    id,
    toolName: 'workspace.fs',
    status,
  });
  return { channel, writes, world, turn, use };
}

/** A moment that nobody waits for to the end. */
const endless: Clock['sleep'] = (_ms, signal) =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason), { once: true }));

t.test('mentioned reports are batched into one later write', async (t) => {
  const moments: (() => void)[] = [];
  const sleep = () => new Promise<void>((resolve) => void moments.push(resolve));
  const { channel, writes, world, use } = await turnScene({ sleep });
  for (const id of ['a', 'b']) {
    world.mention(use(id, 'running'));
    world.mention(use(id, 'completed'));
  }
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(writes, []);
  t.strictSame(channel.state.toolCalls, [], 'nobody is told of what is not on disk');
  t.equal(moments.length, 1);
  moments[0]?.();
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(writes, ['a running, a completed, b running, b completed']);
  t.equal(channel.state.toolCalls.length, 2);
});

t.test('a sent report or command flushes the mentioned reports before it', async (t) => {
  const { channel, writes, world, turn, use } = await turnScene({ sleep: endless });
  world.mention(use('a', 'running'));
  await channel.send(use('b', 'running'));
  t.strictSame(writes, ['a running, b running'], 'it goes with it');
  world.mention(use('a', 'completed'));
  await channel.send({ type: 'cancel', proof: { from: 'local' } });
  t.strictSame(writes.slice(1), ['a completed', 'cancel-asked'], 'and before a command that came later');
  world.mention(use('c', 'running'));
  await channel.send({ turn, type: 'tools-stopped' });
  t.strictSame(
    writes.slice(3),
    ['c running, b unknown, c unknown'],
    'and is known to whoever comes after it',
  );
  for (let at = 0; at < 256; at += 1) world.mention(use(`${at}`, 'running'));
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(writes.length, 5, 'many of them are enough');
  world.mention(use('c', 'completed'));
  await channel[Symbol.asyncDispose]();
  t.strictSame(writes.slice(5), ['c completed'], 'nothing is left behind');
});

t.test(
  'a mentioned report that cannot be written changes nothing, and a later report is accepted',
  async (t) => {
    const disk = { isFull: false };
    let world: EffectContext | undefined;
    const { channel } = scene({
      thread: {
        async append() {
          if (disk.isFull) throw new WritError('EVIDENCE_WRITE_FAILED');
        },
      },
      async perform(_want, given) {
        world = given;
      },
    });
    await channel.send(said('go on'));
    const turn = channel.state.turn ?? '';
    const before = channel.state;
    disk.isFull = true;
    world?.mention({ turn, type: 'noted', id: 'a', text: 'a' });
    await t.rejects(channel.send({ turn, type: 'noted', id: 'b', text: 'b' }));
    t.equal(channel.state, before);
    disk.isFull = false;
    await channel.send({ turn, type: 'noted', id: 'c', text: 'c' });
    t.equal(channel.state.transcript.at(-1)?.content, 'c');
  },
);

t.test('names and summaries of tool calls are masked, whether mentioned or sent', async (t) => {
  const { channel, world, use } = await turnScene(systemClock, (text) => text.replaceAll('s3cret', '*'));
  const words = { toolName: 'the s3cret', summary: 'read s3cret.txt' };
  world.mention({ ...use('a', 'running'), ...words } as Report);
  await channel.send({ ...use('b', 'running'), ...words } as Report);
  const shown = { toolName: 'the *', summary: 'read *.txt' };
  t.match(channel.state.toolCalls, [
    { id: 'a', ...shown },
    { id: 'b', ...shown },
  ]);
  t.notMatch(JSON.stringify(channel.state), 's3cret');
});

t.test(
  'a known secret in an answer is masked in the journal and passed to the effect unmasked',
  async (t) => {
    const { channel, written, wanted } = scene({ mask: (text) => text.replaceAll('s3cret', '*') });
    await channel.send(said('go on'));
    const turn = channel.state.turn ?? '';
    const questions = [{ id: 'a', prompt: 'Which?', kind: 'text' }] as const;
    const asks = { kind: 'request_user_input', metadata: { questions } } as const;
    await channel.send({ turn, type: 'ask', subject: 'q', ...asks });
    const id = channel.state.interactions.at(-1)?.id ?? '';
    const given = { answers: { a: ['the s3cret'] } };
    await channel.send({ type: 'respond', id, given, proof: { from: 'local' } });
    t.equal(channel.state.transcript.at(-1)?.content, 'Which? → the *');
    t.notMatch(JSON.stringify(written), 's3cret');
    t.match(JSON.stringify(wanted), 's3cret');
  },
);

t.test('what the policy denies is refused before it is a fact, whoever asks', async (t) => {
  const policy = [{ from: 'machine', network: 'deny' }] as const;
  const { channel, written } = scene({
    state: newWorld({ policy }).state,
    requireModel(model) {
      if (model === 'dear') throw new WritError('SESSION_POLICY_EXCEEDED');
    },
  });
  for (const text of ['/network allow', '/model dear'])
    await t.rejects(channel.send(said(text)), { code: 'SESSION_POLICY_EXCEEDED' }, text);
  t.equal(written.length, 0);
  await channel.send(said('/model cheap'));
  t.equal(channel.state.settings.model, 'cheap');
});
