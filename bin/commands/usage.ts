/* `writ usage`: what the models of all sessions of a repository came to, by thread and model. */
import { userJournalWitness } from '../../attest/signer/user-journal-witness.ts';
import { systemClock, toRfc3339 } from '../../core/base/clock.ts';
import type { Happened } from '../../session/state/fact.ts';
import { nothingUsed, roundedUsage, type Used, withUsed } from '../../session/state/usage.ts';
import { forkedTitle } from '../../session/thread/fork-thread.ts';
import { listThreadIds, threadDirectory } from '../../session/thread/open-thread.ts';
import { readThread } from '../../session/thread/read-thread.ts';
import { openRepository } from '../../workspace/git/repository.ts';
import { type CommandContext, type CommandResult, succeeded } from '../command-parts/command.ts';
import { parseWhole } from '../command-parts/write-output.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Calls of one model in one thread. */
interface UsageRow extends Used {
  readonly thread: string;
  readonly provider: string;
  /** Absent: the provider's own choice. */
  readonly model?: string;
  readonly calls: number;
  readonly lastMs: number;
}

/** `writ usage [--since DAYS] [--csv]`. Threads that this user did not write here are counted, not added up. */
export async function usageCommand({ options, cwd, env, repoPath }: CommandContext): Promise<CommandResult> {
  const repository = await openRepository(repoPath ?? cwd);
  const days = options.value('since');
  const sinceMs = days === undefined ? 0 : systemClock.now() - parseWhole(days, '--since', 36_500) * dayMs;
  const rows: UsageRow[] = [];
  let unread = 0;
  for (const id of (await listThreadIds(repository)).ids) {
    const read = await readThread(threadDirectory(repository, id), id, userJournalWitness(env)).catch(
      () => undefined,
    );
    if (read?.proven === undefined) unread += 1;
    else rows.push(...rowsOf(id, read.proven.facts, sinceMs));
  }
  rows.sort((one, other) => other.lastMs - one.lastMs);
  const total = rows.reduce((sum, row) => withUsed(sum, row), nothingUsed);
  const data = { usage: rows.map(toData), total: toUsed(total), unread };
  return succeeded(data, (printer) => {
    if (options.flag('csv')) return printer.text(toCsv(rows));
    if (rows.length === 0) printer.line('no model was asked in a session of this repository');
    printer.table(
      rows.map((row) => [
        row.thread.slice(0, 8),
        row.provider,
        row.model ?? '',
        `${row.calls} calls`,
        ...words(row),
      ]),
    );
    if (rows.length > 1) printer.table([['total', ...words(total)]]);
    if (unread > 0)
      printer.line(
        `${unread} threads are not counted: this user did not write them here, or they are damaged`,
      );
  });
}

/** Of a fork only what came after it: the rest is in the thread that it began from. */
function rowsOf(thread: string, facts: readonly Happened[], sinceMs: number): readonly UsageRow[] {
  const from = facts.findLastIndex((fact) => fact.type === 'noted' && fact.title === forkedTitle);
  const found = new Map<string, UsageRow>();
  let [provider, started, chosen]: (string | undefined)[] = [];
  for (const [at, fact] of facts.entries()) {
    if (fact.type === 'opened' || fact.type === 'resumed')
      ({ provider, model: started } = fact.ground.provider);
    if (fact.type === 'set') chosen = fact.settings.model;
    if (fact.type !== 'used' || at < from || fact.atMs < sinceMs) continue;
    const model = chosen ?? started;
    const key = JSON.stringify([provider, model]);
    const before = found.get(key);
    found.set(key, {
      ...withUsed(before ?? nothingUsed, fact),
      thread,
      provider: provider ?? '',
      ...(model === undefined ? {} : { model }),
      calls: (before?.calls ?? 0) + 1,
      lastMs: fact.atMs,
    });
  }
  return [...found.values()];
}

function toUsed(used: Used) {
  const { inputTokens, outputTokens, costUsd, unpriced } = roundedUsage(used);
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    cost_usd: costUsd ?? null,
    ...(unpriced ? { unpriced } : {}),
  };
}

function toData({ thread, provider, model, calls, lastMs, ...used }: UsageRow) {
  return {
    thread_id: thread,
    provider,
    model: model ?? null,
    calls,
    ...toUsed(used),
    last_at: toRfc3339(lastMs),
  };
}

function words(used: Used): readonly string[] {
  const { inputTokens, outputTokens, costUsd, unpriced } = roundedUsage(used);
  const cost =
    costUsd === undefined
      ? 'price unknown'
      : `${costUsd} USD${unpriced ? ' and calls of unknown price' : ''}`;
  return [`${inputTokens} tokens in`, `${outputTokens} out`, cost];
}

const columns = [
  'thread_id',
  'provider',
  'model',
  'calls',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'last_at',
] as const;

/** As RFC 4180, with line feeds. A cell that a spreadsheet would take for a formula begins with an apostrophe. */
function toCsv(rows: readonly UsageRow[]): string {
  const cell = (value: string | number | null): string => {
    const text = `${value ?? ''}`.replace(/^[=+\-@\t\r]/, "'$&");
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = rows.map((row) => {
    const data = toData(row);
    return columns.map((name) => cell(data[name])).join(',');
  });
  return [columns.join(','), ...lines].join('\n');
}
