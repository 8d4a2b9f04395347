import { closure } from './closure.ts';
import { findCycles } from './cycles.ts';
import { doors } from './doors.ts';
import type { House } from './house.ts';
import { testRules } from './own-time.ts';
import {
  arrows,
  doorFiles,
  errorTable,
  folderOf,
  isGenerated,
  isShipped,
  isWritten,
  ladders,
  maxCoreLines,
  roomOf,
  uncircled,
  unshipped,
} from './rooms.ts';
import { ruleIdRule } from './rule-id-rule.ts';
import { arrowRule, declaredAndUsed, doorRule, type HouseRule, ladderRule, perFile } from './rule-kinds.ts';
import { screenRules } from './screen-rules.ts';
import { slotNamesRule } from './slot-names.ts';
import { taskRule } from './task-rule.ts';
import { tokenRule } from './token-rule.ts';
import { verifyClosure } from './verify-closure.ts';

/** Each costs more than a start of node; what needs one imports it when it needs it. */
const heavy =
  /^(?:piscina|ajv|ajv-formats|hono|@hono\/|node-sqlite3-wasm|undici|@modelcontextprotocol\/|@agentclientprotocol\/|@sigstore\/|@cyclonedx\/)/;
const startUp = 'bin/main.ts';
const maxLines = 600;
const maxCommentColumns = 120;
/** One idea that is long: a table. */
const mayBeLong: readonly string[] = ['core/base/error-codes.ts'];
const io = /^node:(?:fs|fs\/promises|child_process|http|https|http2|dgram|dns|os|worker_threads)$/;
const vagueNames = /^(?:utils?|helpers?|common|misc|shared|manager|types?|stuff|lib)$/;
const kebabCase = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** The rules of the house (architecture, The rooms and Style). */
export const houseRules: readonly HouseRule[] = [
  ...Object.keys(arrows).map((room) => arrowRule(room)),
  ...Object.keys(ladders).map((room) => ladderRule(room)),
  {
    name: `core is at most ${maxCoreLines} lines`,
    check: ({ files }) => {
      const core = files.filter(
        ({ path }) => roomOf(path) === 'core' && isWritten(path) && path !== errorTable,
      );
      const lines = core.reduce((sum, { text }) => sum + text.split('\n').length - 1, 0);
      return {
        matched: core.length,
        violations: lines > maxCoreLines ? [`it has ${lines}: what of it does no plugin author need?`] : [],
      };
    },
  },
  {
    name: 'every folder is a known room',
    check: ({ files }) => ({
      matched: files.length,
      violations: files
        .filter((file) => arrows[roomOf(file.path)] === undefined && !unshipped.includes(roomOf(file.path)))
        .map((file) => `${file.path}: \`${roomOf(file.path)}\` is no room of this house`),
    }),
  },
  {
    name: 'no import cycle, types included',
    check: ({ edges }) => ({
      matched: edges.length,
      violations: findCycles(edges).map((group) => `${group.join(' → ')} import each other`),
    }),
  },
  {
    name: 'folders of a room import each other in no circle',
    check: ({ edges }) => {
      const inside = edges.filter(
        ({ from, to }) => roomOf(from) === roomOf(to) && uncircled.includes(roomOf(from)),
      );
      const between = inside
        .map((edge) => ({ ...edge, from: folderOf(edge.from), to: folderOf(edge.to) }))
        .filter(({ from, to }) => from !== to);
      return {
        matched: inside.length,
        violations: findCycles(between).map((group) => `${group.join(', ')} import each other`),
      };
    },
  },
  {
    name: 'the compiler saw every relative import',
    check: ({ files, edges }) => {
      const seen = new Set(edges.map((edge) => `${edge.from}\n${edge.specifier}`));
      const relative = files.flatMap(({ path, specifiers }) =>
        specifiers
          .filter((one) => /^\.\.?\//.test(one) && !one.endsWith('.json'))
          .map((one) => ({ path, one })),
      );
      return {
        matched: relative.length,
        violations: relative
          .filter(({ path, one }) => !seen.has(`${path}\n${one}`))
          .map(({ path, one }) => `${path}: \`${one}\` is not in the module graph`),
      };
    },
  },
  perFile('no `export *`', isWritten, ({ code }) => (/\bexport\s*\*/.test(code) ? ['has `export *`'] : [])),
  ...doors.map(doorRule),
  {
    name: 'bare imports are declared dependencies',
    check: ({ files, manifest }) => {
      const shipped = files.filter((file) => isShipped(file.path));
      const bare = shipped.flatMap(({ path, specifiers }) =>
        specifiers.filter((one) => !/^(?:\.|node:)/.test(one)).map((one) => ({ path, name: packageOf(one) })),
      );
      // What the page is made of is folded into one file of it, which is shipped.
      const isFolded = (path: string, name: string) =>
        path.startsWith('session/web/') && manifest.devDependencies[name] !== undefined;
      return {
        matched: bare.length,
        violations: bare
          .filter(({ path, name }) => manifest.dependencies[name] === undefined && !isFolded(path, name))
          .map(({ path, name }) => `${path}: \`${name}\` is not among the dependencies`),
      };
    },
  },
  {
    name: 'declared dependencies are imported',
    check: ({ files, manifest }) => {
      const shipped = files.filter((file) => isShipped(file.path));
      const used = new Set(
        shipped.flatMap((file) => [...file.specifiers, ...resolved(file.text)].map(packageOf)),
      );
      const declared = Object.keys(manifest.dependencies);
      return {
        matched: declared.length,
        violations: declared
          .filter((name) => !used.has(name))
          .map((name) => `\`${name}\` is declared and not imported`),
      };
    },
  },
  perFile(
    'files and folders are named in kebab-case after what they hold',
    () => true,
    ({ path }) =>
      path.split('/').flatMap((segment) => {
        const stem = segment.replace(/(?:\.(?:gen|test|d))*\.(?:ts|js)$/, '');
        // What must not compile is a folder of types.
        if (vagueNames.test(stem) && !path.startsWith('test/types/')) return [`\`${stem}\` says nothing`];
        // A fixture's version or a dotted document name (`intentspec.v1`) keeps its dots.
        return stem.split('.').every((part) => kebabCase.test(part))
          ? []
          : [`\`${segment}\` is not kebab-case`];
      }),
  ),
  perFile(
    `comments stay within ${maxCommentColumns} columns`,
    // What it writes is a file of somebody else's.
    (path) => isWritten(path) && path !== 'bin/plugin/scaffolds.ts',
    ({ text }) =>
      text
        .split('\n')
        .flatMap((line, at) =>
          line.length > maxCommentColumns && /^\s*(?:\/\/|\/?\*)/.test(line)
            ? [`line ${at + 1} is too long`]
            : [],
        ),
  ),
  perFile(
    'a file of the product says first what it is for',
    (path) => isShipped(path) && isWritten(path) && /\.tsx?$/.test(path),
    ({ text }) =>
      /^(?:#!.*\n)?(?:import\b[^;]*;\s*)*\/[*/]/.test(text) ? [] : ['has code before its first comment'],
  ),
  perFile(
    `no file above ${maxLines} lines`,
    (path) => isWritten(path) && !mayBeLong.includes(path),
    ({ text }) => {
      const lines = text.split('\n').length - 1;
      return lines > maxLines ? [`has ${lines} lines: look for the two ideas in it`] : [];
    },
  ),
  perFile(
    'files of a test room share one root: none makes its directory there',
    (path) => path.endsWith('.test.ts'),
    // The next file's would be in its place.
    ({ code }) => (/^const .*\bt\.testdir\(/m.test(code) ? ['calls `t.testdir` outside of a test'] : []),
  ),
  perFile(
    'readers do no I/O',
    (path) => path.startsWith('readers/'),
    ({ specifiers }) =>
      specifiers.filter((one) => io.test(one)).map((one) => `imports \`${one}\`: bytes are handed in`),
  ),
  perFile('generated files say so in line one', isGenerated, ({ text }) =>
    /generated/i.test(text.split('\n', 1)[0] ?? '') ? [] : ['does not say so'],
  ),
  {
    name: 'package.json exports the doors and nothing else',
    check: ({ files, manifest }) => {
      const exported = Object.keys(manifest.exports);
      const expected = Object.keys(doorFiles);
      const known = new Set(files.map((file) => file.path));
      return {
        matched: exported.length,
        violations: [
          ...exported.filter((door) => !expected.includes(door)).map((door) => `\`${door}\` is no door`),
          ...expected
            .filter((door) => manifest.exports[door]?.default !== `./dist/${doorFiles[door]}.js`)
            .map((door) => `\`${door}\` does not lead to \`./dist/${doorFiles[door]}.js\``),
          ...expected
            .filter((door) => !known.has(`${doorFiles[door]}.ts`))
            .map((door) => `\`${doorFiles[door]}.ts\` is missing`),
        ],
      };
    },
  },
  perFile(
    'doors only list names',
    (path) => roomOf(path) === 'door',
    ({ code }) =>
      code.replace(/\bexport\s+(?:type\s+)?\{[^}]*\}\s*from\s*'[^']*'\s*;/g, '').trim() === ''
        ? []
        : ['holds more than names'],
  ),
  declaredAndUsed(
    'every hook point is called',
    'core/kernel/hooks.ts',
    /\('([a-z]+\.[a-z]+)', setting/g,
    (name) => new RegExp(`\\bhooks\\.${name.replace('.', '\\.')}\\.call\\(`),
  ),
  declaredAndUsed(
    'every slot is picked from',
    'core/kernel/slot.ts',
    /createSlot<\w+>\('([a-z]+)'\)/g,
    (name) => new RegExp(`\\bslots\\.${name}\\b(?!\\.add)`),
  ),
  taskRule,
  ruleIdRule,
  slotNamesRule,
  tokenRule,
  {
    name: 'starting up loads no heavy library',
    check: ({ files, edges }) => {
      const byPath = new Map(files.map((file) => [file.path, file]));
      const atStart = (path: string) =>
        byPath.get(path)?.imports.filter((one) => one.kind === 'static') ?? [];
      const reached = closure(
        startUp,
        edges.filter((edge) => atStart(edge.from).some((one) => one.specifier === edge.specifier)),
      );
      return {
        matched: reached.size - 1,
        violations: [...reached].flatMap((path) =>
          atStart(path)
            .filter((one) => heavy.test(one.specifier))
            .map((one) => `${path} loads \`${one.specifier}\``),
        ),
      };
    },
  },
  verifyClosure,
  {
    name: 'deciding is pure',
    check: ({ files, edges }) => {
      const reached = closure('engine/decide/decide.ts', edges);
      const impure = /^core\/base\/(?:clock|ids)\.ts$/;
      return {
        matched: files.filter((file) => file.path === 'engine/decide/decide.ts').length,
        violations: files
          .filter((file) => reached.has(file.path))
          .flatMap((file) => [
            ...(impure.test(file.path) ? [`decide reaches ${file.path}`] : []),
            ...file.specifiers
              .filter((one) => one.startsWith('node:') && one !== 'node:crypto')
              .map((one) => `decide reaches \`${one}\` through ${file.path}`),
          ]),
      };
    },
  },
  ...screenRules,
  ...testRules,
];

/** Every broken rule, one line each. */
export function brokenRules(house: House, rules: readonly HouseRule[] = houseRules): readonly string[] {
  return rules.flatMap(({ name, check }) => {
    const { matched, violations } = check(house);
    const broken = matched === 0 ? ['looks at nothing', ...violations] : violations;
    return broken.map((violation) => `${name}: ${violation}`);
  });
}

function packageOf(specifier: string): string {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/** Packages whose files are found by address: what is loaded by URL, or more than once. */
function resolved(code: string): readonly string[] {
  return [...code.matchAll(/import\.meta\.resolve\(\s*[`'"]([^`'"$]+)/g)].map((match) => match[1] ?? '');
}
