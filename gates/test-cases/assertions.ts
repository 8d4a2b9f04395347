/* Finds assertions in the text of tests, in any language. */
import type { Language } from '../../readers/source/language.ts';

/**
 * Assertion words of most libraries, and common names of assertion helpers; throwing; macros of C; `a.to.be(b)`. Over
 * code (`test-text.ts`), ignoring case.
 */
const common = [
  String.raw`\b(?!(?:expected|failed|failures?|checked|checkbox|asserted|expectation|checkout|mustache)\b)(?:XCT|TEST_|ADD_|ck_|my_|debug_)?(?:assert|expect|should|verify|verifies|ensure|check|refute|must|fail)\w{0,60}[!?]?(?=\s*[(.!{]|[ \t]+[\w$@"'([!-])`,
  String.raw`\b(?:throw|raise)[ \t]+\w|\b(?:panic|unreachable|matches|prop_assume)!|\b(?:raises|warns|approx|intercept|flunk|that|then|given|panic)\b\s*[([]|\bflunk\b|\bis_expected\b|\b(?:wont|have)_\w{1,40}|\bmust_|\bBOOST_\w|#(?:expect|require)\b`,
  String.raw`\bself\.assert\w|\b(?:sinon|cy)\.\w{1,40}|\.(?:to|rejects|resolves|throws|not|calledOnce|calledWith|should)\b|(?:->|::)\s*to[A-Z]\w{0,60}`,
];

/** Further forms of a language. */
const further: Readonly<Partial<Record<Language, string>>> = {
  javascript: String.raw`\b(?:t|tt|st|is|sub|ctx|context)\.(?!(?:test|skip|skipIf|todo|plan|end|pass|comment|diagnostic|teardown|after|afterEach|before|beforeEach|context|signal|mock|name|testdir|log|timeout|setTimeout|title)\b)\w{1,40}\s*\(|\bdone\s*\(\s*\w`,
  go: String.raw`\b\w{1,20}\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow|Equal|True|False|Nil|NoErr|Assert)\s*\(|\b(?:require|is|cmp|qt|be)\.\w{1,40}\s*\(|//\s*Output:`,
  rust: String.raw`\.(?:unwrap|expect|unwrap_err|expect_err)\s*\(|\bshould_panic\b|\?\s*;`,
  c: String.raw`\bREQUIRE\w{0,60}`,
  java: String.raw`@Test\s*\(\s*expected`,
  scala: String.raw`\bmust\b|===`,
  swift: String.raw`\bXCTUnwrap\b`,
  perl: String.raw`\b(?:ok|is|isnt|like|unlike|is_deeply|cmp_ok|isa_ok|can_ok|dies_ok|lives_ok|throws_ok|die|croak)\b`,
  shell: String.raw`(?:^|[\s;&|({])(?:\[\[?\s|test\s|diff\s|cmp\s|grep\s|exit\s+[1-9]|return\s+[1-9]|false\b)|\$status\b`,
};

/** Plain assertions, by the last part of their name. */
const plain = String.raw`(?:(?:[Aa]ssert\w?[.:]{0,2}|t\.|self\.|this->|\$this->){0,2}(?:assert|ok|equals?|strictEqual|deepEqual|deepStrictEqual|is|same|true|isTrue|isOk|isFalse|Equal|True|False|AreEqual|IsTrue|That)|(?:self\.|this\.|Assertions\.)?assert(?:True|False|Equals?|Same|Null|IsNone|Is|_eq|_ne|_equal|_true)?!?|[A-Z]{0,7}_?(?:EXPECT|ASSERT)_(?:TRUE|FALSE|EQ)|CHECK|REQUIRE|XCTAssert(?:True|Equal)?)`;

const literal =
  String.raw`(?:true|True|TRUE|false|False|FALSE|nil|null|None|undefined|!0|!1|\d{1,9}|"\s*"|'\s*'|` +
  '`\\s*`)';

/** `load().expect("a price")` in Rust unwraps the value before it; it is not an assertion. */
const notCalledOn = String.raw`(?<!\)\s{0,80}\.)`;

