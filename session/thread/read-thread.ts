/** Reads threads without their lock; journals of other users are untrusted. */
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { isWritError, WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import { isAuthentic, type JournalWitness } from '../../store/journal-witness.ts';
import { type JournalRecord, type ParsedJournal, parseJournal } from '../../store/parse-journal.ts';
import { journalFile, requireOwnPlace } from '../../store/run-directory.ts';
import type { Repository } from '../../workspace/git/repository.ts';
import type { ForkLink, Happened } from '../state/fact.ts';
import { restoredState } from '../state/restored-state.ts';
import { kept, type SessionState, type TranscriptEntry } from '../state/state.ts';
import {
  factsType,
  listThreadIds,
  threadDirectory,
  threadNotFound,
  toFacts,
  witnessName,
} from './open-thread.ts';
import { isRequest, isTime, membersOf } from './scan-thread.ts';

/** Bounds the memory; a thread of months is far smaller. */
const maxBytes = 1024 * 1024 * 1024;

/**
 * Reads the journal of a thread without its lock, also while another process writes it; `undefined` where there is
 * none. Follows no link and waits for no pipe. JOURNAL_CORRUPT, OBJECT_CORRUPT.
 */
export async function readThreadJournal(directory: string): Promise<ParsedJournal | undefined> {
  await requireOwnPlace(directory, ['lock', journalFile]);
  const path = join(directory, journalFile);
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(absent);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    if (size > maxBytes) {
      const message = `expected \`${path}\` to have at most ${maxBytes} octets, found ${size}`;
      throw new WritError('JOURNAL_CORRUPT', { message, detail: { path, size } });
    }
    return parseJournal(await file.readFile(), path, true);
  } finally {
    await file.close();
  }
}

/** Text of a thread: the last entries of its transcript, and the number of earlier entries. */
interface ThreadWords {
  readonly transcript: readonly TranscriptEntry[];
  readonly earlier: number;
}

/**
 * Messages, replies, notes and tool names of untrusted records. Approvals, plans and names of authors are ignored.
 * Malformed records are skipped. Pure.
 */
function wordsOf(records: readonly Pick<JournalRecord, 'type' | 'data'>[]): ThreadWords {
  const all = records.flatMap(({ type, data }) =>
    type === factsType && Array.isArray(data) ? data.flatMap(toEntry) : [],
  );
  const transcript = all.slice(-kept.transcript);
  return { transcript, earlier: all.length - transcript.length };
}

const kinds = { said: 'user_message', replied: 'assistant_message', noted: 'info_note' } as const;

function toEntry(fact: unknown): readonly TranscriptEntry[] {
  const { type, id, text, toolName, status, atMs } = (fact ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof id !== 'string' || !isTime(atMs)) return [];
  const entry = { id, streaming: false, metadata: {}, createdAtMs: atMs, updatedAtMs: atMs };
  if ((type === 'said' || type === 'replied' || type === 'noted') && typeof text === 'string')
    return [{ ...entry, kind: kinds[type], content: text }];
  // Each call is shown once; its outcome is not trusted.
  const isCall = type === 'tool' && (status === 'preview' || status === 'running');
  return isCall && typeof toolName === 'string' ? [{ ...entry, kind: 'tool_call', title: toolName }] : [];
}

interface ThreadReading extends ThreadWords {
  /** Absent if the journal is not authentic: its text can be shown, but is not trusted. */
  readonly proven?: { readonly facts: readonly Happened[]; readonly state: SessionState };
}

/**
 * Reads a thread without its lock, also while another process writes it. THREAD_NOT_FOUND, JOURNAL_CORRUPT,
 * OBJECT_CORRUPT if a link replaces it.
 */
export async function readThread(
  directory: string,
  threadId: string,
  witness: Pick<JournalWitness, 'look'>,
): Promise<ThreadReading> {
  // Looked at first: a writer may be ahead of what is known of it, and never behind.
  const known = await witness.look(witnessName(threadId));
  const journal = await readThreadJournal(directory);
  if (journal === undefined || journal.records.length === 0) throw threadNotFound(threadId);
  if (!isAuthentic(journal, known)) return wordsOf(journal.records);
  const facts = toFacts(journal.records);
  const state = restoredState(facts);
  return { transcript: state.transcript, earlier: state.earlier, proven: { facts, state } };
}

