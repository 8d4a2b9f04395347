/* Reads TAP reports. */
import { setImmediate } from 'node:timers/promises';
import { Tally } from './tally.ts';
import {
  beforeStack,
  type ParsedReport,
  plainName,
  type ReportRefusal,
  refuse,
  reportBounds,
  textRefusal,
  withoutEscapes,
} from './test-report.ts';

/** One test point; what is known of it later than its line is written into it. */
interface Point {
  readonly ok: boolean;
  readonly name: string;
  readonly directive: 'skip' | 'todo' | undefined;
  durationMs: number | undefined;
  isSuite: boolean;
  /** Lines of it. */
  message: string[];
  inner: Inner | undefined;
}

/** What the subtests of a point counted. */
interface Inner {
  readonly tally: Tally;
  readonly points: number;
}

/** `[not ]ok [number] [- name] [# directive]`; `undefined` for any other line. */
export function toPoint(content: string): Point | undefined {
  const match = /^(not )?ok(?=\s|$)[ \t]*(?:\d{1,9}(?=\s|$))?[ \t]*(?:-(?=\s|$))?(.*)$/.exec(content);
  if (!match) return undefined;
  const description = (match[2] ?? '').replace(/ \{$/, '');
  const hash = directiveAt(description);
  const mark = hash === -1 ? '' : description.slice(hash + 1).trim();
  const time = /^time=(\d{1,12}(?:\.\d{1,20})?)(ms|s)?\b/.exec(mark);
  const name = (
    hash === -1 || (!time && !directiveOf(mark)) ? description : description.slice(0, hash)
  ).trim();
  return {
    ok: match[1] === undefined,
    name: name.replace(/\\([\\#])/g, '$1'),
    directive: directiveOf(mark),
    durationMs: time ? Number(time[1]) * (time[2] === 's' ? 1000 : 1) : undefined,
    isSuite: false,
    message: [],
    inner: undefined,
  };
}

/**
 * Index of the first `#` that begins a directive, otherwise of the first `#`; -1 if there is none. A `\#` is part of
 * the name.
 */
function directiveAt(description: string): number {
  let first = -1;
  for (const { index } of description.matchAll(/(?<=^|\s)#/g)) {
    if (directiveOf(description.slice(index + 1).trim())) return index;
    if (first === -1) first = index;
  }
  return first;
}

function directiveOf(mark: string): Point['directive'] {
  if (/^skip/i.test(mark)) return 'skip';
  return /^todo\b/i.test(mark) ? 'todo' : undefined;
}

/** Longest part of a line that is looked at. */
const maxLineLength = 64 * 1024;
const headLength = 4096;
const linesPerTurn = 5000;
const maxMessageLines = 20;
const opening = /^(?:TAP version \d|1\.\.\d|(?:not )?ok \d)/;
/** What a runner prints in place of a test where a file has none. */
const scriptFile = /^\S+\.[cm]?[jt]sx?$/;

interface Yaml {
  readonly indent: number;
  readonly point: Point;
  /** Whether the message of the test may continue on the next lines. */
  isMessage: boolean;
}

/** One level of indentation. */
interface Level {
  readonly tally: Tally;
  points: number;
  plan: number | undefined;
  /** The latest point, settled when all of it is known. */
  last: Point | undefined;
  /** Subtests that precede their point. */
  waiting: Inner | undefined;
  /** The latest point opened a block `{`, and its subtests follow it. */
  inBlock: boolean;
}

/** Whether output is meant as TAP: its first line that is not blank is a version, a plan or a numbered test point. */
export function beginsAsTap(bytes: Uint8Array): boolean {
  const head = withoutEscapes(Buffer.from(bytes.subarray(0, headLength)).toString('utf8'));
  return opening.test(head.replace(/^\ufeff/, '').trimStart());
}

/**
 * Reads TAP 13 and 14 with nested subtests.
 *
 * - A point without subtests counts once.
 * - A failed point counts even if all its subtests passed, or if it is between two levels of indentation.
 * - `not ok` fails unless it is to-do; `Bail out!` is a failure.
 *
 * Refused: no plan (truncated), a plan that does not fit, encodings except UTF-8, more than 64 MiB or 64 levels, text
 * without any TAP.
 */
export async function parseTap(bytes: Uint8Array): Promise<ParsedReport> {
  const unreadable = textRefusal(bytes);
  if (unreadable) return { refusal: unreadable };
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\ufeff/, '');
  const reader = new TapReader();
  let lines = 0;
  for (let start = 0; start < text.length && !reader.refusal && !reader.bailedOut; ) {
    const feed = text.indexOf('\n', start);
    const end = feed === -1 ? text.length : feed;
    const line = withoutEscapes(text.slice(start, Math.min(end, start + maxLineLength))).trimEnd();
    reader.line(line);
    start = end + 1;
    lines += 1;
    if (lines % linesPerTurn === 0) await setImmediate();
  }
  if (reader.sawOther && !reader.sawTap)
    return refuse('not-a-report', 'expected a version, a plan or a test point, found none');
  const tally = reader.end();
  return reader.refusal ? { refusal: reader.refusal } : { report: tally.toReport() };
}

class TapReader {
  refusal: ReportRefusal | undefined;
  bailedOut = false;
  /** The reader saw a line that only TAP has. */
  sawTap = false;
  /** So was a line that no comment is. */
  sawOther = false;
  readonly #levels: Level[] = [newLevel()];
  /** What the runner counts behind the last point: `# tests 3`, `# pass 2`, `# fail 1`. */
  readonly #totals = new Map<string, number>();
  /** Indentation of the YAML block that is open, and the point that it describes. */
  #yaml: Yaml | undefined;
  /** A YAML block may open on the next line. */
  #latest: { readonly indent: number; readonly point: Point } | undefined;

  line(text: string): void {
    // Reports that were put one behind the other have a mark at the seam.
    const line = text.replace(/^\ufeff+/, '');
    if (line === '') return;
    const content = line.trimStart();
    const indent = line.length - content.length;
    if (this.#yaml && this.#inYaml(content, indent, this.#yaml)) return;
    if (content.startsWith('---') && this.#latest && indent > this.#latest.indent) {
      this.#yaml = { indent, point: this.#latest.point, isMessage: false };
      this.#latest = undefined;
      return;
    }
    if (indent % 4 === 0 && !line.slice(0, indent).includes('\t')) this.#statement(content, indent / 4);
    else this.#astray(content);
  }

  /** Ends the stream. The counts are valid only without a refusal. */
  end(): Tally {
    if (this.#yaml && !this.bailedOut) this.#refuse('truncated', 'the stream ends inside a diagnostic block');
    while (this.#levels.length > 1) this.#closeLevel();
    const top = this.#top();
    this.#settle(top);
    if (top.waiting) top.tally.add(top.waiting.tally);
    if (!this.bailedOut && top.plan === undefined)
      this.#refuse('truncated', 'expected a plan such as `1..3`, found none: the stream is cut off');
    this.#checkPlan(top);
    this.#checkTotals(top.tally);
    return top.tally;
  }

  #refuse(reason: ReportRefusal['reason'], message: string): void {
    this.refusal ??= { reason, message };
  }

  #top(): Level {
    return this.#levels.at(-1) ?? newLevel();
  }

  #statement(content: string, depth: number): void {
    const point = toPoint(content);
    const other = point ? '' : content;
    const plan = /^1\.\.(\d{1,9})(?:\s*#.*)?$/.exec(other)?.[1];
    const bail = /^Bail out!(.*)$/.exec(other)?.[1];
    const version = /^TAP version (\d{1,9})$/.exec(other)?.[1];
    this.sawTap ||= (point ?? plan ?? bail ?? version) !== undefined;
    this.sawOther ||= !content.startsWith('#');
    const [, word, count] = /^# (tests|pass|fail) +(\d{1,9})$/.exec(content) ?? [];
    if (word !== undefined && depth === 0) this.#totals.set(word, Number(count));
    else if (point) this.#totals.clear();
    if (bail !== undefined) {
      this.bailedOut = true;
      this.#top().tally.fail('Bail out!', bail);
      return;
    }
    if (version !== undefined && !['12', '13', '14'].includes(version))
      this.#refuse('unsupported', `expected TAP version 13 or 14, found ${version}`);
    const closesBlock =
      content === '}' && depth < this.#levels.length && this.#levels[depth]?.inBlock === true;
    if (!point && plan === undefined && !closesBlock) return;
    if (depth > reportBounds.depth) {
      this.#refuse('too-deep', `expected at most ${reportBounds.depth} levels of subtests`);
      return;
    }
    while (this.#levels.length - 1 > depth) this.#closeLevel();
    while (this.#levels.length - 1 < depth) this.#levels.push(newLevel());
    const level = this.#top();
    if (closesBlock) level.inBlock = false;
    else if (plan !== undefined) this.#plan(level, Number(plan));
    else if (point) this.#point(level, point, depth, content.endsWith(' {'));
  }

  /** A line between two levels of subtests: a pass there is ignored, a failure counts. */
  #astray(content: string): void {
    const point = /^not ok(?=\s+(?:\d|- )|$)/.test(content) ? toPoint(content) : undefined;
    if (point && point.directive !== 'todo') this.#top().tally.fail(point.name);
  }

  #plan(level: Level, count: number): void {
    if (level.plan !== undefined) {
      this.#refuse('malformed', 'found two plans for the same tests');
      return;
    }
    level.plan = count;
  }

  #point(level: Level, point: Point, depth: number, opensBlock: boolean): void {
    this.#settle(level);
    level.points += 1;
    point.inner = level.waiting;
    level.waiting = undefined;
    level.last = point;
    level.inBlock = opensBlock;
    this.#latest = { indent: depth * 4, point };
  }

  #closeLevel(): void {
    const level = this.#levels.pop();
    const parent = this.#levels.at(-1);
    if (!level || !parent) return;
    this.#settle(level);
    if (level.waiting) level.tally.add(level.waiting.tally);
    this.#checkPlan(level);
    const inner = { tally: level.tally, points: level.points };
    if (parent.inBlock && parent.last) parent.last.inner = joined(parent.last.inner, inner);
    else parent.waiting = joined(parent.waiting, inner);
  }

  #checkPlan({ plan, points }: Level): void {
    if (this.bailedOut || plan === undefined || plan === points) return;
    this.#refuse('malformed', `the plan says ${plan} tests, found ${points}`);
  }

  /** Runners count a test that has tests inside too, so that they may count more that passed, never fewer. */
  #checkTotals(tally: Tally): void {
    const pass = this.#totals.get('pass');
    const fail = this.#totals.get('fail');
    if (pass === undefined || fail === undefined || !this.#totals.has('tests') || this.bailedOut) return;
    if (fail === 0 ? tally.failed > 0 : tally.failed === 0)
      tally.contradict('error', `its totals say ${fail} failed, its test points ${tally.failed}`);
    if (tally.passed > pass)
      tally.contradict('error', `its totals say ${pass} passed, its test points ${tally.passed}`);
  }

  #settle(level: Level): void {
    const point = level.last;
    if (!point) return;
    level.last = undefined;
    const { tally } = level;
    const { ok, name, directive, inner } = point;
    const todo = directive === 'todo';
    if (inner && inner.points > 0) {
      tally.add(inner.tally, { forgiven: todo, parent: plainName(name) });
      if (!ok && !todo && inner.tally.failed === 0) tally.fail(name, beforeStack(point.message));
      return;
    }
    const { durationMs } = point;
    if (!ok && !todo) tally.fail(name, beforeStack(point.message), durationMs);
    else if (directive || inner) tally.skip(name, durationMs);
    else if (point.isSuite) tally.addDuration(durationMs);
    else if (this.#levels.length === 1 && scriptFile.test(name)) {
      tally.addEmptyFile(name);
      tally.addDuration(durationMs);
    } else tally.pass(name, durationMs);
  }

  /**
   * True if the line belonged to the block. An unclosed block ends with its indentation, so that it cannot hide later
   * lines.
   */
  #inYaml(content: string, indent: number, yaml: Yaml): boolean {
    if (indent < yaml.indent) {
      this.#yaml = undefined;
      return false;
    }
    if (indent > yaml.indent) {
      if (yaml.isMessage && yaml.point.message.length < maxMessageLines) yaml.point.message.push(content);
      return true;
    }
    if (content === '...') {
      this.#yaml = undefined;
      return true;
    }
    const [, key = '', value = ''] = /^([A-Za-z_]{1,40}):\s*(.*)$/.exec(content) ?? [];
    yaml.isMessage = (key === 'error' || key === 'message') && yaml.point.message.length === 0;
    if (key === 'duration_ms' && /^\d{1,12}(?:\.\d{1,20})?$/.test(value))
      yaml.point.durationMs = Number(value);
    if (key === 'type' && /^['"]?suite['"]?$/.test(value)) yaml.point.isSuite = true;
    if (yaml.isMessage && !/^[|>]/.test(value))
      yaml.point.message.push(value.replace(/^(['"])(.*)\1$/, '$2'));
    return true;
  }
}

function newLevel(): Level {
  return {
    tally: new Tally(),
    points: 0,
    plan: undefined,
    last: undefined,
    waiting: undefined,
    inBlock: false,
  };
}

function joined(first: Inner | undefined, second: Inner): Inner {
  if (!first) return second;
  first.tally.add(second.tally);
  return { tally: first.tally, points: first.points + second.points };
}