/** Assertions without content: of constants, or of a value compared with itself. */
const trivial = [
  // `assert.ok(true)`, `assertEquals(1, 1)`, `assert_eq!(1, 1, "")`.
  String.raw`(?<![\w.])${plain}\s*\(\s*${literal}\s*(?:,\s*${literal}\s*){0,2}\)`,
  // `expect(true).toBe(true)`, `expect(1).to eq(1)`.
  String.raw`${notCalledOn}\bexpect\s*\(\s*${literal}\s*\)[^\n;}]{0,200}`,
  // `assert True`, `assert 1 == 1`.
  String.raw`\bassert\s+\(?${literal}(?:\s*==\s*${literal})?\)?(?=\s*(?:$|,|#|;))`,
  // `assert.equal(a, a)`, `assert a == a`.
  String.raw`(?<![\w.])${plain}\s*\(\s*(\w{1,60})\s*,\s*\1\s*[,)]`,
  String.raw`\bassert\s+(\w{1,60})\s*==\s*\2(?=\s*(?:$|,|#|;))`,
  // `expect(a).toBe(a)`, and `expect(a);` without a matcher.
  String.raw`${notCalledOn}\bexpect\s*\(\s*(\w{1,60})\s*\)\s*\.\s*\w{1,40}\s*\(\s*\3\s*\)`,
  String.raw`${notCalledOn}(?<!#)\bexpect\s*\((?:[^()\n]|\([^()\n]{0,200}\)){0,200}\)[ \t]*(?:;|$)`,
  // `assert.equal(add(1), add(1))`, `assert.ok(a || true)`.
  String.raw`(?<![\w.])${plain}\s*\(\s*(\w{1,60}\([^()\n]{0,100}\))\s*,\s*\4\s*[,)]`,
  String.raw`(?<![\w.])(?:assert|${plain}|self\.assertTrue)\s*\([^;\n]{0,200}(?:\|\||\bor\b)\s*(?:true|True|1)\s*\)`,
  // `assert a or True`, `assert "a"`, `assert [a == b]`, `assert (a == b, "text")`, `assert lambda: a`, `assert not
  // False`.
  String.raw`\bassert\s[^\n]{1,200}\bor\s+(?:True|1)\b[^\n]{0,80}`,
  String.raw`\bassert\s+(?:True|1)\s+or\b[^\n]{0,200}`,
  String.raw`\bassert\s+(?:not\s+(?:False|None|0)|lambda\b[^\n]{0,200}|"[^"\n]{0,200}"|'[^'\n]{0,200}')(?=\s*(?:$|,|#|;))`,
  String.raw`\bassert\s+(?:\[[^[\]\n]{1,200}\]|\{[^{}\n]{1,200}\})(?=\s*(?:$|,|#|;))`,
  String.raw`\bassert\s*\((?:[^()\n]|\([^()\n]{0,100}\)){1,200},\s*f?(?:"[^"\n]{0,200}"|'[^'\n]{0,200}')\s*\)(?=[ \t]*(?:$|#|;))`,
  // `[ 1 = 1 ]`, `[ true ]`.
  String.raw`\[\[?[ \t]+(?:${literal}|true)(?:[ \t]+(?:==?|-eq)[ \t]+${literal})?[ \t]+\]`,
].join('|');

const importLine =
  /^[ \t]*(?:import|from|use|using|require|#include|open)(?:[ \t]+["'\w<{*@]|["'<])[^\n]{0,500}|\brequire\s*\(\s*["'`]\s*["'`]\s*\)/gm;

/** The code with assertions that can never fail blanked, whatever language it is in. */
export function withoutTrivial(code: string): string {
  return code.replace(new RegExp(trivial, 'gm'), (found) => found.replace(/[^\n]/g, ' '));
}

/** Offsets of the assertions in code (`test-text.ts`), in order, each once; those that can never fail are none. */
export function assertionsIn(code: string, language: Language): readonly number[] {
  const judging = withoutTrivial(code.replace(importLine, (found) => ' '.repeat(found.length)));
  const form = new RegExp([...common, ...(further[language] ? [further[language]] : [])].join('|'), 'gim');
  return [...judging.matchAll(form)].map(({ index }) => index);
}

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
const says =
  /^[\s\w.]{0,80}\b(?:assert\w{0,20}|ok|expect)(?:\.\w{1,20})?[\s(]+(?:true|1|!0)(?:\s*(?:==|,)\s*(?:true|1))?\s*\)?(?:\.\w{1,20}\(\s*(?:true|1)?\s*\))?\s*;?\s*$/i;
const imports = /^\s*(?:import|from|use|using|#include|require|const .{0,200}=\s*require|source|load)\b/;
const comment = /^\s*(?:\/\/|#(?![[!])|\*|--\s|;;)/;
const swallowing =
  /\|\|\s*(?:true|:)(?=$|[\s;)])|\brescue\s*(?:nil|=>|StandardError|Exception|$)|\bcatch\b|\bexcept\b|\brecover\s*\(|\bxfail\b|\bset\s+\+e\b/;
const strings = /(["'`])(?:\\.|(?!\1)[^\\])*\1/g;
const plainWords =
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
    if (!judges.test(blanked(line)) || says.test(line)) continue;
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
  return [...new Set(names)].filter(
    (name) => !plainWords.test(name) && !ways.test(name) && !judges.test(name),
  );
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
