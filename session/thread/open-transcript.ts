import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { WritError } from '../../core/base/errors.ts';
import { absent } from '../../core/base/files.ts';
import {
  isVouchedLine,
  type JournalWitness,
  type KnownJournal,
  type Voucher,
} from '../../store/journal-witness.ts';
import { firstPrev } from '../../store/parse-journal.ts';
import { journalFile, requireOwnPlace } from '../../store/run-directory.ts';
import type { Happened } from '../state/fact.ts';
import { openedState, reduce } from '../state/reduce.ts';
import type { SessionState, TranscriptEntry } from '../state/state.ts';
import { factsType, witnessName } from './open-thread.ts';
import { type ChainPlace, maxLineBytes, parseLine, readChain } from './read-chain.ts';
import { threadNotFound } from './thread-not-found.ts';

/** Which entries are asked for: the last `limit` of the first `before`. */
export interface TranscriptAsk {
  readonly before: number;
  readonly limit: number;
}

/** Entries of a transcript, oldest first, and how many came before them. */
export interface TranscriptPage {
  readonly entries: readonly TranscriptEntry[];
  readonly earlier: number;
}

/** The transcript of a thread from its beginning on, however little of it its session shows. */
export interface ThreadTranscript {
  /**
   * One page of it. The journal is read once; from then on what was added to it, and the lines of the page.
   * THREAD_NOT_FOUND, JOURNAL_CORRUPT, OBJECT_CORRUPT, and THREAD_UNPROVEN where nobody here vouches for it.
   */
  page(ask: TranscriptAsk): Promise<TranscriptPage>;
}

interface ThreadPlace {
  readonly directory: string;
  readonly threadId: string;
  readonly witness: Pick<JournalWitness, 'look'>;
}

/** What one answer holds at most, in characters of its entries; one entry is always told. */
const mostCharacters = 4 * 1024 * 1024;

interface Read extends ChainPlace {
  readonly places: ReturnType<typeof openTranscriptPlaces>;
  records: number;
  /** Whether the record that the witness knows last was met, or was not among these. */
  isMet: boolean;
  lastLine: string;
}

/** Opens the transcript of a thread for whoever pages through it; nothing is read before it is asked for. */
export function openThreadTranscript({ directory, threadId, witness }: ThreadPlace): ThreadTranscript {
  const path = join(directory, journalFile);
  let read = nothingRead();
  let inode = -1;
  let last: Promise<unknown> = Promise.resolve();

  const readOn = async (file: FileHandle, known: KnownJournal): Promise<boolean> => {
    const { reached } = known;
    let last: Buffer | undefined;
    const end = await readChain(file, read, ({ type, data }, at, line, digest) => {
      read.records += 1;
      last = line;
      if (read.records === reached?.records) read.isMet = digest === reached.digest;
      if (type !== factsType) return;
      for (const [nth, fact] of (data as readonly Happened[]).entries()) read.places.add(fact, { at, nth });
    });
    const { bytes, digest } = end;
    read = { ...read, bytes, digest, ...(last === undefined ? {} : { lastLine: last.toString('utf8') }) };
    return !end.isDamaged;
  };
  /** The whole of the journal as it is now, of which only what is new is read. */
  const readAll = async (file: FileHandle, known: KnownJournal): Promise<void> => {
    const { ino, size } = await file.stat();
    if (ino !== inode || size < read.bytes) read = nothingRead();
    inode = ino;
    const isFirst = read.bytes === 0;
    if (await readOn(file, known)) return;
    // What was not written whole was taken back: another line stands in its place.
    read = nothingRead();
    if (!isFirst && (await readOn(file, known))) return;
    const line = read.records + 1;
    read = nothingRead();
    throw new WritError('JOURNAL_CORRUPT', {
      message: `line ${line} of \`${path}\` is damaged`,
      detail: { path, line },
    });
  };
  const page = async ({ before, limit }: TranscriptAsk): Promise<TranscriptPage> => {
    // Looked at first: a writer may be ahead of what is known of it, and never behind.
    const known = await witness.look(witnessName(threadId));
    await requireOwnPlace(directory, [journalFile]);
    const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(absent);
    if (file === undefined) throw threadNotFound(threadId);
    try {
      await readAll(file, known);
      const { records, isMet, lastLine, places } = read;
      const isWhole = known.reached !== undefined && records >= known.reached.records && isMet;
      if (!isWhole || !isVouchedLine(lastLine, known)) {
        read = nothingRead();
        throw new WritError('THREAD_UNPROVEN', { detail: { thread_id: threadId } });
      }
      const to = Math.min(before, places.count());
      const from = Math.max(0, to - limit);
      const wanted = Array.from({ length: to - from }, (_, at) => places.of(from + at));
      const facts = await readFacts(
        file,
        wanted.flatMap(({ made, changed }) => [made, ...(changed ? [changed] : [])]),
        known,
      );
      const entries = wanted.map(({ made, changed }) =>
        places.entryOf([facts(made), ...(changed === undefined ? [] : [facts(changed)])]),
      );
      if (entries.includes(undefined)) {
        read = nothingRead();
        throw new WritError('JOURNAL_CORRUPT', {
          message: `\`${path}\` is not what it was`,
          detail: { path },
        });
      }
      const fitting = thatFit(entries as readonly TranscriptEntry[]);
      return { entries: fitting, earlier: to - fitting.length };
    } finally {
      await file.close();
    }
  };
  return {
    page(ask) {
      const answered = last.then(() => page(ask));
      last = answered.catch(() => undefined);
      return answered;
    },
  };
}

function nothingRead(): Read {
  return {
    places: openTranscriptPlaces(),
    bytes: 0,
    digest: firstPrev,
    records: 0,
    isMet: false,
    lastLine: '',
  };
}

