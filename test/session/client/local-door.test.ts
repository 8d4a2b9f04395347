import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { keepGrants } from '../../../session/approvals/grants.ts';
import { openLocalDoor } from '../../../session/client/local-door.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { Want } from '../../../session/state/command.ts';
import type { SessionGround } from '../../../session/state/fact.ts';
import { toSnapshot } from '../../../session/state/snapshot.ts';
import { kept } from '../../../session/state/state.ts';
import { newWorld } from '../state/walk.ts';
import { memoryThread } from '../thread/memory-thread.ts';

/** A session in memory that its screen looks at. */
function scene(t: Test, given: Partial<SessionGround> = {}) {
  let ids = 0;
  const wanted: Want[] = [];
  const { state, journal } = newWorld(given);
  const transcript = memoryThread(...journal);
  const channel = openChannel({
    state,
    thread: transcript,
    clock: systemClock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    perform: async (want) => void wanted.push(want),
  });
  t.teardown(() => channel[Symbol.asyncDispose]());
  const grants = keepGrants(systemClock);
  const threads = async () => ({ items: [], nextOffset: 7 });
  const door = openLocalDoor(
    { channel, grants, transcript },
    { diagnostics: async () => ({ pid: 1 }), threads },
  );
  const asks = (kind: 'approval' | 'request_user_input', metadata = {}) =>
    channel.send({ type: 'ask', turn: channel.state.turn ?? '', subject: kind, kind, metadata });
  return { channel, grants, door, wanted, asks };
}

const attached = {
  type: 'attach',
  clientId: 'page',
  kind: 'browser',
  tokenDigest: 'd',
  controlToken: 'missing',
} as const;

t.test(
  'the local screen gets one update for each change and one snapshot object for each state',
  async (t) => {
    const { door, channel, wanted } = scene(t);
    const first = door.snapshot();
    t.equal(door.snapshot(), first, 'the same object');
    t.match(first, { status: 'idle', controller: { kind: 'tui', canWrite: true } });
    let told = 0;
    const stop = door.follow(() => {
      told += 1;
    });
    await door.submit('do it', 'c1');
    t.equal(told, 1);
    t.not(door.snapshot(), first);
    t.strictSame(door.snapshot(), toSnapshot(channel.state));
    t.match(wanted, [{ type: 'turn', spoken: { text: 'do it' }, by: { kind: 'tui' } }]);
    await door.submit('do it', 'c1');
    t.equal(wanted.length, 1, 'the same command twice is one');
    stop();
    await door.cancel();
    t.match(wanted, [{}, { type: 'abort' }]);
    t.equal(told, 1);
  },
);

t.test('the local screen answers questions, and its invalid answers are refused', async (t) => {
  const { door, asks, wanted } = scene(t);
  await t.rejects(door.respond('none', { approved: true }), { code: 'NOT_FOUND' });
  await door.submit('do it');
  await t.rejects(door.submit('and this'), { code: 'CONTROLLER_CONFLICT' });
  await asks('approval');
  const [{ id = '' } = {}] = door.snapshot().interactions;
  await t.rejects(door.respond(id, { selectedOption: 'yes' }), { code: 'INVALID_INTERACTION_RESPONSE' });
  await t.rejects(door.respond(id, { selectedOption: 'a\0b' }), { code: 'INVALID_BODY' });
  t.equal(door.snapshot().interactions[0]?.status, 'pending');
  const said = { patchset: 'proposed', path: 'x', hunk: 'h', verdict: 'reject' } as const;
  await t.rejects(door.review({ ...said, comment: ' ' }), { code: 'INVALID_BODY' });
  await t.rejects(door.review({ ...said, patchset: 'accepted' }), { code: 'INTERACTION_NOT_ACTIVE' });
  await door.review(said);
  t.strictSame(door.snapshot().reviews, [said]);
  await door.respond(id, { selectedOption: 'approve' });
  t.match(wanted, [{}, { type: 'answer', option: 'approve', by: { kind: 'tui' } }]);
});

t.test('messages from the local screen have the size and text limits of client messages', async (t) => {
  const { door, wanted } = scene(t);
  await t.rejects(door.submit('x'.repeat(2 * 1024 * 1024)), { code: 'PAYLOAD_TOO_LARGE' });
  await t.rejects(door.respond('i', { selectedOption: 'answer', answers: { a: ['x'.repeat(256 * 1024)] } }), {
    code: 'PAYLOAD_TOO_LARGE',
  });
  for (const text of ['', ' \n', 'a\0b', 'a\ud800b'])
    await t.rejects(door.submit(text), { code: 'INVALID_BODY' }, JSON.stringify(text));
  t.strictSame(wanted, []);
});

t.test('the local screen reclaims the session from a client if it may control the session', async (t) => {
  const { door, channel } = scene(t);
  await channel.send(attached);
  t.match(door.snapshot().controller, { kind: 'browser', ownerLabel: 'page' });
  await t.rejects(door.submit('mine'), { code: 'CONTROLLER_CONFLICT' });
  await door.reclaim();
  t.match(door.snapshot().controller, { kind: 'tui', canWrite: true });
  await door.submit('mine');
  const without = scene(t, { local: 'none' });
  await without.channel.send(attached);
  await t.rejects(without.door.reclaim(), { code: 'UNSUPPORTED_OPERATION' });
});

t.test('the local screen lists standing approvals and revokes them when it has control', async (t) => {
  const { door, grants, channel } = scene(t);
  grants.add([
    {
      id: 'g',
      kind: 'all_commands',
      tool: 'shell',
      action: 'run',
      cwd: '/w',
      sandbox: 's',
      branch: 'main',
      what: 'every command',
      grantedBy: { kind: 'tui' },
      at: grants.now(),
    },
  ]);
  t.match(await door.approvals(), [{ id: 'g', what: 'every command', cwd: '/w' }]);
  await t.rejects(door.revoke('other'), { code: 'NOT_FOUND' });
  await channel.send(attached);
  await t.rejects(door.revoke('g'), { code: 'CONTROLLER_CONFLICT' }, 'whoever may not write revokes nothing');
  t.equal((await door.approvals()).length, 1);
  await door.reclaim();
  await door.revoke('g');
  t.strictSame(await door.approvals(), []);
});

t.test('the local screen reads diagnostics and lists other threads', async (t) => {
  const { door } = scene(t);
  t.strictSame(await door.diagnostics(), { pid: 1 });
  t.strictSame(await door.threads({ limit: 1, offset: 0 }), { items: [], nextOffset: 7 });
});

t.test('the local screen pages back through the transcript without gaps or duplicates', async (t) => {
  const { door, channel } = scene(t);
  const length = kept.transcript + 30;
  for (let at = 0; at < length; at += 1) {
    await door.submit(`say ${at}`);
    await channel.send({ type: 'end', turn: channel.state.turn ?? '', end: 'done' });
  }
  const { transcript, earlier = 0 } = door.snapshot();
  const last = await door.earlier({ before: length, limit: 20 });
  const first = await door.earlier({ before: last.earlier, limit: 20 });
  t.strictSame([earlier, last.earlier, first.earlier], [30, 10, 0]);
  const all = [...first.transcript, ...last.transcript, ...transcript];
  t.strictSame(
    all.map(({ content }) => content),
    Array.from({ length }, (_, at) => `say ${at}`),
  );
  t.strictSame(Object.keys(last.transcript[0] ?? {}), Object.keys(transcript[0] ?? {}));
});
