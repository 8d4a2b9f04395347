/** Classifies shell text as a proven read, unknown or dangerous. */
import { namedPaths } from '../../workspace/command-acl/command-paths.ts';
import { commandsOf, partsOf, type ShellReading, type SimpleCommand } from '../../workspace/shell/shell.ts';
import { type Danger, dangerOf, dangerOfWrites } from './danger.ts';

/** What is known of a use before it is made. `unknown`: neither a proven read nor known to be dangerous. */
export type UseClass = 'safe' | 'unknown' | 'dangerous';

/** One simple command of a text, with its verdict and the rule that gave it. */
export interface Segment extends Danger {
  readonly command: SimpleCommand;
  readonly class: UseClass;
}

/** A shell text with the verdict of each command. */
export interface ClassifiedCommand extends Danger {
  readonly class: UseClass;
  /** In the order of the text; those that could be read. */
  readonly segments: readonly Segment[];
  /** What the text does not prove. */
  readonly unproven: readonly string[];
  readonly reading: ShellReading;
}

/**
 * Classifies shell text. Only proven reads are safe: programs that read, with literal words, joined by `|`, `&&`,
 * `||` and `;`, on paths in the workspace. A text that cannot be parsed is dangerous.
 */
export function classifyCommand(text: string): ClassifiedCommand {
  const reading = commandsOf(text);
  if (!reading.ok) {
    const why = `what it runs is unknown: ${reading.reason}`;
    const { commands, gaps } = partsOf(text, reading.reason);
    const segments = commands.map(classifyPart);
    return { class: 'dangerous', rule: 'unproven', why, segments, unproven: gaps, reading };
  }
  const { commands, variables } = reading;
  if (commands.length === 0) {
    const why = 'it names no program';
    return { class: 'dangerous', rule: 'unproven', why, segments: [], unproven: [why], reading };
  }
  const segments = commands.map(classifySegment);
  const unproven = [
    ...variables.map((name) => `the value of \`$${name}\``),
    ...segments.flatMap((one) => (one.class === 'unknown' ? [one.why] : [])),
  ];
  const judged = { segments, unproven: [...new Set(unproven)], reading };
  const danger = segments.find((one) => one.class === 'dangerous') ?? dangerOfWrites(reading);
  if (danger !== undefined) return { ...judged, class: 'dangerous', rule: danger.rule, why: danger.why };
  const other = segments.find((one) => one.class === 'unknown');
  if (other !== undefined) return { ...judged, class: 'unknown', rule: other.rule, why: other.why };
  if (!isPlain(text, commands)) {
    const why = 'it is more than plain words joined by `|`, `&&`, `||` and `;`';
    return { ...judged, unproven: [...judged.unproven, why], class: 'unknown', rule: 'not-plain', why };
  }
  return { ...judged, class: 'safe', rule: 'only-reads', why: 'each of its commands is proven to read only' };
}

function classifySegment(command: SimpleCommand): Segment {
  const danger = dangerOf(command);
  if (danger !== undefined) return { ...danger, command, class: 'dangerous' };
  const unknown = obstacleToReading(command);
  if (unknown !== undefined) return { ...unknown, command, class: 'unknown' };
  const name = command.argv[0]?.literal ?? '';
  return { rule: 'only-reads', why: `\`${name}\` only reads, with these words`, command, class: 'safe' };
}

/** A command in a text that cannot be parsed is never safe: a function may have its name. */
function classifyPart(command: SimpleCommand): Segment {
  const judged = classifySegment(command);
  if (judged.class !== 'safe') return judged;
  return { command, class: 'unknown', rule: 'beside-unread', why: `${judged.why}, if it is that program` };
}

