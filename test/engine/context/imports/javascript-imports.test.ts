import t from 'tap';
import { javascriptImports } from '../../../../engine/context/imports/javascript-imports.ts';

t.test('reads every form of import with a literal specifier', async (t) => {
  for (const [source, ...specifiers] of [
    [`import a from './a';`, './a'],
    [`import { b, type C } from "./b.js"`, './b.js'],
    [`import * as d from './d'; import './e.css'`, './d', './e.css'],
    [`import type { F } from './f.ts'`, './f.ts'],
    [`import G, {\n  // of './not'\n  h,\n} from\n  './g'`, './g'],
    [`export { i } from './i'; export * from './j'; export * as k from "./k"`, './i', './j', './k'],
    [`const l = require('./l'), m = require( "./m" )`, './l', './m'],
    [`import n = require('./n')`, './n'],
    [`const o = await import(/* webpackChunkName: "x" */ './o')`, './o'],
    ['import(`./p`).then(f)', './p'],
    [`import q from './q.json' with { type: 'json' }`, './q.json'],
    [`import("./r", { with: { type: 'json' } })`, './r'],
    [`import"./s";import{t}from"./t"`, './s', './t'],
  ] as const) {
    t.strictSame(javascriptImports(source), specifiers, source);
  }
});

t.test('ignores text that only looks like an import', async (t) => {
  for (const source of [
    `// import './a'`,
    `/* import './a' */`,
    `const text = "import './a'"`,
    `const text = \`import "./a" \${\`\${"from"} "./b"\`}\``,
    `const from = Array.from('./a')`,
    `obj.require('./a'); $require('./a'); $import('./a')`,
    `import(\`./\${name}\`)`,
    `require('./a' + name)`,
    `import.meta.url`,
    `const re = /import '.\\/a'/; const other = /["'\`]/g`,
    `requires('./a'); imported('./b')`,
    `import('./un\\\nclosed`,
  ]) {
    t.strictSame(javascriptImports(source), [], source);
  }
});

t.test('quotes, regular expressions and templates do not hide a later import', async (t) => {
  for (const before of [
    `it's JSX text\n`,
    `const re = /['"]/;`,
    `const re = x.replace(/[/'"]/g, '');`,
    `return /\`/.test(x);\n`,
    `const t = \`a \${b ? \`c \${d}\` : "}"} \`;`,
    `const half = a / b; const quarter = half / 2;`,
    'const s = "\\"";',
    `/** don't */`,
  ]) {
    t.strictSame(javascriptImports(`${before} import './a'`), ['./a'], before);
  }
});
