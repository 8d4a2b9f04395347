import t from 'tap';
import { assertionsIn } from '../../../gates/test-cases/assertions.ts';
import type { Language } from '../../../readers/source/language.ts';

/** One assertion a line, each known by another pattern. */
const judging: Readonly<Partial<Record<Language, readonly string[]>>> = {
  javascript: [
    'assert.ok(a)',
    'expect(price(2)).toBe(200)',
    't.equal(a, b)',
    'sinon.match(a)',
    'cy.get("x")',
    'a.to.be(b)',
    'promise.rejects(b)',
    'throw new Error("x")',
    'done(error)',
  ],
  python: [
    'assert a == b',
    'self.assertIs(a, b)',
    'same = self.assertEqual',
    'with raises(ValueError):',
    'x == approx(2)',
    'raise Wrong',
  ],
  go: ['t.Fatalf("x")', 'require.NoError(t, err)', 'cmp.Diff(a, b)', 'panic("x")', '// Output: 2'],
  rust: [
    'assert_eq!(a, b)',
    'my_assert_same!(a)',
    'unreachable!()',
    'a.unwrap()',
    '#[should_panic]',
    'run()?;',
  ],
  ruby: ['a.should eq b', 'is_expected.to be', 'flunk "x"', 'a.wont_equal b'],
  php: ['$this->assertSame($a, $b)', 'self::expectNotice()', '$a->toBe(2)', 'throw new X()'],
  java: ['assertThat(a)', 'that(a)', 'throw new X();', '@Test(expected = X.class)', 'given(a)'],
  kotlin: ['a shouldBe b', 'verify { a }', 'throw x'],
  scala: ['intercept[X]', 'a must_== b', 'a === b'],
  csharp: ['Assert.That(a)', 'Assert . Equal(a, b)', 'a.ShouldBe(b)', 'throw new X();', 'Verify(a)'],
  c: ['EXPECT_EQ(a, b)', 'CHECK(a)', 'ck_assert_int_eq(a, b)', 'BOOST_TEST(a)'],
  swift: ['XCTAssertEqual(a, b)', 'XCTFail("x")', '#expect(a == b)'],
  elixir: ['assert a == b', 'refute_receive x', 'flunk("x")'],
  perl: ['is_deeply($a, $b);', 'dies_ok { a };', 'ok($a);'],
  shell: ['[ "$a" = b ]', 'grep -q a b', 'exit 1', 'echo "$status"', 'diff a b'],
};

const silent: Readonly<Partial<Record<Language, readonly string[]>>> = {
  javascript: ['t.teardown(stop)', 't.test("a", run)', 'const expected = price(2)', 'done()', 'checkout(a)'],
  python: ['expected = 2', 'x = y', 'from a import assert_same'],
  go: ['x := f(1)', 'import "require"'],
  csharp: ['var expected = 2;', 'using Assert;'],
  shell: ['echo a', 'exit 0'],
};

t.test('recognises each form of an assertion in each language and no lookalike', (t) => {
  for (const [language, lines] of Object.entries(judging))
    for (const line of lines)
      t.ok(assertionsIn(`\n${line}\n`, language as Language).length > 0, `${language}: ${line}`);
  for (const [language, lines] of Object.entries(silent))
    for (const line of lines)
      t.strictSame(assertionsIn(`\n${line}\n`, language as Language), [], `${language}: ${line}`);
  t.end();
});

t.test('an assertion that cannot fail does not count', (t) => {
  for (const line of [
    'assert.ok(true)',
    'assertEquals(1, 1)',
    'expect(1).toBe(1)',
    'assert True',
    'assert 1 == 1',
    'assert.equal(a, a)',
    'assert a == a',
    'expect(a).toBe(a)',
    'expect(a);',
    'assert.equal(add(1), add(1))',
    'assert.ok(a || true)',
    'assert a or True',
    'assert True or a',
    'assert not False',
    'assert "a"',
    'assert [a == b]',
    'assert (a == b, "text")',
    '[ 1 = 1 ]',
    '[[ true ]]',
  ])
    for (const language of ['javascript', 'python', 'shell'] as const)
      t.strictSame(assertionsIn(`\n${line}\n`, language), [], `${language}: ${line}`);
  t.end();
});
