import t, { type Test } from 'tap';
import { systemClock } from '../../../core/base/clock.ts';
import { WritError } from '../../../core/base/errors.ts';
import { keepAudit, type OpenAudit } from '../../../session/audit/keep-audit.ts';
import { openChannel } from '../../../session/open-channel.ts';
import type { ClientCommand } from '../../../session/state/command.ts';
import type { SessionGround } from '../../../session/state/fact.ts';
import { newWorld } from '../state/walk.ts';
import { logOf } from './open-log.ts';

const proof = { from: 'client', tokenDigest: 'd', controlToken: 'valid' } as const;
const attach = (clientId: string, tokenDigest = 'd'): ClientCommand => ({
  type: 'attach',
  clientId,
  kind: 'automation',
  tokenDigest,
  controlToken: 'valid',
});

/** A session in memory that keeps its account in `log`. */
function sessionOf(
  t: Test,
  log: Pick<OpenAudit, 'append'>,
  more: Partial<SessionGround> = {},
  append = async () => {},
) {
  let ids = 0;
  const channel = openChannel({
    state: newWorld({ local: 'none', ...more }).state,
    thread: { append },
    audit: keepAudit(log, systemClock),
    clock: systemClock,
    newId: () => {
      ids += 1;
      return `i${ids}`;
    },
    perform: async () => {},
  });
  t.teardown(() => channel[Symbol.asyncDispose]());
  return channel;
}

const secret = ['AKIA', 'J6QZ3WJ4T7RLK2VA'].join('');

t.test('the audit log records who sent each command, without secrets or control characters', async (t) => {
  const log = logOf(t);
  await using open = await log.open();
  const channel = sessionOf(t, open);
  await channel.send(attach('bot\u001b[31m\n\u202e'));
  await channel.send({ type: 'submit', text: `use ${secret}\nand go`, commandId: 'c', proof });
  await channel.send({ type: 'submit', text: `use ${secret}\nand go`, commandId: 'c', proof });
  const turn = channel.state.turn ?? '';
  const ask = { turn, type: 'ask', subject: 'x' } as const;
  const questions = [{ id: 'pin', prompt: 'PIN?', kind: 'text', secret: true }] as const;
  await channel.send({ ...ask, kind: 'request_user_input', metadata: { questions } });
  await channel.send({ ...ask, kind: 'approval', metadata: {} });
  const [first, second] = channel.state.interactions;
  await channel.send({
    type: 'respond',
    id: first?.id ?? '',
    given: { answers: { pin: ['hunter2'] } },
    proof,
  });
  const given = { selectedOption: 'allow_all_commands' };
  await channel.send({ type: 'respond', id: second?.id ?? '', given, proof });
  await channel.send({ type: 'respond', id: second?.id ?? '', given, proof });
  const hunk = { id: 'h', header: '@@' };
  const changes = [{ path: 'a\u202eb', changeType: 'modify', hunks: [hunk] }];
  await channel.send({ turn, type: 'patched', patchset: { id: 'p', status: 'proposed', changes } });
  const said = { patchset: 'p', path: 'a\u202eb', hunk: 'h', verdict: 'reject', comment: secret } as const;
  await channel.send({ type: 'review', ...said, proof });
  await channel.send({ type: 'cancel', proof });
  await channel.send({ turn, type: 'end', end: 'cancelled' });
  await channel.send({ type: 'detach', clientId: 'bot\u001b[31m\n\u202e', proof });
  const lines = await log.lines();
  const bot = 'automation:bot\\u001b[31m\\u000a\\u202e';
  t.ok(lines.every(({ principal_id: who }) => who === bot));
  t.match(
    lines.map(({ action, redacted_summary: words }) => `${action}: ${words}`),
    [
      'attach: a lease',
      /^submit: message i1 of 31 characters: use \[redacted:[^\]]*\]\\u000aand go$/,
      'submit: a message that was sent before: nothing new',
      /^respond: interaction i\d+ \(request_user_input\): answer; answers to pin$/,
      /^respond: interaction i\d+ \(approval\): allow_all_commands; it stays pending$/,
      /^respond: interaction i\d+ \(approval\): allow_all_commands$/,
      'respond: hunk h of a\\u202eb in patchset p: reject; with a comment of 20 characters',
      `cancel: turn ${turn} is to stop`,
      'detach: the lease is given back',
    ],
  );
  const all = JSON.stringify(lines);
  for (const word of [secret, 'hunter2', '\u001b', '\u202e']) t.notOk(all.includes(word), word);
});

