import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { userJournalWitness } from '../attest/signer/user-journal-witness.ts';
import { systemClock, toRfc3339 } from '../core/base/clock.ts';
import type { Fact } from '../session/state/fact.ts';
import { restoredState } from '../session/state/restored-state.ts';
import { openThread, witnessName } from '../session/thread/open-thread.ts';
import { formatJournal } from '../store/journal-witness.ts';
import { journalFile } from '../store/run-directory.ts';
import { ground } from '../test/session/state/walk.ts';
import { figure, median } from './measure.ts';
import { sized } from './sized.ts';

const rounds = sized(7, 1);
const counts = sized([1000, 10_000, 100_000], [40, 60, 80]);
const largeResults = sized(1000, 2);

/**
 * From `openThread` to the state that the thread adds up to, each time in a new process: messages of a person and of a
 * model in turn, each pair with a tool call; and the same with a thousand tool results of 64 KiB.
 */
export async function benchOpenThread(): Promise<boolean> {
  const box = mkdtempSync(join(tmpdir(), 'writ-bench-thread-'));
  try {
    const threads = [...counts.map((count) => [count, 0] as const), [counts[1] ?? 0, largeResults] as const];
    const names: string[] = [];
    for (const [messages, large] of threads) names.push(await makeThread(box, messages, large));
    const times = names.map((): number[] => []);
    for (let round = 0; round < rounds; round += 1)
      for (const [at, name] of names.entries()) times[at]?.push(Number(inNewProcess(box, name)));
    const medians = times.map(median);
    const detail = threads
      .map(([messages, large], at) => {
        const results = large === 0 ? '' : ` and ${large} results of 64 KiB`;
        return `${messages} messages${results}: ${medians[at]?.toFixed(0)} ms`;
      })
      .join(', ');
    return figure('a thread of 10,000 messages opened', medians[1] ?? Number.NaN, 300, 'ms', detail);
  } finally {
    rmSync(box, { recursive: true, force: true });
  }
}

/** A journal of so many messages below a box, the first `large` of its tool results long; its directory's name. */
export async function makeThread(box: string, messages: number, large: number): Promise<string> {
  const name = `of-${messages}-${large}`;
  let atMs = 1_700_000_000_000;
  const records: { readonly at: string; readonly type: string; readonly data: unknown }[] = [];
  const add = (...facts: readonly Fact[]): void => {
    atMs += 1000;
    records.push({ at: toRfc3339(atMs), type: 'facts', data: facts.map((fact) => ({ ...fact, atMs })) });
  };
  add({ type: 'opened', ground: ground({ threadId: name }) });
  for (let at = 0; at < messages / 2; at += 1) {
    const [turn, id, tool] = [`turn-${at}`, `call-${at}`, 'read_file'] as const;
    const text = 'why does the test of the parser fail since yesterday, and what would mend it? '.repeat(2);
    add(
      { type: 'said', id: `said-${at}`, text, by: { kind: 'tui' }, commandId: `c-${at}` },
      { type: 'turn-began', turn },
    );
    add({ type: 'tool', id, toolName: tool, status: 'running' });
    const result = at < large ? 'a line of "what" the tool has read\n'.repeat(1850) : 'read';
    add({ type: 'tool', id, toolName: tool, status: 'completed', summary: result });
    add({ type: 'replied', id: `reply-${at}`, text: 'I have looked at it, and so it is. '.repeat(10) });
    add({ type: 'turn-ended', turn, end: 'done' });
  }
  await using witness = await userJournalWitness({ HOME: join(box, 'home') }).open(witnessName(name));
  const { bytes, reach } = formatJournal(records, witness);
  mkdirSync(join(box, name));
  writeFileSync(join(box, name, journalFile), bytes, { mode: 0o600 });
  await witness.reach(reach);
  return name;
}

function inNewProcess(box: string, name: string): string {
  const { stdout, status, stderr } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), box, name]);
  if (status !== 0) throw new Error(stderr.toString());
  return stdout.toString();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [box = '', name = ''] = process.argv.slice(2);
  const witness = userJournalWitness({ HOME: join(box, 'home') });
  const began = performance.now();
  await using thread = await openThread(join(box, name), name, { clock: systemClock, witness });
  const { earlier, transcript } = restoredState(thread.facts);
  const ms = performance.now() - began;
  if (earlier + transcript.length < 20) throw new Error('expected a thread of messages');
  process.stdout.write(String(ms));
}
