import t from 'tap';
import { placeParts } from '../../../../engine/evaluate/second-run/policy-inputs.ts';

const own = JSON.stringify({
  name: 'x',
  scripts: { test: 'echo ok 1', pretest: 'rm -rf test', 'new:script': 'node new.js' },
  jest: { testMatch: [] },
  dependencies: { kept: '1.0.0', added: '2.0.0' },
});
const other = JSON.stringify({
  scripts: { test: 'node --test', gone: 'true' },
  mocha: { spec: 'test' },
  dependencies: { kept: '1.0.0' },
});

t.test('`placeParts` replaces only the named parts with those of the other text', async (t) => {
  const text = placeParts(own, other, ['scripts.test', 'scripts.pretest', 'jest', 'mocha']);
  t.same(JSON.parse(text ?? ''), {
    name: 'x',
    scripts: { test: 'node --test', 'new:script': 'node new.js' },
    dependencies: { kept: '1.0.0', added: '2.0.0' },
    mocha: { spec: 'test' },
  });
  t.equal(text?.indexOf('jest'), -1);
});

t.test('`placeParts` handles invalid JSON and `__proto__` names safely', async (t) => {
  for (const [a, b] of [
    ['{', '{}'],
    ['{}', '[1]'],
    ['null', '{}'],
    ['"x"', '{}'],
  ] as const)
    t.equal(placeParts(a, b, ['scripts.test']), undefined);
  const text = placeParts('{"scripts":"none"}', '{"scripts":{"__proto__":"x"}}', ['scripts.__proto__']);
  t.equal(text?.replace(/\s/g, ''), '{"scripts":{"__proto__":"x"}}');
  t.same(JSON.parse(placeParts('{"scripts":{"test":"x"}}', '{}', ['scripts.test', '__proto__']) ?? ''), {
    scripts: {},
  });
});