/** Why a simple command is not proven to read only. */
function obstacleToReading(command: SimpleCommand): Danger | undefined {
  const { argv, assignments } = command;
  const [name = '', ...args] = argv.map(({ literal }) => literal ?? '');
  const reads = readPrograms.get(name);
  if (reads === undefined) return { rule: 'not-known', why: `what \`${name}\` does is not in its words` };
  if (assignments.length > 0) return { rule: 'assigns', why: `\`${name}\` is given variables` };
  if (argv.some(({ literal }) => literal === undefined))
    return { rule: 'expands', why: `a word of \`${name}\` is known only when it runs` };
  if (!reads(args)) return { rule: 'options', why: `\`${name}\` is not known to read only with these words` };
  if (placeless.has(name)) return undefined;
  const named = namedPaths({ ok: true, commands: [command], variables: [], redirects: [] });
  return named.every(({ kind }) => kind === 'workspace')
    ? undefined
    : { rule: 'elsewhere', why: `\`${name}\` names a place that is not in the workspace` };
}

const between = /^[ \t]*(?:\|\||&&|\||;)[ \t]*/;

/** Whether the text consists only of these commands' words, as written, and the operators that join them. */
function isPlain(text: string, commands: readonly SimpleCommand[]): boolean {
  let rest = text.trim();
  for (const [index, { argv }] of commands.entries()) {
    if (index > 0) {
      const joint = between.exec(rest)?.[0];
      if (joint === undefined) return false;
      rest = rest.slice(joint.length);
    }
    for (const [at, word] of argv.entries()) {
      if (at > 0) {
        const blank = /^[ \t]+/.exec(rest)?.[0];
        if (blank === undefined) return false;
        rest = rest.slice(blank.length);
      }
      if (word.text === '' || !rest.startsWith(word.text)) return false;
      rest = rest.slice(word.text.length);
    }
  }
  return rest === '';
}

/** Whether a program only reads when it is called with these arguments. */
type ReadsOnly = (args: readonly string[]) => boolean;

/** Every option must match `known`; words after `--` and all other words are operands. */
function options(known: RegExp, mostOperands = Number.POSITIVE_INFINITY): ReadsOnly {
  return (args) => {
    const end = args.indexOf('--');
    const before = end === -1 ? args : args.slice(0, end);
    const operands = before.filter((word) => !isOption(word));
    const after = end === -1 ? 0 : args.length - end - 1;
    return (
      before.every((word) => !isOption(word) || known.test(word)) && operands.length + after <= mostOperands
    );
  };
}

/** `-` alone is standard input. */
function isOption(word: string): boolean {
  return word.startsWith('-') && word !== '-';
}

const searchOptions =
  /^(?:-[abceEFGHhIiLlnoqrsTvwxyZ]+|-[ABCem]\d*|--(?:basic|extended|fixed|perl)-[a-z]+|--(?:color|colour|include|exclude|exclude-dir|max-count|context|after-context|before-context|regexp)(?:=.*)?|--(?:ignore-case|invert-match|word-regexp|line-regexp|count|files-with-matches|files-without-match|only-matching|quiet|no-messages|line-number|with-filename|no-filename|recursive|null|text))$/s;

/** Tests and operators of `find` that do not run, delete or write anything and do not read a list of paths. */
const findWords =
  /^(?:-(?:name|iname|path|ipath|wholename|regex|iregex|type|maxdepth|mindepth|size|empty|print|print0|prune|not|or|and|o|a|mtime|mmin|newer|perm|readable|executable|true|false|ls|depth|mount|xdev|daystart)|-\d+[a-z]*)$/;

const noOptions = options(/^(?!)/);

/**
 * Programs that only read, and the options with which they do. Left out on purpose: what writes by an operand (`xxd`,
 * `sort -o`), runs something (`less`, `awk`, `rg --pre`), shows the environment (`env`), waits (`tail -f`) or sets
 * something (`hostname`, `date -s`).
 */