/**
 * The facts that stand at these places; `undefined` for one that is not there. What was read once may have been written
 * over since: a line is believed for its own word of the witness.
 */
async function readFacts(
  file: FileHandle,
  places: readonly FactPlace[],
  witness: Voucher,
): Promise<(place: FactPlace) => Happened | undefined> {
  const lines = [...new Set(places.map(({ at }) => at))].sort((one, other) => one - other);
  const found = new Map<number, readonly Happened[]>();
  let line = 0;
  for await (const read of readLinesAt(file, lines)) {
    const isOwn = read !== undefined && isVouchedLine(read.toString('utf8'), witness);
    const record = isOwn ? parseLine(read) : undefined;
    if (record?.type === factsType && Array.isArray(record.data)) found.set(lines[line] ?? 0, record.data);
    line += 1;
  }
  return ({ at, nth }) => found.get(at)?.[nth];
}

/** The newest of them that one answer holds. */
function thatFit(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  let left = mostCharacters;
  const first = entries.findLastIndex(({ content = '', title = '' }) => {
    left -= content.length + title.length;
    return left < 0;
  });
  return entries.slice(Math.min(first + 1, entries.length - 1));
}

const chunkBytes = 256 * 1024;

/**
 * The lines that begin at these octets of a file, in rising order; `undefined` for one that has no end. Lines that
 * stand together are read together, and a line is good until the next one is asked for.
 */
async function* readLinesAt(file: FileHandle, places: readonly number[]): AsyncGenerator<Buffer | undefined> {
  let from = 0;
  let read: Buffer = Buffer.alloc(0);
  const upTo = async (at: number, length: number): Promise<void> => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, at);
    [from, read] = [at, buffer.subarray(0, bytesRead)];
  };
  for (const at of places) {
    let end = at < from ? -1 : read.indexOf(10, at - from);
    for (let length = chunkBytes; end < 0 && length <= maxLineBytes; length *= 4) {
      await upTo(at, length);
      end = read.indexOf(10);
    }
    yield end < 0 ? undefined : read.subarray(at - from, end);
  }
}

/** Where a fact stands in a journal: the octet at which its line begins, and which of the line's facts it is. */
interface FactPlace {
  readonly at: number;
  readonly nth: number;
}

/** What one entry of a transcript is made of: the fact that made it, and the one that changed it last. */
interface EntryPlaces {
  readonly made: FactPlace;
  readonly changed?: FactPlace;
}

/**
 * Where the entries of a transcript stand in its journal, in the order in which the session shows them: two numbers for
 * each, however long the thread.
 */
interface TranscriptPlaces {
  /** How many entries there are. */
  readonly count: () => number;
  /** The next fact of the journal; the first one opens the session. */
  add(fact: Happened, place: FactPlace): void;
  of(entry: number): EntryPlaces;
  /** The entry that these facts come to, by the way on which the session itself came to it; none of what is no fact. */
  entryOf(facts: readonly (Happened | undefined)[]): TranscriptEntry | undefined;
}

/** More facts than a line has; 2^30 octets of a journal times that is a whole number still. */
const mostFacts = 2 ** 20;

export function openTranscriptPlaces(): TranscriptPlaces {
  let opened: SessionState | undefined;
  let state: SessionState | undefined;
  let count = 0;
  let made = new Float64Array(1024);
  let changed = new Float64Array(1024).fill(-1);
  const insert = (at: number, place: number): void => {
    if (count === made.length) [made, changed] = [grown(made), grown(changed)];
    made.copyWithin(at + 1, at, count);
    changed.copyWithin(at + 1, at, count);
    made[at] = place;
    changed[at] = -1;
    count += 1;
  };
  return {
    count: () => count,
    add(fact, { at, nth }) {
      // It is in no transcript, and would be held at length.
      if (fact.type === 'exchanged') return;
      if (state === undefined) {
        if (fact.type === 'opened') [opened, state] = [openedState(fact), openedState(fact)];
        return;
      }
      const before = state;
      state = reduce(before, lightened(fact));
      const touched = touchedBy(before, state);
      if (touched === undefined) return;
      const place = at * mostFacts + nth;
      if (state.earlier + state.transcript.length > count) insert(touched, place);
      else changed[touched] = place;
    },
    of(entry) {
      const [first = 0, last = -1] = [made[entry], changed[entry]];
      return { made: toPlace(first), ...(last < 0 ? {} : { changed: toPlace(last) }) };
    },
    entryOf(facts) {
      let shown = opened;
      for (const fact of facts) {
        if (shown === undefined || fact === undefined) return undefined;
        shown = reduce(shown, fact);
      }
      return shown?.transcript[0];
    },
  };
}

/** What makes an entry, without what would be held at length for nothing: ids of commands, what was changed. */
function lightened(fact: Happened): Happened {
  if (fact.type === 'patched') return { ...fact, patchset: { ...fact.patchset, changes: [] } };
  if (fact.type !== 'said') return fact;
  const { commandId: _, ...said } = fact;
  return said;
}

function grown(column: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const wider = new Float64Array(column.length * 2);
  wider.set(column);
  return wider;
}

function toPlace(packed: number): FactPlace {
  return { at: Math.floor(packed / mostFacts), nth: packed % mostFacts };
}

/** Which entry of the whole transcript one fact made or changed; `undefined` where it did neither. */
function touchedBy(before: SessionState, after: SessionState): number | undefined {
  const [old, now] = [before.transcript, after.transcript];
  if (old === now) return undefined;
  let same = 0;
  while (same < now.length && now[now.length - 1 - same] === old[old.length - 1 - same]) same += 1;
  return same === now.length ? undefined : after.earlier + now.length - 1 - same;
}
