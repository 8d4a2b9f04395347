import type { Language } from '../../readers/source/language.ts';

/** Words that judge in the test libraries of most languages, and what people call helpers that do. */
const common = String.raw`\b(?!(?:expected|failed|failures?|checked|checkbox|asserted|expectation|checkout|mustache)\b)(?:assert|expect|should|verify|verifies|ensure|check|refute|must|fail)\w{0,60}[!?]?(?=\s*[(.!{]|[ \t]+[\w$@"'([!-])`;

/** What else judges in a language. */
const further: Readonly<Partial<Record<Language, readonly string[]>>> = {
  javascript: [
    String.raw`\b(?:t|tt|st|is|sub|ctx|context)\.(?!(?:test|skip|skipIf|todo|plan|end|pass|comment|diagnostic|teardown|after|afterEach|before|beforeEach|context|signal|mock|name|testdir|log|timeout|setTimeout|title)\b)\w{1,40}\s*\(`,
    String.raw`\b(?:sinon|cy)\.\w{1,40}`,
    String.raw`\.(?:to|rejects|resolves|throws|not|calledOnce|calledWith|should)\b`,
    String.raw`\bthrow\s+new\b`,
    String.raw`\bdone\s*\(\s*\w`,
  ],
  python: [
    String.raw`\bself\.assert\w{1,60}`,
    String.raw`\b(?:raises|warns|approx)\s*\(`,
    String.raw`\braise\s+\w`,
  ],
  go: [
    String.raw`\b\w{1,20}\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow|Equal|True|False|Nil|NoErr|Assert)\s*\(`,
    String.raw`\b(?:require|is|cmp|qt|be)\.\w{1,40}\s*\(`,
    String.raw`\bpanic\s*\(`,
    String.raw`//\s*Output:`,
  ],
  rust: [
    String.raw`\b\w{0,40}assert\w{0,40}!`,
    String.raw`\b(?:panic|prop_assume|matches|unreachable)!`,
    String.raw`\.(?:unwrap|expect|unwrap_err|expect_err)\s*\(`,
    String.raw`\bshould_panic\b`,
    String.raw`\?\s*;`,
  ],
  ruby: [String.raw`\b(?:is_expected|flunk|raise|wont_\w{1,40}|have_\w{1,40})\b`],
  php: [String.raw`(?:->|::)\s*(?:assert|expect|fail|should|to[A-Z])\w{0,60}`, String.raw`\bthrow\s+new\b`],
  java: [
    String.raw`\bthat\s*\(`,
    String.raw`\bthrow\s+new\b`,
    String.raw`@Test\s*\(\s*expected`,
    String.raw`\b(?:then|given)\s*\(`,
  ],
  kotlin: [String.raw`\b(?:shouldBe|should\w{1,40}|verify)\b`, String.raw`\bthrow\s+\w`],
  scala: [String.raw`\b(?:intercept|must_?\w{0,40}|shouldBe|should)\b`, '==='],
  csharp: [String.raw`\bShould\w{0,60}`, String.raw`\bthrow\s+new\b`, String.raw`\bVerify\w{0,40}`],
  c: [String.raw`\b(?:ASSERT|EXPECT|CHECK|REQUIRE|BOOST|TEST_ASSERT|ck_assert|FAIL|ADD_FAILURE)\w{0,60}`],
  swift: [String.raw`\b(?:XCTAssert|XCTFail|XCTUnwrap)\w{0,60}`, String.raw`#(?:expect|require)\b`],
  elixir: [String.raw`\b(?:assert|refute|flunk)\w{0,40}`],
  perl: [
    String.raw`\b(?:ok|is|isnt|like|unlike|is_deeply|cmp_ok|isa_ok|can_ok|dies_ok|lives_ok|throws_ok|die|croak)\b`,
  ],
  shell: [
    String.raw`(?:^|[\s;&|({])(?:\[\[?\s|test\s|diff\s|cmp\s|grep\s|exit\s+[1-9]|return\s+[1-9]|false\b)`,
    String.raw`\$status\b`,
  ],
};

/** Plain assertions, by the last part of their name. */
const plain = String.raw`(?:(?:[Aa]ssert\w?[.:]{0,2}|t\.|self\.|this->|\$this->){0,2}(?:assert|ok|equals?|strictEqual|deepEqual|deepStrictEqual|is|same|true|isTrue|isOk|isFalse|Equal|True|False|AreEqual|IsTrue|That)|(?:self\.|this\.|Assertions\.)?assert(?:True|False|Equals?|Same|Null|IsNone|Is|_eq|_ne|_equal|_true)?!?|[A-Z]{0,7}_?(?:EXPECT|ASSERT)_(?:TRUE|FALSE|EQ)|CHECK|REQUIRE|XCTAssert(?:True|Equal)?)`;

const literal =
  String.raw`(?:true|True|TRUE|false|False|FALSE|nil|null|None|undefined|!0|!1|\d{1,9}|"\s*"|'\s*'|` +
  '`\\s*`)';

/** `load().expect("a price")` of Rust asks what it is called on. */
const notCalledOn = String.raw`(?<!\)\s{0,80}\.)`;

/** Assertions about nothing: of constants, or of a thing and itself. */
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
  // `expect(a).toBe(a)`, and `expect(a);` which asks nothing.
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

const forms = new Map<Language, RegExp>();

function formOf(language: Language): RegExp {
  const known = forms.get(language);
  if (known) return known;
  const made = new RegExp([common, ...(further[language] ?? [])].join('|'), 'gim');
  forms.set(language, made);
  return made;
}

const importLine =
  /^[ \t]*(?:import|from|use|using|require|#include|open)(?:[ \t]+["'\w<{*@]|["'<])[^\n]{0,500}|\brequire\s*\(\s*["'`]\s*["'`]\s*\)/gm;

/** The code with assertions that can never fail blanked, whatever language it is in. */
export function withoutTrivial(code: string): string {
  return code.replace(new RegExp(trivial, 'gm'), (found) => found.replace(/[^\n]/g, ' '));
}

/** Offsets of the assertions in code (`test-text.ts`), in order, each once; those that can never fail are none. */
export function assertionsIn(code: string, language: Language): readonly number[] {
  const judging = withoutTrivial(code.replace(importLine, (found) => ' '.repeat(found.length)));
  return [...judging.matchAll(formOf(language))].map(({ index }) => index);
}
