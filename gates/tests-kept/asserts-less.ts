/* Compares the assertions of two versions of a test. */
import { leavesOutElsewhere } from '../test-cases/conditions.ts';
import { type MayGo, severityOf, type TestChange } from './known-helpers.ts';
import { nameOf, type ReportedLoss } from './tell-losses.ts';

/**
 * Compares the assertions of two test texts. One loses if it swallows more failures, if assertions went and none came,
 * or if fewer came and one of their subjects is not asserted any more. Reworded assertions are not a loss.
 */
export function compareAssertions(
  was: Asserting,
  is: Asserting,
): { readonly loses: boolean; readonly keepsAll: boolean; readonly isAlike: boolean } {
  const gone = without(was.statements, is.statements);
  const come = without(is.statements, was.statements);
  const spokenOf = new Set(come.flatMap(({ subjects }) => subjects));
  const isLess =
    gone.length > come.length &&
    (come.length === 0 || gone.some(({ subjects }) => subjects.some((one) => !spokenOf.has(one))));
  return {
    loses: is.swallows > was.swallows || isLess,
    keepsAll: gone.length === 0,
    isAlike: gone.length + come.length === 0 && was.swallows === is.swallows,
  };
}

function without(all: readonly Statement[], others: readonly Statement[]): readonly Statement[] {
  const left = new Map<string, number>();
  for (const { text } of others) left.set(text, (left.get(text) ?? 0) + 1);
  return all.filter(({ text }) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
}

/** The assertions of a test text, line by line, in any language. */
export interface Asserting {
  /** Each without blanks, in order. */
  readonly statements: readonly Statement[];
  /** Places that keep a failure from being one. */
  readonly swallows: number;
}

interface Statement {
  readonly text: string;
  /** Names in the statement, without assertion words. */
  readonly subjects: readonly string[];
}

const maxLines = 50_000;
const maxLineLength = 2_000;
/** A statement goes on until its brackets are closed, for so many lines. */
const maxStatementLines = 40;

const judges =
  /\b(?!(?:expected|expectations?|failed|failures?|checked|asserted|required|rejected)\b)(?:assert|expect|should|must|verif|ensure|check|refute|require|raise|throw|reject|fail|fatal|panic|flunk)\w{0,60}|\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(|\b(?:ok|is|isnt|eq|ne)\s*\(|\b\w{0,30}(?:same|equals?|match(?:es)?|like)\w{0,20}\s*\(|[=!]==?|(?:^|[\s;&|({])(?:\[\[?\s|test\s|diff\s|cmp\s|grep\s|exit\s+[1-9]|return\s+[1-9]|false\b)/i;
const trivial =
  /^[\s\w.]{0,80}\b(?:assert\w{0,20}|ok|expect)(?:\.\w{1,20})?[\s(]+(?:true|1|!0)(?:\s*(?:==|,)\s*(?:true|1))?\s*\)?(?:\.\w{1,20}\(\s*(?:true|1)?\s*\))?\s*;?\s*$/i;
const imports = /^\s*(?:import|from|use|using|#include|require|const .{0,200}=\s*require|source|load)\b/;
const comment = /^\s*(?:\/\/|#(?![[!])|\*|--\s|;;)/;
const swallowing =
  /\|\|\s*(?:true|:)(?=$|[\s;)])|\brescue\s*(?:nil|=>|StandardError|Exception|$)|\bcatch\b|\bexcept\b|\brecover\s*\(|\bxfail\b|\bset\s+\+e\b/;
const strings = /(["'`])(?:\\.|(?!\1)[^\\])*\1/g;
const common =
  /^(?:const|let|var|new|await|async|return|func|function|def|self|this|true|false|null|none|nil|end|then|done|and|not|for|the|mut|void|if|else|test|it)$/i;
/** How is compared, not what. */
const ways =
  /^(?:not|deep|strict|loose|to|be|have|has|is|ok|eql?|equals?|same|match(?:es)?|like|contains?|includes?)$|^(?:not|deep|strict|loose|to|be|have|eq|equal|same|match|contain|include)[A-Z_]/;

/** Assertions, conditions and their like; comments, imports and assertions of constants are none. Linear. */
export function assertingStatements(text: string): Asserting {
  const lines = withoutBlocks(text.split('\n', maxLines)).map((line) => line.slice(0, maxLineLength));
  const statements: Statement[] = [];
  let swallows = 0;
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    if (comment.test(line) || imports.test(line)) continue;
    if (swallowing.test(line)) swallows += 1;
    if (!judges.test(blanked(line)) || trivial.test(line)) continue;
    let whole = line;
    let depth = openedBy(line);
    while (depth > 0 && at + 1 < lines.length && whole.length < maxStatementLines * 80) {
      at += 1;
      const next = lines[at] ?? '';
      whole += next;
      depth += openedBy(next);
    }
    statements.push({ text: whole.replace(/\s+/g, ''), subjects: subjectsOf(whole) });
  }
  return { statements, swallows };
}

function subjectsOf(statement: string): readonly string[] {
  const names = blanked(statement).match(/[A-Za-z_]\w{1,80}/g) ?? [];
  return [...new Set(names)].filter((name) => !common.test(name) && !ways.test(name) && !judges.test(name));
}

function blanked(line: string): string {
  return line.replace(strings, (found) => (found.length < 2 ? found : `${found[0]}${found[0]}`));
}

/** Round brackets alone: the others hold bodies. */
function openedBy(line: string): number {
  let depth = 0;
  for (const sign of blanked(line)) depth += sign === '(' ? 1 : sign === ')' ? -1 : 0;
  // A body that begins on the line is not part of its statement.
  return /[{:]\s*$|\bdo\b\s*(?:\|[^|]{0,80}\|)?\s*$/.test(line) ? 0 : depth;
}

/** Lines of comments that begin and end lines are emptied. */
function withoutBlocks(lines: readonly string[]): readonly string[] {
  let isInside = false;
  return lines.map((line) => {
    if (!isInside && !/^\s*\/\*/.test(line)) return line;
    isInside = !line.includes('*/');
    return isInside ? '' : line.slice(line.indexOf('*/') + 2);
  });
}

/** Marks beside the cases: on a group, on the file, in a hook; and marks by which only some run. */
export function newMarks({ base, candidate }: TestChange, mayGo: MayGo): readonly ReportedLoss[] {
  if (!candidate) return [];
  const { path, source, code } = candidate;
  const severity = severityOf(mayGo, path);
  const gained = (was: readonly number[], is: readonly number[]): readonly number[] =>
    is.length > was.length ? is.filter((at) => source.isAdded(at)).slice(0, is.length - was.length) : [];
  const told = (kind: ReportedLoss['code'], at: number): ReportedLoss => ({
    code: kind,
    severity: kind === 'TEST_SKIPPED_ELSEWHERE' ? 'note' : severity,
    path,
    ...source.positionOf(firstWord(code, at)),
  });
  const skips = base && base.cases.length > 0 ? gained(base.skips, candidate.skips) : [];
  return [
    ...skips.map((at) =>
      told(
        leavesOutElsewhere(source.text, firstWord(code, at), source.language, candidate.outline)
          ? 'TEST_SKIPPED_ELSEWHERE'
          : 'TEST_MAY_BE_SKIPPED',
        at,
      ),
    ),
    ...gained(base?.focuses ?? [], candidate.focuses).map((at) => told('TEST_FOCUSED', at)),
  ];
}

function firstWord(code: string, at: number): number {
  return at + Math.max(0, code.slice(at, at + 80).search(/[^\s;{,(]/));
}

/** New cases that run no code: not a loss, but not a gain either. */
export function idleNews({ candidate }: TestChange, changes: readonly TestChange[]): readonly ReportedLoss[] {
  if (!candidate) return [];
  const old = new Set(changes.flatMap(({ base }) => (base?.cases ?? []).map(({ name }) => name)));
  const { path, source } = candidate;
  return candidate.cases
    .filter((one) => (one.isIdle || !one.saysAnything()) && !old.has(one.name) && source.isAdded(one.start))
    .map((one) => ({
      code: 'NEW_TEST_IDLE',
      severity: 'note',
      path,
      ...source.positionOf(one.start),
      name: nameOf(one),
    }));
}
