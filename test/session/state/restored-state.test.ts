import t from 'tap';
import type { ModelMessage } from '../../../core/interfaces/model.ts';
import type { Fact, Happened } from '../../../session/state/fact.ts';
import { openedState, reduce } from '../../../session/state/reduce.ts';
import { restoredState } from '../../../session/state/restored-state.ts';
import { kept, type SessionState } from '../../../session/state/state.ts';
import { seededRandom } from '../../chance/seeded-random.ts';
import { toldSeed } from '../../chance/told-seed.ts';
import { parallelTalk } from './parallel-talk.ts';
import { ground } from './walk.ts';

const opened: Happened = { type: 'opened', ground: ground(), atMs: 0 };

/** A long talk in which anything happens in any order. */
function talk(random: () => number, length: number): readonly Happened[] {
  const among = <T>(...ones: readonly T[]): T => ones[Math.floor(random() * ones.length)] as T;
  const facts: Happened[] = [opened];
  for (let at = 1; at < length; at += 1) {
    const id = `i${Math.floor(random() * 40) + at}`;
    const message: ModelMessage = among<ModelMessage>(
      { role: 'user', text: 'u'.repeat(random() * 9000) },
      { role: 'assistant', text: 'a'.repeat(random() * 9000), calls: [] },
    );
    const fact = among<Fact>(
      { type: 'said', id, text: `${at}`, by: { kind: 'tui' }, commandId: `c${at}` },
      { type: 'said', id, text: `${at}`, by: { kind: 'tui' } },
      { type: 'replied', id, text: 'so it is' },
      { type: 'tool', id, toolName: 'read', status: among('running', 'completed'), summary: id },
      { type: 'noted', id, text: 'noted' },
      { type: 'used', turn: id, inputTokens: at, outputTokens: 1, ...among({ costUsd: 0.001 }, {}) },
      { type: 'exchanged', message },
      { type: 'turn-ended', turn: id, end: 'done' },
    );
    facts.push({ ...fact, atMs: Math.floor(random() * 1000) });
  }
  return facts;
}

t.test('restoring a whole journal gives the same state as applying its events one by one', async (t) => {
  const random = seededRandom(toldSeed(t));
  for (const length of [1, 2, 300, 2500, 6000]) {
    const facts = talk(random, length);
    const slow = facts.reduce(reduce, openedState(opened as Extract<Happened, { type: 'opened' }>));
    t.strictSame(restoredState(facts), slow, `${length} facts`);
  }
});

t.test('a restored state keeps a bounded number of entries', async (t) => {
  const facts = talk(seededRandom(7), 20_000);
  const { transcript, commands, toolCalls, earlier } = restoredState(facts);
  t.equal(transcript.length, kept.transcript);
  t.equal(commands.size, kept.commands);
  t.ok(toolCalls.length <= kept.toolCalls);
  t.ok(earlier > 5000);
});

t.test('a journal that does not begin with an opening is corrupt', async (t) => {
  for (const facts of [[], [{ type: 'cancel-asked', atMs: 1 } as const]])
    t.throws(() => restoredState(facts), { code: 'JOURNAL_CORRUPT' });
});

t.test('restored replies keep the order in which they began', async (t) => {
  const random = seededRandom(toldSeed(t));
  for (const steps of [40, 400, 4000]) {
    const { state, journal } = parallelTalk(random, steps).world;
    const restored = restoredState(journal);
    // When a reply was begun is in no journal.
    const said = ({ transcript }: SessionState) => transcript.map(({ createdAtMs: _, ...entry }) => entry);
    t.strictSame(said(restored), said(state), `${steps} steps`);
    t.equal(restored.earlier, state.earlier);
  }
});
