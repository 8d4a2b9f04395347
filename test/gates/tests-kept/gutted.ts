/**
 * A change of one test file in a language: what a report names, and what it says when the base's version fails on the
 * candidate.
 */
export interface Rewritten {
  readonly language: string;
  readonly test: string;
  readonly base: string;
  readonly candidate: string;
}

/** Cases that assert less than they did, in forms that a rule over text need not know. */
export const gutted: readonly Rewritten[] = [
  {
    language: 'python: pass',
    test: 'tests.test_price::test_two[eur]',
    base: 'def test_two(unit):\n    got = price(2)\n    assert got == 200\n\ndef test_other():\n    assert price(0) == 0\n',
    candidate:
      'def test_two(unit):\n    got = price(2)\n    pass\n\ndef test_other():\n    assert price(0) == 0\n',
  },
  {
    language: 'python: swallowed',
    test: 'test_price.TestPrice.test_two',
    base: 'class TestPrice(TestCase):\n    def test_two(self):\n        self.assertEqual(price(2), 200)\n',
    candidate:
      'class TestPrice(TestCase):\n    def test_two(self):\n        try:\n            self.assertEqual(price(2), 200)\n        except Exception:\n            pass\n',
  },
  {
    language: 'go: helper emptied',
    test: 'TestPrice/two_items',
    base: 'func check(t *testing.T, got, want int) {\n\tif got != want {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n\nfunc TestPrice(t *testing.T) {\n\tt.Run("two items", func(t *testing.T) {\n\t\tcheck(t, Price(2), 200)\n\t})\n}\n',
    candidate:
      'func check(t *testing.T, got, want int) {\n}\n\nfunc TestPrice(t *testing.T) {\n\tt.Run("two items", func(t *testing.T) {\n\t\tcheck(t, Price(2), 200)\n\t})\n}\n',
  },
  {
    language: 'bats: or true',
    test: 'two cost 200',
    base: '@test "two cost 200" {\n  run price 2\n  [ "$output" = 200 ]\n}\n',
    candidate: '@test "two cost 200" {\n  run price 2\n  [ "$output" = 200 ] || true\n}\n',
  },
  {
    language: 'ruby: rescue',
    test: 'Price costs 200',
    base: 'describe Price do\n  it "costs 200" do\n    expect(price(2)).to eq(200)\n  end\nend\n',
    candidate:
      'describe Price do\n  it "costs 200" do\n    expect(price(2)).to eq(200) rescue nil\n  end\nend\n',
  },
  {
    language: 'javascript: on many lines',
    test: 'prices > two cost 200',
    base: "t.test(\n  'two cost 200',\n  async (t) => {\n    t.equal(\n      price(2),\n      200,\n    );\n    t.ok(bill(2));\n  },\n);\n",
    candidate: "t.test(\n  'two cost 200',\n  async (t) => {\n    t.ok(bill(2));\n  },\n);\n",
  },
  {
    language: 'java: half of it',
    test: 'com.shop.PriceTest.two',
    base: '  @Test\n  void two()\n  {\n    assertEquals(200, price(2));\n    assertEquals("x", name(2));\n  }\n',
    candidate: '  @Test\n  void two()\n  {\n    assertEquals("x", name(2));\n  }\n',
  },
  {
    language: 'rust: commented out',
    test: 'tests::two',
    base: '#[test]\nfn two() {\n    assert_eq!(price(2), 200);\n    let _ = price(1);\n}\n',
    candidate: '#[test]\nfn two() {\n    // assert_eq!(price(2), 200);\n    let _ = price(1);\n}\n',
  },
  {
    language: 'php: a constant in its place',
    test: 'PriceTest::testTwo',
    base: '  public function testTwo() {\n    $this->assertSame(200, price(2));\n  }\n',
    candidate: '  public function testTwo() {\n    assertTrue(true);\n  }\n',
  },
];

/** Changes of what is expected, as features make them. */
export const honest: readonly Rewritten[] = [
  {
    language: 'python: another value',
    test: 'test_price::test_two',
    base: 'def test_two():\n    assert price(2) == 200\n',
    candidate: 'def test_two():\n    assert price(2) == 210\n',
  },
  {
    language: 'javascript: said in one',
    test: 'two',
    base: "test('two', () => {\n  assert.equal(price(2), 200);\n  assert.equal(name(2), 'x');\n});\n",
    candidate: "test('two', () => {\n  assert.deepEqual([price(2), name(2)], [210, 'x']);\n});\n",
  },
  {
    language: 'javascript: more than before',
    test: 'two',
    base: "test('two', () => {\n  assert.equal(price(2), 200);\n});\n",
    candidate:
      "test('two', () => {\n  assert.equal(price(2), 210);\n  assert.equal(price(3, 'eur'), 310);\n});\n",
  },
  {
    language: 'go: in the helper',
    test: 'TestPrice',
    base: 'func check(t *testing.T, got int) {\n\tif got != 200 {\n\t\tt.Errorf("got %d", got)\n\t}\n}\n\nfunc TestPrice(t *testing.T) {\n\tcheck(t, Price(2))\n}\n',
    candidate:
      'func check(t *testing.T, got int) {\n\tif got != 210 {\n\t\tt.Errorf("got %d, want 210", got)\n\t}\n}\n\nfunc TestPrice(t *testing.T) {\n\tcheck(t, Price(2))\n}\n',
  },
  {
    language: 'ruby: another error',
    test: 'Price refuses text',
    base: 'it "refuses text" do\n  expect { price("x") }.to raise_error(ArgumentError)\nend\n',
    candidate: 'it "refuses text" do\n  expect { price("x") }.to raise_error(PriceError)\nend\n',
  },
  {
    language: 'bats: another word',
    test: 'two cost 200',
    base: '@test "two cost 200" {\n  run price 2\n  [ "$output" = 200 ]\n}\n',
    candidate: '@test "two cost 200" {\n  run price 2\n  [ "$output" = "EUR 200" ]\n}\n',
  },
  {
    language: 'java: renamed',
    test: 'PriceTest.two',
    base: '  @Test\n  void two() {\n    assertEquals(200, price(2));\n  }\n',
    candidate: '  @Test\n  void twoWithTax() {\n    assertEquals(210, price(2));\n  }\n',
  },
  {
    language: 'snapshot: by the file beside it',
    test: 'prices are listed',
    base: "exports[`prices are listed 1`] = `200`;\ntest('prices are listed', () => {\n  expect(list()).toMatchSnapshot();\n});\n",
    candidate:
      "exports[`prices are listed 1`] = `210`;\ntest('prices are listed', () => {\n  expect(list()).toMatchSnapshot();\n});\n",
  },
];