/** The model that a thread used last, from its journal. Untrusted input until it is validated. */
export interface RecordedModel {
  readonly provider: string;
  readonly model?: string;
  readonly apiBase?: string;
}

/** More than any name of a provider, path of a recording or address has. */
const maxText = 4096;

/** Reads what a thread records of its model; `undefined` if it records none, or its journal is damaged. */
export async function readRecordedModel(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
): Promise<RecordedModel | undefined> {
  const facts = await factsOf(repository, threadId);
  const last = facts.findLast(({ type }) => type === 'opened' || type === 'resumed');
  const { provider: recorded, apiBase } = membersOf(membersOf(last).ground);
  const { provider, model } = membersOf(recorded);
  if (!isName(provider)) return undefined;
  return {
    provider,
    ...(isName(model) ? { model } : {}),
    ...(typeof apiBase === 'string' ? { apiBase } : {}),
  };
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= maxText && !/\p{Cc}/u.test(value);
}

/** Ids of the threads of this repository. */
async function listSessionThreads(repository: Pick<Repository, 'commonDir'>): Promise<readonly string[]> {
  return (await listThreadIds(repository)).ids;
}

/** The first message of a thread, used as its name. `undefined` if there is none, or the journal is damaged. */
export async function firstWords(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
): Promise<string | undefined> {
  const said = (await factsOf(repository, threadId)).flatMap((fact) =>
    fact.type === 'said' && typeof fact.text === 'string' ? [fact.text] : [],
  );
  return said.find(isRequest) ?? said[0];
}

const maxRuns = 1000;
const maxForks = 100;

/** `words`: the message that the fork has nothing of; empty if it is not known. */
type ThreadFork = ForkLink & { readonly words: string };

/** Ids of the runs that a session began, in order; none if its journal is damaged. The journal is untrusted. */
export async function runsOfThread(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
): Promise<readonly string[]> {
  const runs = (await factsOf(repository, threadId)).flatMap((fact) =>
    fact.type === 'run-began' && typeof fact.runId === 'string' ? [fact.runId] : [],
  );
  return [...new Set(runs)].slice(-maxRuns);
}

/** The forks of a thread: the one that it began as, and those that began from it. The journals are untrusted. */
async function forksOfThread(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
): Promise<readonly ThreadFork[]> {
  const facts = await factsOf(repository, threadId);
  const links = facts.flatMap((fact): readonly ForkLink[] => {
    const { way, thread, entry } = membersOf(fact.type === 'noted' ? fact.fork : undefined);
    const isLink = (way === 'from' || way === 'to') && isName(thread) && isName(entry);
    return isLink ? [{ way, thread, entry }] : [];
  });
  // What came before the fork began is a copy of the older thread.
  const began = links.findLastIndex(({ way }) => way === 'from');
  const from = links[began];
  const older = from === undefined ? [] : await factsOf(repository, from.thread);
  return links
    .slice(Math.max(0, began))
    .slice(0, maxForks)
    .map((link) => {
      const said = (link.way === 'from' ? older : facts).find(
        (fact) => fact.type === 'said' && fact.id === link.entry,
      );
      return { ...link, words: said?.type === 'said' && typeof said.text === 'string' ? said.text : '' };
    });
}

/** Records of a journal that have the form of a fact. Empty if the journal is damaged or is a link. */
async function factsOf(
  repository: Pick<Repository, 'commonDir'>,
  threadId: string,
): Promise<readonly Partial<Happened>[]> {
  try {
    const { records = [] } = (await readThreadJournal(threadDirectory(repository, threadId))) ?? {};
    return records.flatMap(({ type, data }) =>
      type === factsType && Array.isArray(data)
        ? data.filter((fact) => typeof fact === 'object' && fact !== null)
        : [],
    );
  } catch (fault) {
    if (isWritError(fault, 'JOURNAL_CORRUPT') || isWritError(fault, 'OBJECT_CORRUPT')) return [];
    throw fault;
  }
}

/** The threads of sessions, for graphs. */
export const sessionThreads = {
  list: listSessionThreads,
  titleOf: firstWords,
  runsOf: runsOfThread,
  forksOf: forksOfThread,
};
