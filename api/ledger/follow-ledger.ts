/* Follows a log: audits every new entry, and holds each checkpoint to those before. */
import { join } from 'node:path';
import { userConfigDir } from '../../attest/keys/user-config-dir.ts';
import type { SignedCheckpoint } from '../../attest/log/checkpoint.ts';
import { forked, type KeptCheckpoints, openCheckpointMemory } from '../../attest/log/checkpoint-memory.ts';
import { userCheckpointMemory } from '../../attest/log/internal-ledger-source.ts';
import { findEntry } from '../../attest/log/ledger-reader.ts';
import { parseBatchRecord } from '../../attest/log/shared-ledger.ts';
import { readFromUrl } from '../../attest/log/shared-log-client.ts';
import { isPartOf } from '../../attest/log/tiles.ts';
import type { Clock } from '../../core/base/clock.ts';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { createStreamer, type HttpClient } from '../../core/base/net.ts';
import { type LedgerTrust, type OpenLedger, openLedger, verifyWitnesses } from './open-ledger.ts';

/** What is new in a log since it was audited last. */
export interface LogGrowth {
  readonly origin: string;
  /** Entries that were audited before, and entries now. */
  readonly from: number;
  readonly to: number;
  readonly root_hash: string;
  readonly cosigned_by: readonly string[];
  /** New entries by repository, as the batch records of a shared ledger name them. */
  readonly repositories: Readonly<Record<string, number>>;
}

/** The checkpoints up to which this user has audited logs. */
export function auditedCheckpoints(env: LedgerTrust['env']): KeptCheckpoints {
  return openCheckpointMemory(join(userConfigDir(env), 'trust', 'audited'));
}

/** An HTTP client that keeps its connections until it is disposed of. */
export function openKeptHttp(env: LedgerTrust['env']): { readonly http: HttpClient } & AsyncDisposable {
  const { stream, close } = createStreamer(env);
  return {
    async http(question) {
      await using answer = await stream({ ...question, idleMs: question.withinMs });
      const parts: Uint8Array[] = [];
      for await (const part of answer.body) parts.push(part);
      return { status: answer.status, headers: answer.headers, body: Buffer.concat(parts) };
    },
    [Symbol.asyncDispose]: close,
  };
}

/** Opens the log below a URL, as `openLedger` does for a directory. Connections are kept until it is disposed of. */
export async function openRemoteLedger(
  url: string,
  trust: LedgerTrust,
): Promise<OpenLedger & AsyncDisposable> {
  const kept = openKeptHttp(trust.env);
  const ledger = await openLedger(url, trust, readFromUrl(url, kept.http));
  return { ...ledger, [Symbol.asyncDispose]: () => kept[Symbol.asyncDispose]() };
}

/**
 * Audits what a log has gained since the last call, or since this user audited it last: the signature, the quorum of
 * the policy, that it continues what was audited and seen, and every new entry against its root. VERIFY_REFUTED
 * (`stale`, `forked`, `misattributed`, `no-quorum`), LEDGER_CORRUPT for entries that do not lead to the root.
 */
export async function auditGrowth(
  ledger: OpenLedger,
  env: LedgerTrust['env'],
  policy: Uint8Array | undefined,
): Promise<LogGrowth> {
  const head = await ledger.head();
  const cosigned = policy === undefined ? [] : await verifyWitnesses(policy, ledger, head);
  const [audited, seen] = [auditedCheckpoints(env), userCheckpointMemory(env)];
  const last = await audited.latest(head);
  for (const one of [last, await seen.latest(head)]) {
    if (one === undefined) continue;
    if (one.size > head.size)
      throw new WritError('VERIFY_REFUTED', {
        message: `the log \`${head.origin}\` was seen with ${one.size} entries and has ${head.size} now`,
        detail: { reason: 'stale', origin: head.origin, seen: one.size, found: head.size },
      });
    if (!(await isPartOf(one, { head, read: ledger.files }))) throw forked(one, head);
  }
  const from = last?.size ?? 0;
  const repositories = from === head.size ? {} : await readEntries(ledger, head, from);
  await audited.remember(head);
  await seen.remember(head);
  const { origin, size: to, root } = head;
  return { origin, from, to, root_hash: root.toString('hex'), cosigned_by: cosigned, repositories };
}

/** Reads and proves the entries from `from` on. Batch records must name each entry before them once. */
async function readEntries(
  { files }: OpenLedger,
  head: SignedCheckpoint,
  from: number,
): Promise<Readonly<Record<string, number>>> {
  const counts = new Map<string, number>();
  let index = from;
  let unnamed = from;
  let isShared = false;
  let wrong: number | undefined;
  await findEntry(files, head, from, (body) => {
    const record = parseBatchRecord(body);
    if (record !== undefined) {
      let entries = 0;
      for (const [name, count] of record.repositories) {
        entries += count;
        counts.set(name, (counts.get(name) ?? 0) + count);
      }
      // Entries from before the ledger was shared have no record.
      const begins = isShared || from > 0 ? record.first === unnamed : record.first >= unnamed;
      if (!begins || record.first + entries !== index) wrong ??= index;
      isShared = true;
      unnamed = index + 1;
    }
    index += 1;
    return false;
  });
  if (isShared && unnamed !== head.size) wrong ??= unnamed;
  if (wrong !== undefined)
    throw new WritError('VERIFY_REFUTED', {
      message: `the log \`${head.origin}\` does not say of each entry once which repository it came from (entry ${wrong})`,
      detail: { reason: 'misattributed', origin: head.origin, index: wrong },
    });
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A log that cannot be read, or not whole, is tried again so often before it counts. */
const maxFaults = 5;

interface FollowOptions extends Pick<LedgerTrust, 'env'> {
  readonly policy: Uint8Array | undefined;
  readonly clock: Clock;
  readonly intervalMs: number;
  readonly signal: AbortSignal;
  readonly onGrowth: (growth: LogGrowth) => void;
  /** A fault that may pass: the log is looked at again. */
  readonly onFault: (fault: WritError) => void;
}

/**
 * Audits a log again and again until the signal aborts. Throws what `auditGrowth` refutes; a damaged log only after
 * five looks in a row, and a log that cannot be reached never.
 */
export async function followLedger(ledger: OpenLedger, options: FollowOptions): Promise<void> {
  const { env, policy, clock, intervalMs, signal, onGrowth, onFault } = options;
  let shown = -1;
  let damaged = 0;
  while (!signal.aborted) {
    try {
      const growth = await auditGrowth(ledger, env, policy);
      damaged = 0;
      if (growth.to !== shown) onGrowth(growth);
      shown = growth.to;
    } catch (fault) {
      if (!isWritError(fault)) throw fault;
      if (fault.code === 'LEDGER_CORRUPT') damaged += 1;
      else if (fault.code !== 'NETWORK_FAILED' && fault.code !== 'LEDGER_MISSING') throw fault;
      if (damaged === maxFaults) throw fault;
      onFault(fault);
    }
    await clock.sleep(intervalMs, signal).catch((fault: unknown) => {
      if (!signal.aborted) throw fault;
    });
  }
}
