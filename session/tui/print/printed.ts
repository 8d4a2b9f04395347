import type { Snapshot } from '../../state/snapshot.ts';

/** One entry of a transcript as a snapshot has it. */
export type Entry = Snapshot['transcript'][number];

/**
 * What of a session stands in the scrollback. What is finished is printed once, in the order in which it was finished;
 * nothing is ever printed twice, or left out without a word.
 */
export interface Printed {
  /** The newest entry that was looked at. */
  readonly last: string | undefined;
  /** Entries before it that were not finished then. */
  readonly waiting: readonly string[];
  /** The reply that is being printed as it comes. */
  readonly open: string | undefined;
  /** Questions whose words stand there. */
  readonly asked: ReadonlySet<string>;
}

export const nothingPrinted: Printed = { last: undefined, waiting: [], open: undefined, asked: new Set() };

/** What is to be printed now. */
export interface ToPrint {
  readonly printed: Printed;
  /** Finished entries, in the order in which they are printed; the reply that is open may be the first. */
  readonly entries: readonly Entry[];
  /** The reply that comes, to be printed as far as it goes. */
  readonly open: Entry | undefined;
  /** Entries that went by without being seen. */
  readonly missed: boolean;
}

const mostWaiting = 200;

/** Sorts out what a snapshot has that was not printed before. Pure. */
export function nextToPrint(before: Printed, { transcript }: Pick<Snapshot, 'transcript'>): ToPrint {
  const at = before.last === undefined ? -1 : transcript.findLastIndex(({ id }) => id === before.last);
  const fresh = transcript.slice(at + 1);
  const waited = new Set(before.waiting);
  const known = waited.size === 0 ? [] : transcript.slice(0, at + 1).filter(({ id }) => waited.has(id));
  const all = [...known, ...fresh];
  const open =
    all.find((one) => one.id === before.open && isOpen(one)) ??
    all.find((one) => isReply(one) && isOpen(one));
  const isHalfPrinted = open !== undefined && open.id === before.open;
  // A reply that is half printed is not cut in two by what ends beside it; what has ended before it begins is.
  const entries = isHalfPrinted
    ? []
    : inOrder(
        all.filter((one) => !isOpen(one)),
        before.open,
      );
  const printed = new Set(entries.map(({ id }) => id));
  return {
    printed: {
      ...before,
      last: transcript.at(-1)?.id ?? before.last,
      waiting: all
        .filter(({ id }) => !printed.has(id))
        .map(({ id }) => id)
        .slice(-mostWaiting),
      open: open?.id,
    },
    entries,
    open,
    missed: before.last !== undefined && at < 0 && transcript.length > 0,
  };
}

/** The reply that was being printed comes first. */
function inOrder(entries: readonly Entry[], first: string | undefined): readonly Entry[] {
  const begun = entries.find(({ id }) => id === first);
  return begun === undefined ? entries : [begun, ...entries.filter((one) => one !== begun)];
}

function isReply({ kind }: Entry): boolean {
  return kind === 'assistant_message';
}

function isOpen({ streaming, kind, status }: Entry): boolean {
  return streaming || (kind === 'tool_call' && (status === 'running' || status === 'preview'));
}