export const readPrograms: ReadonlyMap<string, ReadsOnly> = new Map<string, ReadsOnly>([
  ['cat', options(/^-[AbeEnstTuv]+$/)],
  ['tac', options(/^-[br]+$/)],
  ['nl', options(/^-(?:b[atn]|[pn]|[a-z]?\d+)$/)],
  ['rev', noOptions],
  ['head', options(/^(?:-[nc]?[-+]?\d*[kKM]?|-[qvz]+)$/)],
  ['tail', options(/^(?:-[nc]?[-+]?\d*[kKM]?|-[qvz]+)$/)],
  ['wc', options(/^(?:-[clLmw]+|--(?:bytes|chars|lines|words|max-line-length))$/)],
  ['cut', options(/^(?:-[bcdfsnz][^/]*|--(?:complement|only-delimited))$/)],
  ['tr', options(/^-[cCdst]+$/)],
  // A second place would be written to.
  ['uniq', options(/^-[cdDiu]+$/, 1)],
  ['sort', options(/^(?:-[bdfghiMnrRsuVz]+|-[kt][^/]*)$/)],
  ['comm', options(/^-[123]+$/)],
  [
    'diff',
    options(
      /^(?:-[abBdeEiNpqrstTuwy]+|-[UC]\d+|--(?:brief|unified|side-by-side|recursive|suppress-common-lines|strip-trailing-cr))$/,
    ),
  ],
  ['cmp', options(/^-[bls]+$/)],
  [
    'ls',
    options(
      /^(?:-[aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1]+|--(?:all|almost-all|color|human-readable)(?:=[a-z]+)?)$/,
    ),
  ],
  ['stat', options(/^(?:-[fLt]+|-c[^/]*)$/)],
  ['du', options(/^(?:-[abchkmsSx]+|-d\d*|--(?:max-depth=\d+|summarize|human-readable|total))$/)],
  ['file', options(/^-[bhiLN]+$/)],
  ['basename', options(/^-[az]$/)],
  ['dirname', options(/^-z$/)],
  ['readlink', options(/^-[efmnqsvz]+$/)],
  ['realpath', options(/^-[emLPqsz]+$/)],
  ['md5sum', options(/^-[bt]+$/)],
  ['sha1sum', options(/^-[bt]+$/)],
  ['sha256sum', options(/^-[bt]+$/)],
  ['sha512sum', options(/^-[bt]+$/)],
  ['cksum', noOptions],
  ['od', options(/^-(?:[abcdfhilosvx]+|[AtNj][a-z\d]*)$/)],
  ['grep', options(searchOptions)],
  ['egrep', options(searchOptions)],
  ['fgrep', options(searchOptions)],
  [
    'rg',
    options(
      /^(?:-[acFHIilnNoPqSsUvwx]+|-[ABCegmtT][^/]*|--(?:files|hidden|no-ignore|ignore-case|smart-case|line-number|no-heading|count|json|multiline|fixed-strings|files-with-matches|glob=.*|type=\w+|max-count=\d+|context=\d+))$/s,
    ),
  ],
  ['find', (args) => args.every((word) => !isOption(word) || findWords.test(word))],
  // Scripts of `sed` can write and run commands, so only one range of lines is allowed.
  [
    'sed',
    ([quiet, script = '', ...places]) =>
      quiet === '-n' && /^\d+(?:,(?:\d+|\$))?p$/.test(script) && !places.some(isOption),
  ],
  ['echo', () => true],
  ['printf', ([format = '-']) => !format.startsWith('-')],
  ['pwd', options(/^-[LP]$/, 0)],
  ['true', () => true],
  ['false', () => true],
  ['test', () => true],
  ['[', () => true],
  ['seq', options(/^-(?:w|\d+)$/)],
  ['whoami', options(/^(?!)/, 0)],
  ['id', options(/^-[gGnru]+$/, 0)],
  ['uname', options(/^-[asnrvmpio]+$/, 0)],
  ['date', (args) => args.every((word) => word === '-u' || /^\+[^/]*$/.test(word))],
  [
    'command',
    ([option, ...names]) => /^-[vV]$/.test(option ?? '') && names.every((name) => /^\w[\w.+-]*$/.test(name)),
  ],
]);

/** Of these, the programs with arguments that are text, not paths. */
const placeless: ReadonlySet<string> = new Set(['echo', 'printf', 'true', 'false', 'seq', 'date', 'command']);
