import { openOf } from '../direct-eval/jvm.ts';
import type { TokenView } from '../direct-eval/token-view.ts';
import type { ChangedSource } from '../source/changed-source.ts';
import {
  bracketsAround,
  type CaseFinder,
  type DeclaredCase,
  isDead,
  oncePerFile,
  unnamed,
} from './declared-case.ts';

/** Tests and subtests of Go; a name that is worked out when it runs is none. */
export const findGo: CaseFinder = (view, index) => {
  if (view.isWord(index, 'func')) {
    const name = view.isPunct(index + 1, '(') ? view.closeOf(index + 1) + 1 : index + 1;
    if (!/^(?:Test|Fuzz|Example)(?![a-z])/.test(view.text(name)) || !view.isPunct(name + 1, '('))
      return undefined;
    // A method of a suite is handed nothing; with `t` nobody calls it.
    if (name > index + 1 && view.args(name + 1).length > 0) return undefined;
    const body = view.closeOf(name + 1) + 1;
    return {
      at: index,
      name: view.at(name),
      body: view.isPunct(body, '{') ? body : undefined,
      // It prepares the run.
      isSkipped: view.isWord(name, 'TestMain'),
    };
  }
  if (!view.isWord(index, 'Run') || !view.isPunct(index - 1, '.') || !view.isPunct(index + 1, '('))
    return undefined;
  const [first, second, ...more] = view.args(index + 1);
  if (first === undefined || second === undefined || more.length > 0) return undefined;
  const isText = view.at(first).kind === 'string';
  const isFunction = view.isWord(second, 'func');
  if (!isText && !isFunction) return undefined;
  const body = isFunction ? view.closeOf(second + 1) + 1 : undefined;
  return {
    at: index,
    name: isText ? view.at(first) : unnamed(view.at(first)),
    body: body !== undefined && view.isPunct(body, '{') ? body : undefined,
    isSkipped: isDead(view, index),
  };
};

/** `#[test]`, `#[tokio::test]`, `#[rstest]` before a function, without `#[ignore]`. */
export const findRust: CaseFinder = (view, index) => {
  if (!view.isWord(index, 'fn')) return undefined;
  const marks = marksBefore(view, index);
  const isTest = marks.some((open) => {
    let at = open + 1;
    while (view.isPunct(at + 1, '::')) at += 2;
    return view.isWord(at, 'test', 'rstest', 'test_case', 'quickcheck', 'wasm_bindgen_test');
  });
  if (!isTest) return undefined;
  let body = index + 1;
  while (body < index + 200 && !view.isPunct(body, '{', ';'))
    body = view.isPunct(body, '(') ? view.closeOf(body) + 1 : body + 1;
  const isSkipped = marks.some((open) => view.isWord(open + 1, 'ignore') || isNeverBuilt(view, open));
  return {
    at: index,
    name: view.at(index + 1),
    body: view.isPunct(body, '{') ? body : undefined,
    isSkipped: isSkipped || isInDeadModule(view, index),
  };
};

/** The `[` of attributes right before a declaration. */
function marksBefore(view: TokenView, index: number): readonly number[] {
  const found: number[] = [];
  for (let at = index - 1, steps = 0; steps < 80 && at >= 0; steps += 1) {
    const open = view.isPunct(at, ']', ')') ? openOf(view, at) : undefined;
    const sign = view.isPunct((open ?? 0) - 1, '!') ? (open ?? 0) - 2 : (open ?? 0) - 1;
    if (open !== undefined && view.isPunct(open, '[') && view.isPunct(sign, '#')) {
      found.push(open);
      at = sign - 1;
    } else if (open !== undefined && view.isWord(open - 1, 'pub')) at = open - 2;
    else if (view.isWord(at, 'pub', 'async', 'unsafe', 'const', 'mod', 'extern')) at -= 1;
    else return found;
  }
  return found;
}

/** `#[cfg(any())]`: no condition, so it is never met. */
function isNeverBuilt(view: TokenView, open: number): boolean {
  const said = Array.from({ length: 8 }, (_, offset) => view.text(open + 1 + offset)).join('');
  return said.startsWith('cfg(any())]') || said.startsWith('cfg(not(all())');
}

function isInDeadModule(view: TokenView, index: number): boolean {
  for (const open of bracketsAround(view, index))
    if (view.isWord(open - 2, 'mod') && marksBefore(view, open - 2).some((mark) => isNeverBuilt(view, mark)))
      return true;
  return view.isPunct(0, '#') && view.isPunct(1, '!') && isNeverBuilt(view, 2);
}