t.test('the audit log records the start and cancel of a goal without its secrets', async (t) => {
  const log = logOf(t);
  await using open = await log.open();
  const channel = sessionOf(t, open);
  await channel.send(attach('bot'));
  await channel.send({ type: 'goal-start', objective: `use ${secret}`, criteria: [], proof });
  const refused = { type: 'goal-start', objective: 'another', criteria: [], proof } as const;
  await t.rejects(channel.send(refused), { code: 'GOAL_ALREADY_ACTIVE' });
  await channel.send({ type: 'goal-cancel', reason: 'enough', proof });
  const lines = (await log.lines()).map(({ action, redacted_summary: words }) => `${action}: ${words}`);
  t.match(lines.slice(1), [
    /^submit: a goal: message i\d+ of \d+ characters: use \[redacted:[^\]]*\]$/,
    'submit: refused: GOAL_ALREADY_ACTIVE',
    /^cancel: goal i\d+ is given up$/,
  ]);
  t.notOk(JSON.stringify(lines).includes(secret));
});

t.test('a command that the audit log cannot record is rejected and changes nothing', async (t) => {
  let isFull = false;
  const written: string[] = [];
  const channel = sessionOf(t, {
    async append({ action }) {
      if (isFull) throw new WritError('EVIDENCE_WRITE_FAILED');
      written.push(action);
    },
  });
  await channel.send(attach('bot'));
  const before = channel.state;
  let told = 0;
  channel.subscribe(() => {
    told += 1;
  });
  isFull = true;
  for (const command of [
    { type: 'submit', text: 'go on', proof },
    { type: 'detach', clientId: 'bot', proof },
    { type: 'cancel', proof },
    attach('bot', 'other'),
  ] as const)
    await t.rejects(channel.send(command), { code: 'EVIDENCE_WRITE_FAILED' }, command.type);
  t.equal(channel.state, before, 'nothing has changed');
  t.equal(told, 0, 'and nobody was told');
  isFull = false;
  await channel.send({ type: 'submit', text: 'go on', proof });
  t.strictSame(written, ['attach', 'submit'], 'it can be tried again');
});

t.test('the audit log records a refusal when the transcript cannot store an accepted command', async (t) => {
  const log = logOf(t);
  await using open = await log.open();
  const channel = sessionOf(t, open, { local: 'tui' }, async () => {
    throw new WritError('EVIDENCE_WRITE_FAILED');
  });
  await t.rejects(channel.send({ type: 'submit', text: 'go on', proof: { from: 'local' } }), {
    code: 'EVIDENCE_WRITE_FAILED',
  });
  t.match(await log.lines(), [
    { principal_id: 'tui', redacted_summary: /^message/ },
    { principal_id: 'tui', redacted_summary: 'refused: EVIDENCE_WRITE_FAILED' },
  ]);
});

t.test('the audit log records a limited number of refusals and counts the rest', async (t) => {
  const log = logOf(t);
  await using open = await log.open();
  let nowMs = 0;
  const keeper = keepAudit(open, { monotonic: () => nowMs });
  const { state } = newWorld({ local: 'none' });
  const refusal = new WritError('CONTROLLER_CONFLICT');
  for (let n = 0; n < 50; n += 1) await keeper.failed(attach('other'), state, refusal);
  nowMs += 60_001;
  await keeper.failed({ type: 'cancel', proof }, state, refusal);
  await keeper.failed({ type: 'tick' }, state, refusal);
  const lines = await log.lines();
  t.equal(lines.length, 31);
  t.match(lines[0], {
    principal_id: 'unproven',
    action: 'attach',
    redacted_summary: 'refused: CONTROLLER_CONFLICT; who asked calls itself automation:other',
  });
  t.match(lines.at(-1), {
    principal_id: 'unproven',
    redacted_summary: 'refused: CONTROLLER_CONFLICT; 20 refusals before it were not written',
  });
});

t.test('the audit log records which client the local screen reclaimed the session from', async (t) => {
  const log = logOf(t);
  await using open = await log.open();
  const channel = sessionOf(t, open, { local: 'tui' });
  await channel.send({ type: 'reclaim' });
  await channel.send(attach('bot'));
  await channel.send(attach('bot'));
  await channel.send({ type: 'reclaim' });
  t.match(await log.lines(), [
    { action: 'attach', redacted_summary: 'a lease' },
    { action: 'attach', redacted_summary: 'the same lease goes on' },
    { action: 'detach', principal_id: 'tui', redacted_summary: /took the session back from automation:bot/ },
  ]);
  t.equal((await log.lines()).length, 3, 'a lease that nobody has is not taken');
});
