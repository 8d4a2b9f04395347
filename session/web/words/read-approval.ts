/** One word of a command; one whose value is only known when it runs is not known. */
export interface Word {
  readonly text: string;
  readonly isKnown: boolean;
}

/** One command of the tree, as it was judged. */
export interface Segment {
  readonly words: readonly Word[];
  readonly verdict: string;
  readonly rule: string;
  readonly why: string;
}

/** What is asked about a use, filled in. */
export interface AskedApproval {
  readonly what: string;
  /** Of files, the web and other tools nothing is a command. */
  readonly isCommand: boolean;
  /** Empty where nothing could be proven or not: of what is no command. */
  readonly verdict: string;
  /** Empty where one of its commands says it already. */
  readonly reason: string;
  readonly segments: readonly Segment[];
  readonly moreSegments: number;
  readonly unproven: readonly string[];
  readonly cwd: string;
  readonly branch: string;
  readonly isOutside: boolean;
  /** What each option would cover. */
  readonly needsConfirmation: string;
}

type Members = Readonly<Record<string, unknown>>;

/** Reads the metadata of an approval; what is missing is empty, and a verdict that is missing is not known. */
export function readApproval(metadata: Members): AskedApproval {
  const segments = listOf(metadata.segments).map(readSegment);
  const isTold = (words: string): boolean => segments.some(({ why }) => why === words);
  const verdict = textOf(metadata.verdict) || 'unknown';
  const reason = textOf(metadata.reason);
  return {
    what: asWritten(metadata) ?? textOf(metadata.command ?? metadata.subject),
    isCommand: metadata.command !== undefined,
    verdict: metadata.command === undefined && verdict === 'unknown' ? '' : verdict,
    reason: isTold(reason) ? '' : reason,
    segments,
    moreSegments: Number(metadata.moreSegments ?? 0),
    unproven: listOf(metadata.unproven)
      .map(textOf)
      .filter((one) => !isTold(one)),
    cwd: textOf(metadata.cwd),
    branch: textOf(metadata.branch),
    isOutside: metadata.isOutsideSandbox === true,
    needsConfirmation: textOf(metadata.needsConfirmation),
  };
}

/** A command of several lines in its lines, where none of them is cut: else its text in one line has more of it. */
function asWritten({ command, commandLines }: Members): string | undefined {
  const lines = listOf(commandLines).map(textOf);
  return lines.length > 1 && lines.join('\\u{a}') === command ? lines.join('\n') : undefined;
}

/** The file that a use is about, for the language of its lines; empty where it is about none. */
export function fileOf({ subject }: Members): string {
  return /^workspace\.fs (?:write|delete) (.+)$/s.exec(textOf(subject))?.[1] ?? '';
}

function readSegment(given: unknown): Segment {
  const segment = (given ?? {}) as Members;
  return {
    words: listOf(segment.words).map((one) => {
      const word = one as Members;
      return { text: textOf(word.text), isKnown: word.isKnown !== false };
    }),
    verdict: textOf(segment.verdict) || 'unknown',
    rule: textOf(segment.rule),
    why: textOf(segment.why),
  };
}

/** A verdict as a word that needs no colour. */
export function verdictWords(verdict: string): string {
  return { safe: 'only reads', dangerous: 'dangerous' }[verdict] ?? 'cannot prove';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
