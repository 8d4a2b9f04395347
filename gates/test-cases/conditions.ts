/* Finds the conditions under which a test case runs. */
import type { Language } from '../../readers/source/language.ts';
import { isOutline, type Outline, type Shape } from './blocks.ts';

/** Conditions around a case under which it may not be declared. */
interface Conditions {
  readonly skips: number;
  /** Those that hold where checks are executed. */
  readonly elsewhere: number;
}

const maxDepth = 60;
const conditional =
  /(?:^|[^\w.$#@])(?:if|else|elsif|unless|while|switch|case|catch)\b|&&|\|\||\s\?\s|\.(?:then|catch|finally|on|once|addEventListener)\s*$|^\s*(?:setTimeout|setImmediate|setInterval|queueMicrotask)\s*$/;
const lines: Readonly<Partial<Record<Language, RegExp>>> = {
  python: /^\s*(?:if|elif|else|while|except)\b/,
  ruby: /^\s*(?:if|elsif|else|unless|while|until|case|when|rescue|private)\b/,
  elixir: /^\s*(?:if|unless|case|cond|else)\b/,
  shell: /^\s*(?:if|elif|else|while|until|case)\b|<<-?\s*\\?["'\w]/,
};

/** Conditions around the case that begins at `start`; read from code, their words from the text. */
export function conditionsAround(
  code: string,
  text: string,
  start: number,
  language: Language,
  shape: Shape,
): Conditions {
  const found: string[] = [];
  const add = (from: number, to: number, form: RegExp): void => {
    const first = Math.max(from, to - 300);
    if (form.test(code.slice(first, to))) found.push(text.slice(first, to));
  };
  if (isOutline(shape)) {
    add(shape.startOf(start), start, conditional);
    let bracket = shape.brackets[shape.around(start)];
    for (let depth = 0; bracket && depth < maxDepth; depth += 1) {
      add(bracket.start, bracket.open, conditional);
      bracket = shape.brackets[bracket.parent];
    }
  } else
    for (const line of shape.above(start)) {
      const end = code.indexOf('\n', line);
      add(line, end === -1 ? code.length : end, lines[language] ?? /^\b$/);
    }
  const elsewhere = found.filter((one) =>
    onLinux(conditionOf(one.replace(/(?::|\bthen|\bdo)\s*$/, '')) ?? ''),
  ).length;
  return { skips: found.length - elsewhere, elsewhere };
}

/** Platforms on which checks are not executed: their sandbox is Linux. */
const other = String.raw`(?:win32|win64|windows(?:_nt)?|win|cygwin|msys|mingw\w*|nt|java|darwin|macos|mac|osx|aix|freebsd|openbsd|netbsd|sunos|solaris|android|ios|js|wasm\w*|wasi\w*|miri|plan9)`;
const subject = String.raw`(?:process\.platform|(?:os\.)?(?:platform|type)\(\)|Deno\.build\.os|platform|sys\.platform|os\.name|platform\.system\(\)|(?:runtime\.)?GOOS|RUBY_PLATFORM|PHP_OS(?:_FAMILY)?|target_os|target_family|\$\^O|\$\{?OSTYPE\}?)`;
const is = new RegExp(
  [
    String.raw`^${subject}\s*(?:===?|=~|eq|\.startswith\(|\.startsWith\(|=|in)\s*[("'/]*${other}["'/)]*$`,
    String.raw`^(?:\w+\.)?(?:is|on)_?(?:win(?:dows|32)?|mac(?:os)?|darwin)(?:\(\))?$`,
    String.raw`^Gem\.win_platform\?$`,
    String.raw`^(?:RuntimeInformation\.IsOSPlatform\(OSPlatform\.(?:Windows|OSX)|OperatingSystem\.Is(?:Windows|MacOS)\(|Platform\.isWindows\()\)?$`,
    `^${other}$`,
  ].join('|'),
  'i',
);
const isNot = new RegExp(
  [
    String.raw`^${subject}\s*(?:!==?|ne|!=)\s*["']?${other}["']?$`,
    String.raw`^${subject}\s*(?:===?|eq|=)\s*["']?(?:linux|unix|posix)["']?$`,
    '^(?:unix|linux|posix)$',
  ].join('|'),
  'i',
);
/** Python versions that are out of support, or soon will be. */
const oldPython =
  /^sys\.version_info\s*<\s*\(\s*3\s*,\s*\d\s*\)$|^sys\.version_info\s*<\s*\(\s*3\s*,\s*1[0-4]\s*\)$/;

/**
 * Whether a condition holds where checks run; `undefined` if it is not about platforms alone. `condition` is text, not
 * code, so that strings keep their content.
 */
function onLinux(condition: string): boolean | undefined {
  if (condition.length >= 400) return undefined;
  const some = terms(condition, /\|\||\bor\b/).map((part) => {
    const all = terms(part, /&&|\band\b/).map(termOnLinux);
    return all.includes(false) ? false : all.includes(undefined) ? undefined : true;
  });
  return some.includes(true) ? true : some.includes(undefined) ? undefined : false;
}

function termOnLinux(term: string): boolean | undefined {
  const inner = /^(?:!|not\b)\s*\(?(.*?)\)?$/s.exec(term)?.[1];
  if (inner !== undefined) {
    const holds = termOnLinux(inner.trim());
    return holds === undefined ? undefined : !holds;
  }
  if (isNot.test(term)) return true;
  return is.test(term) || oldPython.test(term) ? false : undefined;
}

function terms(condition: string, between: RegExp): readonly string[] {
  return condition.split(between).map((one) =>
    one
      .trim()
      .replace(/^\((.*)\)$/s, '$1')
      .trim(),
  );
}

/** Whether a mark by which tests may be left out (`skip-marks.ts`) leaves them out on other platforms alone. */
export function leavesOutElsewhere(
  text: string,
  at: number,
  language: Language,
  outline: Outline | undefined,
): boolean {
  const line = /^[^\n]{0,300}/.exec(text.slice(at, at + 300))?.[0] ?? '';
  if (/^@(?:Dis|En)abledOnOs\s*\(/.test(line)) return /LINUX/.test(line) === line.startsWith('@En');
  if (language === 'go' && /^testing\.Short/.test(line)) return true;
  const [condition = '', runs] = conditionAt(text, at, line, language, outline);
  return onLinux(condition) === runs;
}

/** The condition of a mark, and whether tests run if it holds. */
function conditionAt(
  text: string,
  at: number,
  line: string,
  language: Language,
  outline: Outline | undefined,
): readonly [condition: string | undefined, runs: boolean] {
  if (language === 'go' && line.startsWith('//'))
    return [line.replace(/^\/\/(?:go:build| ?\+build)/, '').trim(), true];
  const cfg = language === 'rust' && /^#!?\[\s*cfg(?:\((.*)\)\s*\]|_attr\((.*),\s*ignore\b)/.exec(line);
  if (cfg) return [rustTerms(cfg[1] ?? cfg[2] ?? ''), cfg[1] !== undefined];
  const end = (from: number): number =>
    outline ? Math.min(outline.endOf(from), from + 300) : argumentEnd(text, from);
  const option = outline && /^[{,]?\s*skip\s*:\s*/.exec(text.slice(at, at + 300));
  if (option) {
    const from = at + option[0].length;
    const said = text.slice(from, end(from));
    const otherwise = /^([^?]{1,200})\?\s*(?:false|undefined)\s*:/.exec(said)?.[1];
    const ending = /\?[^?]*:\s*(?:false|undefined)\s*$|&&\s*(["'`])[^"'`]*\1\s*$/;
    return otherwise === undefined ? [said.replace(ending, '').trim(), false] : [otherwise.trim(), true];
  }
  const called = /(?:\.|^@?|\b)(skipIf|skipif|runIf|skipUnless|skip_if)\s*\(/.exec(line);
  if (called) {
    const from = at + called.index + called[0].length;
    return [text.slice(from, end(from)).trim(), /^(?:runIf|skipUnless)$/.test(called[1] ?? '')];
  }
  const modifier = /\s(if|unless)\s+([^\n;]{1,200})$/.exec(line.replace(/[;\s]+$/, ''));
  if (modifier) return [modifier[2], modifier[1] === 'unless'];
  return [outline ? conditionAround(text, at, outline) : conditionAbove(text, at), false];
}

/** The condition of the `if` that contains or precedes an offset. */
function conditionAround(text: string, at: number, outline: Outline): string | undefined {
  const start = outline.startOf(at);
  const own = conditionOf(text.slice(start, at + 1));
  if (own !== undefined) return own;
  const block = outline.brackets[outline.around(at)];
  return block?.mark === '{' ? conditionOf(text.slice(block.start, block.open)) : undefined;
}

/** `if (a) …`, `if a {`: the words between. */
function conditionOf(said: string): string | undefined {
  const rest = /^\s*if\b\s*(.*)$/s.exec(said.slice(0, 400))?.[1];
  if (rest === undefined) return undefined;
  if (!rest.startsWith('(')) return rest.replace(/\{?\s*$/, '').trim();
  let depth = 0;
  for (let at = 0; at < rest.length; at += 1) {
    if (rest[at] === '(') depth += 1;
    if (rest[at] === ')') depth -= 1;
    if (depth === 0) return rest.slice(1, at).trim();
  }
  return undefined;
}

/** The line above, in languages without braces. */
function conditionAbove(text: string, at: number): string | undefined {
  const line = text.lastIndexOf('\n', at - 1);
  const above = text.slice(Math.max(0, text.lastIndexOf('\n', line - 1) + 1), Math.max(0, line));
  return /^\s*if\s+(.{1,200}?)(?::|\s+then)?\s*$/.exec(above)?.[1];
}

function argumentEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < from + 300 && at < text.length; at += 1) {
    const one = text[at] ?? '';
    if ('([{'.includes(one)) depth += 1;
    if (')]}'.includes(one)) depth -= 1;
    if (depth < 0 || (depth === 0 && one === ',')) return at;
  }
  return from;
}

/** `not(windows)`, `any(unix, target_os = "linux")`, `all(test, not(windows))` in the words of other languages. */
function rustTerms(cfg: string): string {
  const inner = /^(all|any)\((.*)\)$/.exec(cfg.trim());
  if (inner) {
    const joined = inner[1] === 'all' ? ' && ' : ' || ';
    return (inner[2] ?? '')
      .split(/,\s*/)
      .filter((one) => one !== 'test')
      .map(rustTerms)
      .join(joined);
  }
  return cfg.trim().replace(/^not\((.*)\)$/, '!($1)');
}