const macros = [
  ...['TEST', 'TEST_F', 'TEST_P', 'TYPED_TEST', 'TYPED_TEST_P', 'TEST_CASE', 'SCENARIO', 'START_TEST'],
  ...['BOOST_AUTO_TEST_CASE', 'BOOST_FIXTURE_TEST_CASE', 'TEST_CASE_METHOD', 'TEMPLATE_TEST_CASE'],
];

/** GoogleTest, Catch2, Boost, Check. */
export const findC: CaseFinder = (view, index) => {
  if (!view.isWord(index, ...macros) || !view.isPunct(index + 1, '(')) return undefined;
  const args = view.args(index + 1);
  const name = view.at(
    /CASE|SCENARIO/.test(view.text(index)) ? (args[0] ?? index) : (args[1] ?? args[0] ?? index),
  );
  const after = view.closeOf(index + 1) + 1;
  return {
    at: index,
    name,
    body: view.isPunct(after, '{') ? after : undefined,
    isSkipped: args.some(
      (at) =>
        /^DISABLED_/.test(view.text(at)) ||
        (view.at(at).kind === 'string' && /\[(?:\.|!hide)/.test(view.text(at)) && at !== args[0]),
    ),
  };
};

/** `test "…" do`, without a tag that leaves it out. */
export const findElixir: CaseFinder = (view, index) => {
  if (!view.isWord(index, 'test', 'property') || view.at(index + 1).kind !== 'string') return undefined;
  let open = index + 2;
  while (open < index + 80 && !view.isWord(open, 'do') && view.at(open).kind !== 'newline') open += 1;
  // Without a body it is a to-do.
  if (!view.isWord(open, 'do')) return undefined;
  const isEmpty = view.isWord(view.next(open), 'end');
  return { at: index, name: view.at(index + 1), isSkipped: isEmpty || isTagged(view, index) };
};

/** `:skip` and `skip: '…'` behind a tag. */
function skipsAt(view: TokenView, at: number): boolean {
  const isNamed = view.isPunct(at + 1, ':') && view.isWord(at + 2, 'skip');
  return (
    isNamed || (view.isWord(at + 1, 'skip') && view.isPunct(at + 2, ':') && !view.isWord(at + 3, 'false'))
  );
}

/** Where the first tag stands that leaves out what follows. */
const moduleSkip = oncePerFile((view) => {
  const found = view.tokens.findIndex(
    (_, at) => view.isWord(at, '@moduletag', '@describetag') && skipsAt(view, at),
  );
  return found === -1 ? undefined : found;
});

function isTagged(view: TokenView, index: number): boolean {
  for (let at = index - 1; at >= 0 && !view.isWord(at, 'end', 'do'); at -= 1)
    if (view.isWord(at, '@tag') && skipsAt(view, at)) return true;
  const first = moduleSkip(view);
  return first !== undefined && first < index;
}

const assertions = [
  ...['ok', 'is', 'isnt', 'like', 'unlike', 'is_deeply', 'cmp_ok', 'isa_ok', 'can_ok', 'dies_ok'],
  ...['lives_ok', 'throws_ok'],
];

/** `subtest '…' => sub { … }` and the assertions of Test::More. */
export const findPerl: CaseFinder = (view, index) => {
  if (view.isPunct(index - 1, '->', '::') || view.isWord(index - 1, 'sub')) return undefined;
  if (view.isWord(index, 'subtest')) {
    const name = view.isPunct(index + 1, '(') ? index + 2 : index + 1;
    let body = name + 1;
    while (body < name + 12 && !view.isPunct(body, '{')) body += 1;
    return {
      at: index,
      name: view.at(name),
      body: view.isPunct(body, '{') ? body : undefined,
      isSkipped: isInSkippedBlock(view, index),
    };
  }
  if (
    !view.isWord(index, ...assertions) ||
    !(
      view.isPunct(index + 1, '(') ||
      view.at(index + 1).kind === 'word' ||
      view.at(index + 1).kind === 'string'
    )
  )
    return undefined;
  const open = view.isPunct(index + 1, '(') ? index + 1 : undefined;
  const last = open === undefined ? undefined : view.at(view.args(open).at(-1) ?? open);
  // An assertion without a description has no name.
  const name = last?.kind === 'string' ? last : unnamed(view.at(index));
  return { at: index, name, isSkipped: isInSkippedBlock(view, index) };
};

/** `SKIP: { skip '…', 1; … }`, `if (0) { … }`, `plan skip_all => '…';` without a condition. */
function isInSkippedBlock(view: TokenView, index: number): boolean {
  for (const open of bracketsAround(view, index)) {
    const first = view.next(open);
    if (!view.isPunct(open, '{') || !view.isWord(first, 'skip', 'todo_skip')) continue;
    if (!isConditional(view, first)) return true;
  }
  return isDead(view, index) || isAllSkipped(view);
}

const isAllSkipped = oncePerFile((view: TokenView): boolean =>
  view.tokens.some(({ text, kind }, index) => {
    if (kind !== 'word' || text !== 'skip_all') return false;
    const isUse =
      view.isWord(index - 1, 'More', 'Simple', 'Most') || /^Test::\w+$/.test(view.text(index - 1));
    const isPlan = view.isWord(index - 1, 'plan') || view.isWord(index - 2, 'plan');
    return (
      (isUse || (isPlan && view.openerOf(index) <= index && depthOf(view, index) === 0)) &&
      !isConditional(view, index)
    );
  }),
);

/** How many braces a token stands in. */
function depthOf(view: TokenView, index: number): number {
  return [...bracketsAround(view, index)].filter((open) => view.isPunct(open, '{')).length;
}

function isConditional(view: TokenView, index: number): boolean {
  for (let at = index; at < index + 60 && !view.isPunct(at, ';', '}'); at += 1)
    if (view.isWord(at, 'if', 'unless') || view.isPunct(at, '?')) return true;
  return false;
}

/** PHPUnit by name, attribute and docblock; Pest. */
export const findPhp = (view: TokenView, index: number, source: ChangedSource): DeclaredCase | undefined => {
  if (view.isWord(index, 'function') && view.at(index + 1).kind === 'word') {
    let first = index;
    while (view.isWord(first - 1, 'public', 'static', 'final', 'private', 'protected', 'abstract'))
      first -= 1;
    const isHidden = Array.from({ length: index - first }, (_, offset) => first + offset).some((at) =>
      view.isWord(at, 'private', 'protected', 'abstract'),
    );
    let isMarked = false;
    for (let at = first - 1; view.isPunct(at, ']'); ) {
      const open = openOf(view, at);
      isMarked ||= view.args(open).some((one) => {
        let name = one;
        while (view.isPunct(name, '\\') || view.isPunct(name + 1, '\\')) name += 1;
        return view.isWord(name, 'Test') || /(?:^|\\)Test$/.test(view.text(name));
      });
      first = view.isPunct(open - 1, '#') ? open - 1 : open;
      at = first - 1;
    }
    const isNamed = /^test/i.test(view.text(index + 1));
    if (!isNamed && !isMarked && !isDocumented(view, first, source)) return undefined;
    const body = bodyAfter(view, view.closeOf(index + 2) + 1);
    return { at: index, name: view.at(index + 1), body, isSkipped: isHidden };
  }
  const isCall = view.isWord(index, 'it', 'test') && view.isPunct(index + 1, '(');
  if (!isCall || view.isPunct(index - 1, '->', '::')) return undefined;
  const args = view.args(index + 1);
  const [first, last] = [args[0], args.at(-1)];
  if (first === undefined || last === undefined || args.length < 2 || view.at(first).kind !== 'string')
    return undefined;
  let isSkipped = false;
  for (let at = view.closeOf(index + 1) + 1; view.isPunct(at, '->') && view.isPunct(at + 2, '('); ) {
    const given = view.args(at + 2)[0];
    const isAlways = given === undefined || view.at(given).kind === 'string' || view.isWord(given, 'true');
    if (view.isWord(at + 1, 'skip', 'todo') && isAlways) isSkipped = true;
    at = view.closeOf(at + 2) + 1;
  }
  const open = last + 1;
  const body = view.isWord(last, 'function') ? bodyAfter(view, view.closeOf(open) + 1) : undefined;
  return { at: index, name: view.at(first), body, isSkipped: isSkipped || isDead(view, index) };
};

/** `@test` in the comment before a declaration. */
function isDocumented(view: TokenView, first: number, { text }: ChangedSource): boolean {
  const from = view.at(first - 1).end;
  return /(?:^|\*)[ \t]*@test\b(?![-\w])/m.test(text.slice(from, view.at(first).start).slice(-4_000));
}

function bodyAfter(view: TokenView, after: number): number | undefined {
  for (let at = after; at < after + 40; at += 1) {
    if (view.isPunct(at, '{')) return at;
    if (view.isPunct(at, ';', '}')) return undefined;
  }
  return undefined;
}
