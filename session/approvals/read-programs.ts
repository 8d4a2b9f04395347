/** Words of a program with which it only reads: all that stand after its name. */
type ReadsOnly = (args: readonly string[]) => boolean;

/** Every option is one of these; what stands after `--`, and every other word, is a place or a text. */
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

/** Tests of `find` and how they are joined: nothing that runs, deletes, writes or reads a list of places. */
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
  // Its scripts can write and run: one range of lines, and nothing else.
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

/** Of these, those whose words name no place: they say something. */
export const placeless: ReadonlySet<string> = new Set([
  'echo',
  'printf',
  'true',
  'false',
  'seq',
  'date',
  'command',
]);
