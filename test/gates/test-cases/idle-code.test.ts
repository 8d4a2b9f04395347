import t from 'tap';
import { coverOf, shapeOf } from '../../../gates/test-cases/blocks.ts';
import { deadSpans } from '../../../gates/test-cases/idle-code.ts';
import type { Language } from '../../../readers/source/language.ts';

/** Whether the `hit` in a text never runs. */
function isDead(language: Language, code: string): boolean {
  return coverOf(deadSpans(code, language, shapeOf(code, language)))(code.indexOf('hit'));
}

const rows: readonly (readonly [language: Language, dead: string, alive: string])[] = [
  ['javascript', 'if (false) { hit(); }', 'if (a) { hit(); }'],
  ['javascript', 'while (0) { hit(); }', 'while (1) { hit(); }'],
  ['javascript', 'if (a && false) { hit(); }', 'if (a && b) { hit(); }'],
  ['javascript', 'false && hit();', 'a && hit();'],
  ['javascript', 'false && hit()', 'a && hit()'],
  ['javascript', 'true || hit();', 'a || hit();'],
  ['javascript', 'for (const a of []) { hit(); }', 'for (const a of b) { hit(); }'],
  ['javascript', '[].forEach(() => hit());', '[1].forEach(() => hit());'],
  ['javascript', 'new Array().map(() => hit());', 'new Array(1).map(() => hit());'],
  ['javascript', '{ return; hit(); }', '{ if (a) return; hit(); }'],
  ['javascript', '{ if (true) return; hit(); }', '{ if (b) return; hit(); }'],
  ['javascript', '{ process.exit(0); hit(); }', '{ process.on(0); hit(); }'],
  ['javascript', '{ throw a; hit(); }', '{ return f(); function f() { hit(); } }'],
  ['php', 'foreach ([] as $a) { hit(); }', 'foreach ($b as $a) { hit(); }'],
  ['go', 'for range []int{} { hit() }', 'for range list { hit() }'],
  ['go', 'for _, a := range []int{} { hit() }', 'for _, a := range []int{1} { hit() }'],
  ['rust', 'for a in 0..0 { hit(); }', 'for a in 0..1 { hit(); }'],
  ['python', 'if False:\n    hit()\n', 'if a:\n    hit()\n'],
  ['python', 'if not True:\n    hit()\n', 'if not a:\n    hit()\n'],
  ['python', 'for a in range(0):\n    hit()\n', 'for a in range(1):\n    hit()\n'],
  ['python', 'def f():\n    return\n    hit()\n', 'def f():\n    a\n    hit()\n'],
  ['python', 'def f():\n    pytest.skip("x")\n    hit()\n', 'def f():\n    pytest.mark("x")\n    hit()\n'],
  ['ruby', 'unless true\n  hit\nend\n', 'unless a\n  hit\nend\n'],
  ['ruby', 'def f\n  return\n  hit\nend\n', 'def f\n  return if a\n  hit\nend\n'],
  ['ruby', '0.times do\n  hit\nend\n', '1.times do\n  hit\nend\n'],
  ['elixir', 'test "a" do\n  raise "x"\n  hit\nend\n', 'test "a" do\n  b\n  hit\nend\n'],
  ['shell', 'f() {\n  return 0\n  hit\n}\nf\n', 'f() {\n  return 1\n  hit\n}\nf\n'],
];

t.test('distinguishes code that never runs from code that can run', async (t) => {
  for (const [language, dead, alive] of rows) {
    t.equal(isDead(language, dead), true, `${language}: ${dead}`);
    t.equal(isDead(language, alive), false, `${language}: ${alive}`);
  }
});
