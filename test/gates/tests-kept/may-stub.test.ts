import t from 'tap';
import { testLibrary } from '../../../gates/test-cases/test-text.ts';
import { assertionStubs, mayStub } from '../../../gates/tests-kept/stubs.ts';

/** Code that is no test and reaches into what judges, one for each form. */
const stubs = {
  javascript: [
    "delete require.cache[require.resolve('chai')];",
    'globalThis.test = () => {};',
    'self . should = 1;',
    'assert.strict.equal = noop;',
    'chai.assert.equal = noop;',
    'Object.assign(jestExpect, {});',
    "Object.defineProperty(window, 'it', {});",
    'AssertionError.prototype.name = 1;',
  ],
  python: [
    'TestCase.run = 1',
    'mock.assert_called = 1',
    'setattr(pytest, "x", 1)',
    'sys.modules["pytest"] = 1',
    '__builtins__ = {}',
    'AssertionError = ValueError',
  ],
} as const;

t.test('`mayStub` selects every stub form in code that is not a test', async (t) => {
  for (const language of ['javascript', 'python'] as const)
    for (const text of stubs[language]) {
      const found = assertionStubs(text, text, language, false);
      t.ok(found.length > 0, `${text} is a stub`);
      t.ok(mayStub(text, language), `${text} is looked at`);
    }
});

t.test('`mayStub` selects an import of every test library in each kind of quotes', async (t) => {
  const modules = [
    ...[
      'assert',
      'node:assert',
      'assert/strict',
      'node:assert/strict',
      'test',
      'node:test',
      'chai',
      'expect',
    ],
    ...['should', 'power-assert', 'unexpected', 'vitest', 'mocha', 'jasmine', 'ava', 'tap', 'tape', 'zora'],
    ...['qunit', 'earl', 'sinon', 'cypress', 'uvu', 'uvu/assert', 'bun:test', '@jest/globals', '@vitest/spy'],
    ...['@playwright/test', '@tapjs/core', '@japa/assert', '@hapi/code', '@open-wc/testing', '@std/assert'],
    ...['jsr:@std/expect', 'https://deno.land/std/testing/asserts.ts'],
  ];
  for (const module of modules) {
    t.match(module, testLibrary);
    for (const quote of ['"', "'", '`'])
      t.ok(mayStub(`import * as own from ${quote}${module}${quote};`, 'javascript'), module);
  }
});

t.test('`mayStub` skips code that stubs nothing', async (t) => {
  t.notOk(mayStub("import { readFileSync } from 'node:fs';\nexport const f = (n) => n + 1;\n", 'javascript'));
  t.notOk(mayStub('import os\ndef f(n):\n    return n + 1\n', 'python'));
  t.notOk(mayStub('func main() { assert() }', 'go'), 'a language in which only tests count');
});
