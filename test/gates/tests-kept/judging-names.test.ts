import t from 'tap';
import { namesFromHelpers } from '../../../gates/tests-kept/known-helpers.ts';

const names = (path: string, text: string, language: 'javascript' | 'python' | 'go'): string[] =>
  [...namesFromHelpers(path, text, text, language)].sort();

t.test('names imported from test helpers may assert, and other imports may not', (t) => {
  const text = `
    import { checked } from './checked.js';
    import { near } from './help/near.js';
    import { product } from '../src/product.js';
    import { packed } from 'our-package/test/packed.js';
    import { plain } from 'plain';
    import test from 'node:test';
    const { required } = require('../test/required');
  `;
  t.strictSame(names('test/a.test.js', text, 'javascript'), ['checked', 'near', 'packed', 'required']);
  // The same words beside the product: only what lies among tests or is named as a helper.
  t.strictSame(names('src/a.test.js', text, 'javascript'), ['packed', 'required']);
  t.end();
});

t.test('Python helpers are imports from test packages, and Go helpers are functions given `t`', (t) => {
  const python =
    'from .helpers import (same, other as also)\nfrom tests.tools import kept\nfrom product import price\n';
  t.strictSame(names('tests/test_a.py', python, 'python'), ['also', 'kept', 'same']);
  t.strictSame(names('a_test.go', 'func TestA(t *testing.T) { mustBe(t, 1); x.y(t, 2); z(u) }', 'go'), [
    'mustBe',
  ]);
  t.end();
});
