import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { kept } from '../../../session/state/state.ts';
import { casesOf } from '../../rooms/long.ts';
import { foldChanges } from './fold-changes.ts';
import { type Heard, type Listener, listen } from './listen.ts';
import { controlToken, type ServedSession, serveSession } from './serve-session.ts';

const local = { from: 'local' } as const;
const secret = 'hunter2-the-secret';
const heldOne = {
  runId: 'one',
  commit: '0123456789abcdef0123456789abcdef01234567',
  branch: 'refs/heads/writ/review-one',
  target: { ref: 'refs/heads/main', expected: undefined },
  plan: 'one/1',
  patchset: 'p1',
  summary: 'Prices are exact',
};

/** Says what a session can say in an order that `seed` chooses; what is refused is no matter here. */
async function live(served: ServedSession, seed: number, steps: number): Promise<void> {
  const { channel } = served;
  let random = seed;
  const pick = (below: number): number => {
    random = (random * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((random / 2_147_483_648) * below);
  };
  let token = '';
  for (let n = 0; n < steps; n += 1) {
    const turn = channel.state.turn ?? '';
    const last = channel.state.transcript.at(-1);
    const reply = last?.kind === 'assistant_message' ? last.id : `r${seed}-${n}`;
    const proof =
      channel.state.lease === undefined
        ? local
        : ({ from: 'client', tokenDigest: token, controlToken: 'missing' } as const);
    const asked = channel.state.interactions.findLast(({ status }) => status === 'pending');
    const send = (command: Parameters<typeof channel.send>[0]): Promise<unknown> =>
      channel.send(command).catch(() => undefined);
    served.pass(7);
    switch (pick(14)) {
      case 0:
      case 1:
        await send({ type: 'submit', text: `message ${n}`, proof });
        break;
      case 2:
        await send({ turn, type: 'replied', id: reply, text: `all of it ${n}` });
        break;
      case 3:
      case 4:
        await send({
          turn,
          type: 'tool',
          id: `t${Math.floor(n / 5)}`,
          toolName: 'x',
          status: pick(2) === 0 ? 'running' : 'completed',
        });
        break;
      case 5:
        await send({
          turn,
          type: 'ask',
          subject: 's',
          kind: pick(2) === 0 ? 'intent_review_choice' : 'post_plan_choice',
          title: `t${n}`,
          metadata: { runId: `r${n}` },
        });
        break;
      case 6:
        await send({
          turn,
          type: 'ask',
          subject: 's',
          kind: 'request_user_input',
          metadata: { questions: [{ id: 'q', prompt: '?', kind: 'text', secret: true }] },
        });
        break;
      case 7:
      case 8:
        if (asked?.kind === 'request_user_input')
          await send({ type: 'respond', id: asked.id, given: { answers: { q: [secret] } }, proof });
        else
          await send({
            type: 'respond',
            id: asked?.id ?? '',
            given: { selectedOption: pick(2) === 0 ? 'approve' : 'network' },
            proof,
          });
        break;
      case 9:
        token = `digest-${n}`;
        await send({
          type: 'attach',
          clientId: `c${n % 2}`,
          kind: 'browser',
          tokenDigest: token,
          controlToken: 'missing',
        });
        break;
      case 10:
        if (pick(4) === 0) await send({ type: 'cancel', proof });
        break;
      case 11:
        if (pick(4) === 0) await send({ turn, type: 'end', end: 'done' });
        if (pick(9) === 0) await send({ type: 'reclaim' });
        break;
      default:
        await send({ turn, type: 'replying', id: reply, text: `delta ${n} ` });
    }
  }
}

const seeds = Object.fromEntries(Array.from({ length: 12 }, (_, at) => [`seed ${at + 1}`, at + 1]));

const untilLast = (reader: Listener): Promise<Heard> =>
  reader.hears(({ data }) => data.kind === 'status_changed' && data.payload.status === 'completed');
const finish = async ({ channel }: ServedSession): Promise<void> => {
  await channel.send({ type: 'reclaim' });
  await channel.send({ turn: channel.state.turn ?? '', type: 'end', end: 'done' });
  await channel.send({ type: 'submit', text: 'zyx', proof: local });
  await channel.send({ turn: channel.state.turn ?? '', type: 'end', end: 'decided' });
};

t.test('applying the changes gives the same state as the snapshot at every seed', async (t) => {
  const kinds = new Set<string>();
  for (const [name, seed] of casesOf(seeds, ['seed 1'])) {
    const served = await serveSession(t, { ground: { local: 'tui' } });
    await live(served, seed + 100, 40);
    const reader = listen(served.port, '?wire=2');
    const first = await reader.hears(() => true);
    t.match(first, {
      event: 'resync',
      data: { kind: 'resync', payload: { reason: 'opened', snapshot: {} } },
    });
    await live(served, seed, 400);
    await finish(served);
    await untilLast(reader);
    const events = reader.heard();
    t.strictSame(foldChanges(events), JSON.parse(JSON.stringify(toSnapshot(served.channel.state))), name);
    for (const { event } of events) kinds.add(event);
    t.ok(
      events.every(
        ({ event, id, data }, at) =>
          data.cursor === first.data.cursor + at &&
          id === String(data.cursor) &&
          event === data.kind &&
          data.eventId === `s.${data.cursor}` &&
          Object.keys(data).join() === 'cursor,eventId,kind,at,payload',
      ),
      'numbered without a gap',
    );
    t.notMatch(reader.text(), new RegExp(`${secret}|digest-|${controlToken}`), 'and no secret in it');
    t.notMatch(reader.text(), /"subject"/);
  }
  t.ok(kinds.size >= 7, [...kinds].join(' '));
});

t.test('a reply that continues after its end is streamed completely', async (t) => {
  const served = await serveSession(t, { ground: { local: 'tui' } });
  const { channel } = served;
  const reader = listen(served.port, '?wire=2');
  await reader.hears(() => true);
  await channel.send({ type: 'submit', text: 'go on', proof: local });
  const turn = channel.state.turn ?? '';
  await channel.send({ turn, type: 'replying', id: 'r', text: 'a' });
  await channel.send({ turn, type: 'replied', id: 'r', text: 'ab' });
  await channel.send({ turn, type: 'replying', id: 'r', text: 'c' });
  await channel.send({ turn, type: 'tool', id: 't', toolName: 'x', status: 'running' });
  await reader.hears(({ event }) => event === 'tool_call');
  const folded = foldChanges(reader.heard());
  t.match(folded, { transcript: [{}, { id: 'r', content: 'abc', streaming: true }] });
  t.strictSame(folded, JSON.parse(JSON.stringify(toSnapshot(channel.state))));
});

t.test('reports the removal of an ended review and of gates from an earlier run', async (t) => {
  const served = await serveSession(t, { ground: { local: 'tui' } });
  const { channel } = served;
  const reader = listen(served.port, '?wire=2');
  await reader.hears(() => true);
  await channel.send({ type: 'submit', text: 'go on', proof: local });
  const turn = channel.state.turn ?? '';
  const gate = { stage: 'fast', status: 'passed', ran: 1, expected: 1 } as const;
  await channel.send({ turn, type: 'noted', id: 'g', title: 'Gate fast', text: 'passed', gate });
  await channel.send({ turn, type: 'review-began', review: heldOne });
  await channel.send({ turn, type: 'review-ended', end: 'kept' });
  await channel.send({ turn, type: 'run-began', runId: 'another' });
  await channel.send({ turn, type: 'end', end: 'decided' });
  await untilLast(reader);
  const gone = reader
    .heard()
    .flatMap(({ data: { kind, payload } }) => (kind === 'member_removed' ? [payload] : []));
  t.strictSame(gone, [{ member: 'held' }, { member: 'gates' }]);
  t.strictSame(foldChanges(reader.heard()), JSON.parse(JSON.stringify(toSnapshot(channel.state))));
});

t.test('a returning reader gets the missed changes exactly once', async (t) => {
  const served = await serveSession(t, { ground: { local: 'tui' } });
  const whole = listen(served.port, '?wire=2');
  const parts: Heard[] = [];
  await whole.hears(() => true);
  for (let n = 0; n < 10; n += 1) {
    const last = parts.at(-1);
    const part = listen(served.port, '?wire=2', last === undefined ? {} : { 'last-event-id': last.id });
    if (last === undefined) await part.hears(() => true);
    await live(served, n, 30);
    await served.channel.send({ turn: served.channel.state.turn ?? '', type: 'end', end: 'done' });
    const { id } = await whole.hears(
      ({ id }) => Number(id) > Number(parts.at(-1)?.id ?? 0) && whole.heard().at(-1)?.id === id,
    );
    await part.hears((one) => one.id === id);
    part.socket.destroy();
    parts.push(...part.heard());
  }
  const length = parts.length;
  t.strictSame(parts, whole.heard().slice(0, length));
  const { data } = whole.heard()[3] ?? {};
  t.equal(data.kind === 'resync', false);
  const other = listen(served.port, '?wire=2', { 'last-event-id': '5' });
  t.match((await other.hears(() => true)).data, { kind: 'resync', payload: { reason: 'id_unknown' } });
});

t.test('a reader that falls behind gets one resync and continues from its cursor', async (t) => {
  const served = await serveSession(t, { ground: { local: 'tui' } });
  const { channel, port } = served;
  const stalled = listen(port, '?wire=2');
  await stalled.hears(() => true);
  stalled.socket.pause();
  await channel.send({ type: 'submit', text: 'go on', proof: local });
  const turn = channel.state.turn ?? '';
  const big = 'x'.repeat(256 * 1024);
  for (let n = 0; n < 120; n += 1) {
    await channel.send({
      turn,
      type: 'tool',
      id: 't',
      toolName: 'x',
      status: 'running',
      summary: `${n}${big}`,
    });
    // What the system takes for a socket is taken before more comes: no burst.
    for (let turns = 0; turns < 4; turns += 1) await nextTurn();
  }
  await channel.send({ turn, type: 'replying', id: 'r', text: 'a' });
  stalled.socket.resume();
  await stalled.hears(({ data }) => data.kind === 'resync' && data.payload.reason === 'behind');
  for (const text of ['b', 'c', 'd']) await channel.send({ turn, type: 'replying', id: 'r', text });
  await channel.send({ turn, type: 'end', end: 'decided' });
  await untilLast(stalled);
  const events = stalled.heard();
  t.equal(events.filter(({ event }) => event === 'resync').length, 2);
  t.ok(events.length < 120, `${events.length} events`);
  t.strictSame(foldChanges(events), JSON.parse(JSON.stringify(toSnapshot(channel.state))));
});

t.test('reports the removal of elements that the snapshot no longer holds', async (t) => {
  const served = await serveSession(t, { ground: { local: 'tui' } });
  const { channel } = served;
  const reader = listen(served.port, '?wire=2');
  await reader.hears(() => true);
  await channel.send({ type: 'submit', text: 'go on', proof: local });
  const turn = channel.state.turn ?? '';
  for (let n = 0; n < kept.toolCalls + 3; n += 1)
    await channel.send({ turn, type: 'tool', id: `t${n}`, toolName: 'x', status: 'running' });
  await channel.send({ turn, type: 'end', end: 'decided' });
  await untilLast(reader);
  t.strictSame(foldChanges(reader.heard()), JSON.parse(JSON.stringify(toSnapshot(channel.state))));
  const gone = reader
    .heard()
    .filter(({ event }) => event === 'element_removed')
    .map(({ data }) => data.payload);
  t.strictSame(
    gone,
    ['t0', 't1', 't2'].map((id) => ({ list: 'toolCalls', id })),
  );
});
