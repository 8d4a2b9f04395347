import { hostname } from 'node:os';

/** A kind of value that differs between two runs of the same command line. */
interface Kind {
  readonly name: string;
  readonly pattern: RegExp;
  /** What matches is a value only if it has small and capital letters and digits. */
  readonly mixed?: true;
}

const isMixed = (text: string): boolean => /[a-z]/.test(text) && /[A-Z]/.test(text) && /[0-9]/.test(text);

/** Values with a number: the same value has the same number within a case. */
const numbered: readonly Kind[] = [
  { name: 'uuid', pattern: /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g },
  { name: 'sha512', pattern: /(?<![0-9a-zA-Z])[0-9a-f]{128}(?![0-9a-zA-Z])/g },
  { name: 'sha256', pattern: /(?<![0-9a-zA-Z])[0-9a-f]{64}(?![0-9a-zA-Z])/g },
  { name: 'sha1', pattern: /(?<![0-9a-zA-Z])[0-9a-f]{40}(?![0-9a-zA-Z])/g },
  { name: 'hex32', pattern: /(?<![0-9a-zA-Z])[0-9a-f]{32}(?![0-9a-zA-Z])/g },
  { name: 'fingerprint', pattern: /(?<=SHA256:)[0-9A-Za-z+/]{43}/g },
  { name: 'key', pattern: /(?<=\+)[0-9a-f]{8}\+[A-Za-z0-9+/]{43,}={0,2}/g },
  {
    name: 'base64',
    pattern: /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{43,}={0,2}(?![A-Za-z0-9+/_=-])/g,
    mixed: true,
  },
];

/** Values without a number: two of them are as good as one. */
const plain: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, '<time>'],
  [/("(?:\w+_)?(?:ms|seconds_left)": ?)\d+(?:\.\d+)?/g, '$1"<ms>"'],
  [/("(?:\w+_)?(?:bytes|size)": ?)\d+/g, '$1"<size>"'],
  [/("(?:\w+_)?(?:pid|port)": ?|"(?:web|mcp)": ?(?=[3-6]\d{4}\b))\d+/g, '$1"<number>"'],
  [/(MiB of memory .*found )\d+/g, '$1<number>'],
  // Which tests were slowest is chance.
  [/("slowest": ?)\[[^\]]*\]/g, '$1"<slowest>"'],
  [/(wall_clock_seconds: )\d+(?:\.\d+)?/g, '$1<seconds>'],
  [/^( {2}time) +\d.*: checks .*$/gm, '$1  <duration>'],
  [/(\d+ of \d+ checks? \| )\d+(?:\.\d+)? (?:ms|s|min)/g, '$1<duration>'],
  [/ {2,}\d+(?:\.\d+)? (?:ms|s|min)$/gm, '  <duration>'],
  [/\| \d+(?:\.\d+)? (?:B|KiB|MiB) \|$/gm, '| <size> |'],
  [/(\d+ of \d+ checks? {2,})\d+(?:\.\d+)? (?:ms|s|min) +(?=\S)/g, '$1<duration>  '],
  [/(took ms: )\d+(?:\.\d+)?/g, '$1<ms>'],
  [/ {2,}\d+(?:\.\d+)? (?:B|KiB|MiB)$/gm, '  <size>'],
  [/((?:127\.0\.0\.1|localhost|\[::1\]):)[3-6]\d{4}\b/g, '$1<port>'],
  [/\b(port) [3-6]\d{4}\b/g, '$1 <number>'],
  [/\b(pid|process)( +)\d+\b/g, '$1$2<number>'],
  [/\bgit version \S+/g, 'git version <git-version>'],
  [/(\/tmp\/writ-[a-z-]+-)[A-Za-z0-9]{6}\b/g, '$1<random>'],
];

/**
 * Puts placeholders where two runs of one case differ: `<place>` for paths, `<time>`, and for ids, digests, keys and
 * signatures numbers in the order in which they appear, over all texts of a case: `<sha256-2>`. A word of 7 to 16
 * hexadecimal digits with which a known value begins is `<sha256-2:7>`; any other one of 12 is `<hex12-1>`.
 */
export class Normaliser {
  readonly #paths: readonly (readonly [path: string, by: string])[];
  readonly #kept: ReadonlySet<string>;
  readonly #known = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** `paths`: placeholders by path; `kept`: kinds that stay as they are (`sha256`, `time`). */
  constructor(paths: Readonly<Record<string, string>>, kept: readonly string[] = []) {
    this.#paths = Object.entries(paths).sort(([a], [b]) => b.length - a.length);
    this.#kept = new Set(kept);
  }

  text(given: string): string {
    let text = given;
    for (const [path, by] of this.#paths) text = text.replaceAll(path, by);
    text = text.replaceAll(`v${process.versions.node}`, 'v<node-version>');
    text = text.replaceAll(process.versions.node, '<node-version>');
    text = text.replaceAll(`on \`${hostname()}\``, 'on `<host>`');
    for (const kind of numbered) if (!this.#kept.has(kind.name)) text = this.#number(text, kind);
    for (const [pattern, by] of plain) if (!this.#keeps(by)) text = text.replace(pattern, by);
    return text.replace(/(?<![0-9a-zA-Z-])[0-9a-f]{7,16}(?![0-9a-zA-Z-])/g, (word) => this.#shortOf(word));
  }

  #keeps(by: string): boolean {
    const [, name = ''] = /<([a-z]+)>/.exec(by) ?? [];
    return this.#kept.has(name);
  }

  #number(text: string, { name, pattern, mixed }: Kind): string {
    return text.replace(pattern, (value) =>
      mixed && !isMixed(value) ? value : this.#placeholder(name, value),
    );
  }

  #placeholder(name: string, value: string): string {
    const known = this.#known.get(value);
    if (known !== undefined) return `<${known}>`;
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    this.#known.set(value, `${name}-${count}`);
    return `<${name}-${count}>`;
  }

  #shortOf(word: string): string {
    for (const [value, by] of this.#known)
      if (value.startsWith(word)) return value === word ? `<${by}>` : `<${by}:${word.length}>`;
    // The short form of a digest that is nowhere in full.
    return word.length === 12 && !this.#kept.has('hex12') ? this.#placeholder('hex12', word) : word;
  }
}

/** Numbers the placeholders of a transcript again, by the order in which they appear in it. */
export function renumber(text: string): string {
  const counts = new Map<string, number>();
  const known = new Map<string, string>();
  return text.replace(/<([a-z]+[0-9]*)-(\d+)(:\d+)?>/g, (_, name: string, number: string, short = '') => {
    const old = `${name}-${number}`;
    let now = known.get(old);
    if (now === undefined) {
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      now = `${name}-${count}`;
      known.set(old, now);
    }
    return `<${now}${short}>`;
  });
}
