import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { LostCall } from '../../../../engine/state/calls.ts';
import type { Spent } from '../../../../engine/state/spent.ts';
import { long } from '../../../rooms/long.ts';

t.setTimeout(300_000);

const program = fileURLToPath(new URL('one-call.ts', import.meta.url));

interface Came {
  readonly outcome: string;
  readonly text: string;
  readonly lost: readonly LostCall[];
  readonly lostSpent: Spent;
}

/** What becomes of the call in processes that are killed at these places, one after the other. */
function killedAt(...places: readonly string[]) {
  const place = mkdtempSync(join(tmpdir(), 'writ-killed-call-'));
  try {
    const [journal, effects, answer] = ['journal.jsonl', 'effects', 'answer'].map((name) =>
      join(place, name),
    );
    const go = (at: string) =>
      spawnSync(process.execPath, [program, journal ?? '', effects ?? '', at, answer ?? ''], {
        encoding: 'utf8',
      });
    const killed = places.map(go).map(({ signal, stderr }) => `${signal}${stderr}`);
    const last = go('nowhere');
    return {
      killed,
      said: last.stderr,
      effects: existsSync(effects ?? '') ? readFileSync(effects ?? '', 'utf8') : '',
      came: existsSync(answer ?? '') ? (JSON.parse(readFileSync(answer ?? '', 'utf8')) as Came) : undefined,
    };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const before = [
  'before step-begun',
  'after step-begun',
  'before attempt-spent',
  'in the call',
  'before call-begun',
] as const;
const unknown = ['after call-begun', 'about to leave', 'outside', 'before call-ended'] as const;
const known = ['after call-ended', 'answered', 'before step-ended'] as const;

long('a tool call that had not left the machine before the kill is made', async (t) => {
  for (const place of before) {
    const { killed, effects, came, said } = killedAt(place);
    t.strictSame(killed, ['SIGKILL'], place);
    t.equal(effects, 'published\n', place);
    t.match(came, { outcome: 'done', lost: [] }, said);
  }
});

long('a tool call that may have left the machine before the kill is not repeated', async (t) => {
  for (const place of unknown) {
    const { killed, effects, came, said } = killedAt(place);
    t.strictSame(killed, ['SIGKILL'], place);
    t.notMatch(effects, /published\npublished/, place);
    t.match(came, { outcome: 'denied', lost: [{ command: 'publish', action: 'execute' }] }, said);
    t.equal(came?.lost[0]?.end, undefined, place);
    t.match(came?.text, /how far it got is unknown/);
  }
});

t.test('a tool call that had ended before the kill is reported and not repeated', async (t) => {
  for (const place of known) {
    const { killed, effects, came, said } = killedAt(place);
    t.strictSame(killed, ['SIGKILL'], place);
    t.equal(effects, 'published\n', place);
    t.match(came, { outcome: 'denied', lost: [{ end: { outcome: 'done', exitCode: 0 } }] }, said);
    t.match(came?.text, /it was done with exit code 0/);
    t.strictSame(came?.lostSpent, { turns: 1, tokensUsed: 10, costUnits: 1 }, 'its turns are paid for');
  }
});

t.test('an attempt that ended keeps the record of its call and loses none', async (t) => {
  const { effects, came } = killedAt('after step-ended');
  t.equal(effects, 'published\n');
  t.equal(came?.outcome, 'done', 'its step answers what it answered');
  t.strictSame(came?.lost, []);
});

t.test('a tool call is made at most once, however often the process is killed', async (t) => {
  const { effects, came } = killedAt('outside', 'answered', 'in the call', 'before step-ended');
  t.equal(effects, 'published\n');
  t.match(came, { outcome: 'denied' });
  t.equal(came?.lost.length, 1, 'a refused call is none');
});
