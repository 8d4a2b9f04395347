/* Direct execution and unsafe settings in JavaScript and TypeScript. */
import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { isDeclared, javascriptNames } from '../../readers/source/names/javascript-names.ts';
import { originsOf, type Way } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import {
  type Call,
  type CallRow,
  type CommandParameters,
  callOf,
  collectHits,
  type Hit,
  hitOf,
  why as kinds,
  type PassedText,
  passedTextHits,
  sastHit,
} from './hits.ts';
import { passesShellText } from './shell-command.ts';

const compilers = /^(?:Async|Generator|AsyncGenerator)?Function$/;
const execs =
  /^(?:#(?:child_process|shelljs)|child_process|childProcess|cp|shelljs)\.exec(?:Sync)?$|^execSync$/;
const spawns =
  /^(?:#(?:child_process|execa|cross-spawn|node-pty)|child_process|childProcess|cp)(?:\.(?:spawn|spawnSync|execFile|execFileSync|fork|execa|execaSync|execaCommand|execaCommandSync|sync|\$))?$|^(?:spawn|spawnSync|execFile|execFileSync|execa)$|^(?:Bun\.spawn(?:Sync)?|Deno\.(?:Command|run))$/;
/** Parts of the runtime that start processes or compile, behind its public modules. */
const bindings = /^(?:spawn_sync|process_wrap|contextify|evals)$/;
/** Node types that pass a value on, each with the field of the value. */
const takers: CommandParameters = {
  variable_declarator: 'value',
  assignment_expression: 'right',
  pair: 'value',
  arguments: undefined,
  return_statement: undefined,
  arrow_function: 'body',
  public_field_definition: 'value',
  field_definition: 'value',
};
const servers = /(?:^|\.)create(?:Secure)?Server$/;
const maxDepth = 4;
const why = {
  ...kinds,
  compiled: 'compiles a string as code',
  built: 'compiles a string as a function',
  run: 'runs a string as code',
};

/** Direct execution in JavaScript and TypeScript, under whatever name it was imported or given. */
export function javascriptHits(reading: Reading): readonly Hit[] {
  const { literal, text, isText, isWhole, tree } = reading;
  const names = javascriptNames(reading);
  const { behind, keyOf, said, ways, option } = names;
  const always = () => true;
  // Without the rest of the file a bare `exec` may have been imported out of sight.
  const isExec = (path: string) => execs.test(path) || (path === 'exec' && !isWhole);
  const rows: readonly CallRow[] = [
    [/^eval$/, why.code],
    [compilers, why.built, always],
    [
      /^(?:setTimeout|setInterval|setImmediate|execScript)$/,
      why.code,
      ({ given }) => isText(behind(given[0])),
    ],
    [/^#?vm\.(?:compileFunction|Script|SourceTextModule)$/, why.compiled, always],
    [/^#vm\.runIn/, why.run, always],
    // Sandboxes that run a text still execute it as code.
    [
      /^#(?:vm2\.(?:VM|NodeVM)\(\)\.run|vm2\.VMScript|isolated-vm\.Isolate\(\)\.compileScript(?:Sync)?)$/,
      why.code,
      always,
    ],
    [/^(?:\$|jQuery|#jquery)\.globalEval$/, why.code, always],
    [/^(?:import|importScripts)$/, why.compiled, ({ given }) => isDataAddress(given[0])],
    [
      /^process\.binding$/,
      'reaches past the modules that start processes and compile',
      ({ given }) => bindings.test(said(given[0]) ?? ''),
    ],
    [/^(?:Worker|SharedWorker|#worker_threads\.Worker)$/, 'runs a string as a worker', workerReason],
    [
      /^exec$/,
      why.shell,
      () => /["'`]shelljs\/global["'`]/.test(text(tree.root)) && { call: 'shelljs.exec' },
    ],
    [/./, why.shell, (_, { path }) => isExec(path)],
    [spawns, why.handed, spawnReason],
    [/^#?crypto\.create(?:Cipher|Decipher)$/, 'sast/javascript-cipher-without-iv'],
    [/^(?:#jsonwebtoken|jwt|jsonwebtoken)\.(?:verify|sign)$/, 'sast/javascript-jwt-none', allowsNone],
  ];
  // Inner calls come first, so that what they reach is known when a long chain of calls is followed.
  const inner = { ...tree, nodes: tree.nodes.toReversed() };
  const hits = collectHits(inner, { call_expression: callHit, new_expression: callHit });
  const settings = collectHits(tree, {
    pair(node) {
      const key = keyOf(childOf(node, 'key'));
      return isForServer(node) ? undefined : settingHit(node, key, childOf(node, 'value'), ':');
    },
    assignment_expression: assignmentHit,
    augmented_assignment_expression: assignmentHit,
  });
  return [...hits, ...passedTextHits(tree, hits, takers, handedOn), ...settings];

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'constructor') ?? childOf(node, 'function');
    if (!target || !childOf(node, 'arguments') || looksLikeMethod(node)) return undefined;
    const call = callOf(node, target);
    const [first] = call.given;
    const property = childOf(target, 'property')
      ? text(childOf(target, 'property'))
      : first && (said(childOf(target, 'index')) ?? '');
    const isCompiler =
      first &&
      (isText(first) || isCalled(node) || /\bconstructor["'`\]]{0,2}$/.test(text(childOf(target, 'object'))));
    const reason = /^runIn(?:New|This)?Context$/.test(property ?? '')
      ? why.run
      : property === '_compile' && call.given.length > 1
        ? 'compiles a string as a module'
        : property === 'constructor' && isCompiler
          ? why.built
          : undefined;
    const reached = ways(target);
    if (property !== undefined && reason !== undefined && !isDeclared(node))
      return {
        start: target.start,
        end: node.end,
        also: reached.flatMap(originsOf),
        call: property,
        why: reason,
      };
    const hit = hitOf(
      rows,
      call,
      reached.flatMap((way) => applied(call, way)),
    );
    return hit && !isDeclared(node)
      ? { ...hit, call: hit.call.replace('#', '').replaceAll('()', '') }
      : undefined;
  }

  /** What is called behind `.call`, `.apply` and `Reflect.apply`. */
  function applied({ given }: Call, way: Way): readonly Way[] {
    if (/^Reflect\.(?:apply|construct)$/.test(way.path))
      return ways(given[0]).filter(({ path }) => path === 'eval' || compilers.test(path));
    return [{ ...way, path: way.path.replace(/\.(?:call|apply)$/, '') }];
  }

  function workerReason({ given }: Call, { path }: Way): Partial<Hit> | undefined {
    const isEval = option(given, 'eval');
    const also = isEval?.type === 'true' ? [isEval.start] : isDataAddress(given[0]) ? [] : undefined;
    return also && { call: `new ${path.replace(/.*\./, '')}`, also };
  }

  function spawnReason({ given }: Call): boolean | Partial<Hit> {
    const shell = option(given, 'shell');
    const isOn = shell && !/^(?:false|null|undefined|["'`]0?["'`])$/.test(text(shell));
    return isOn ? { why: 'spawns through a shell', also: [shell.start] } : passesShellText(wordsOf(given));
  }

  function assignmentHit(node: SyntaxNode): Hit | undefined {
    const left = childOf(node, 'left');
    const property = keyOf(childOf(left, 'property')) ?? literal(behind(childOf(left, 'index')));
    return settingHit(node, property, childOf(node, 'right'), ' =');
  }

  function settingHit(
    node: SyntaxNode,
    name: string | undefined,
    value: SyntaxNode | undefined,
    sign: string,
  ): Hit | undefined {
    const given = behind(value);
    const isOff = name === 'rejectUnauthorized' && given?.type === 'false';
    if (isDeclared(node) || !(isOff || (name === 'NODE_TLS_REJECT_UNAUTHORIZED' && literal(given) === '0')))
      return undefined;
    const call = `${name}${sign} ${isOff ? 'false' : '0'}`;
    return sastHit('sast/javascript-tls-unverified', node, call, sign === ':' && given ? [given.start] : []);
  }

  /** A server that does without its clients' certificates still proves its own identity. */
  function isForServer({ parent: object }: SyntaxNode): boolean {
    if (object?.children.some((one) => keyOf(childOf(one, 'key')) === 'requestCert')) return true;
    const target =
      object?.parent?.type === 'arguments' ? childOf(object.parent.parent, 'function') : undefined;
    return servers.test(text(target)) || names.reaches(target, servers) !== undefined;
  }

  function allowsNone({ given }: Call): boolean {
    return ['algorithms', 'algorithm'].some((name) => {
      const value = option(given, name);
      const values = value?.type === 'array' ? value.children : [value];
      return values.some((item) => literal(behind(item))?.toLowerCase() === 'none');
    });
  }

  /** An address that holds the script itself: `data:…`, also as a `URL`, or one made for a `Blob`. */
  function isDataAddress(node: SyntaxNode | undefined, depth = 0): boolean {
    const value = behind(node);
    if (!value || depth > maxDepth) return false;
    if (/^\s*data:/i.test(said(value) ?? reading.opening(value))) return true;
    const isNew = value.type === 'new_expression';
    return ways(childOf(value, isNew ? 'constructor' : 'function')).some(({ path }) =>
      path === (isNew ? 'URL' : 'URL.createObjectURL')
        ? isDataAddress(argumentsOf(value)[0], depth + 1)
        : isNew && path === 'Blob',
    );
  }

  /** `exec(sql) {` seen without its class reads like a call. */
  function looksLikeMethod(node: SyntaxNode): boolean {
    if (isWhole || node.parent?.type === 'arguments') return false;
    const { end } = tree.root;
    const after = text({ ...tree.root, start: node.end, end: Math.min(end, node.end + 200) });
    return /^\s*(?::[^\n;(){}]*)?\{/.test(after);
  }

  /**
   * The arguments as words, with lists flattened. Handles `Deno.Command(program, { args })` and `Deno.run({ cmd })`.
   */
  function wordsOf(given: readonly SyntaxNode[]): readonly (string | undefined)[] {
    return given.flatMap((argument) => {
      const value = behind(argument);
      if (value?.type === 'array') return value.children.map((item) => literal(behind(item)));
      if (value?.type !== 'object') return [literal(value)];
      const inner = option([value], 'args') ?? option([value], 'cmd');
      return inner ? (inner.type === 'array' ? wordsOf([inner]) : [undefined]) : [];
    });
  }

  /**
   * `const run = eval`, `rows.map(eval)`, `promisify(exec)` that no call in sight uses: what evaluates strings leaves
   * our sight.
   */
  function handedOn(node: SyntaxNode): PassedText | undefined {
    const { parent, type } = node;
    if (!/^(?:identifier|member_expression|subscript_expression)$/.test(type) || isDeclared(node))
      return undefined;
    const outer = ways(parent?.type === 'arguments' ? childOf(parent.parent, 'function') : undefined);
    const isPromise = outer.some(({ path }) => /(?:^|\.)promisify$/.test(path));
    const isDangerous = ways(node).some(({ path }) => path === 'eval' || (isPromise && isExec(path)));
    if (!isDangerous || outer.some(({ path }) => path.startsWith('Reflect.'))) return undefined;
    const place = outermost((isPromise && parent?.parent) || node);
    return { call: text(node).slice(0, 60), why: 'hands on what evaluates strings', place };
  }
}

/** Whether what a call returns is called there and then: `f.constructor(text)()`. */
function isCalled({ type, parent, field }: SyntaxNode): boolean {
  return type === 'call_expression' && parent?.type === 'call_expression' && field === 'function';
}

/** The declaration or assignment that a value is given in, through wrappers. */
function outermost(node: SyntaxNode): SyntaxNode | undefined {
  let at = node.parent;
  while (at && /^(?:parenthesized_expression|as_expression|non_null_expression)$/.test(at.type))
    at = at.parent;
  return at;
}
