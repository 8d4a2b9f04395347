import { childOf, childrenOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import { Names } from './names.ts';
import type { Reading } from './reading.ts';
import { handsShellText } from './shell-words.ts';

const opens = [
  'function_declaration',
  'method_declaration',
  'func_literal',
  'block',
  'if_statement',
  'for_statement',
  'expression_switch_statement',
  'type_switch_statement',
  'expression_case',
  'communication_case',
];
/** What starts a program from an argument list. */
const launchers =
  /^(?:os\/exec\.(?:Command|CommandContext)|syscall\.(?:Exec|ForkExec|StartProcess)|os\.StartProcess|golang\.org\/x\/sys\/unix\.Exec|golang\.org\/x\/sys\/execabs\.Command(?:Context)?)$/;
const standard = ['os/exec', 'os', 'syscall'];
/** Interpreters: the import that brings one, and its methods that run a text. */
const interpreters: readonly (readonly [RegExp, RegExp])[] = [
  [/\/yaegi\/interp$/, /^(?:Eval|EvalWithContext)$/],
  [/\/goja$/, /^(?:RunString|RunScript|RunProgram)$/],
  [/\/otto$/, /^(?:Run|Eval)$/],
  [/\/gopher-lua$/, /^(?:DoString|LoadString)$/],
  [/\/v8go$/, /^RunScript$/],
  [/\/starlark$/, /^(?:ExecFile|ExecFileOptions|Eval|EvalOptions)$/],
];
const maxDepth = 16;

/** Direct execution in Go: a shell that is handed a built text, or an embedded interpreter; `exec.Command(name, args…)` is neither. */
export function goHits(reading: Reading): readonly Hit[] {
  const { tree, text, literal, isWhole } = reading;
  const names = new Names(opens);
  const dotted = new Set<string>();
  const runs: RegExp[] = [];
  for (const node of tree.nodes) readNode(node);
  const knowsImports = isWhole && tree.nodes.some(({ type }) => type === 'package_clause');
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    const hit =
      node.type === 'call_expression'
        ? callHit(node)
        : node.type === 'composite_literal'
          ? literalHit(node)
          : undefined;
    if (hit) hits.push(hit);
  }
  return hits;

  function readNode(node: SyntaxNode): void {
    switch (node.type) {
      case 'import_spec': {
        const path = literal(childOf(node, 'path')) ?? '';
        const alias = childOf(node, 'name');
        for (const [module, methods] of interpreters) if (module.test(path)) runs.push(methods);
        if (alias?.type === 'dot') dotted.add(path);
        else
          names.give(tree.root, alias ? text(alias) : path.slice(path.lastIndexOf('/') + 1), {
            path,
            at: node.start,
          });
        return;
      }
      case 'short_var_declaration':
      case 'assignment_statement': {
        const left = childOf(node, 'left')?.children ?? [];
        const right = childOf(node, 'right')?.children ?? [];
        left.forEach((one, index) => {
          if (one.type !== 'identifier') return;
          const name = text(one);
          const scope = node.type === 'assignment_statement' ? names.ownerOf(name, one) : names.scopeOf(node);
          if (scope)
            names.give(scope, name, {
              value: left.length === right.length ? right[index] : undefined,
              at: one.start,
            });
        });
        return;
      }
      case 'range_clause':
        for (const one of childOf(node, 'left')?.children ?? [])
          names.give(names.scopeOf(node), text(one), { at: one.start });
        return;
      case 'var_spec':
      case 'const_spec': {
        const values = childOf(node, 'value')?.children ?? [];
        childrenOf(node, 'name').forEach((one, index) => {
          names.give(names.scopeOf(node), text(one), { value: values[index], at: one.start });
        });
        return;
      }
      case 'parameter_declaration':
      case 'variadic_parameter_declaration':
        for (const one of childrenOf(node, 'name'))
          names.give(names.scopeOf(node), text(one), { at: one.start });
        return;
      case 'function_declaration': {
        const name = childOf(node, 'name');
        if (name) names.give(tree.root, text(name), { at: name.start });
      }
    }
  }

  function behind(node: SyntaxNode | undefined, depth = 0): SyntaxNode | undefined {
    if (node?.type === 'parenthesized_expression') return behind(node.children[0], depth + 1);
    if (node?.type === 'literal_element') return behind(node.children[0], depth + 1);
    if (node?.type !== 'identifier' || depth > maxDepth) return node;
    const value = names.find(text(node), node)?.find((one) => one.value)?.value;
    return value ? behind(value, depth + 1) : node;
  }

  function resolve(node: SyntaxNode | undefined, seen: number[], depth = 0): string | undefined {
    if (!node || depth > maxDepth) return undefined;
    if (node.type === 'parenthesized_expression') return resolve(node.children[0], seen, depth + 1);
    if (node.type === 'selector_expression') {
      const operand = childOf(node, 'operand');
      const base = resolve(operand, seen, depth + 1);
      return base === undefined ? undefined : `${base}.${text(childOf(node, 'field'))}`;
    }
    if (node.type !== 'identifier') return undefined;
    const name = text(node);
    const given = names.find(name, node);
    if (!given) {
      for (const path of standard)
        if (dotted.has(path) && launchers.test(`${path}.${name}`)) return `${path}.${name}`;
      // Where the imports are out of sight, `exec` is the package that everybody calls so.
      return knowsImports ? undefined : (standard.find((path) => path.endsWith(name)) ?? name);
    }
    for (const { path, value, at } of given) {
      const found = path ?? resolve(value, seen, depth + 1);
      if (found === undefined) continue;
      seen.push(at);
      return found;
    }
    return undefined;
  }

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    const given = childOf(node, 'arguments')?.children.filter(({ type }) => type !== 'comment') ?? [];
    if (!target || given.length === 0) return undefined;
    const seen: number[] = [];
    const path = resolve(target, seen);
    const name = target.type === 'selector_expression' ? text(childOf(target, 'field')) : '';
    if (runs.some((methods) => methods.test(name)) && !/^(?:os|fmt|strings)\./.test(path ?? ''))
      return { start: target.start, end: node.end, call: name, why: 'evaluates a string as code' };
    if (path === undefined || !launchers.test(path) || !handsShellText(wordsOf(given))) return undefined;
    return {
      start: target.start,
      end: node.end,
      also: seen,
      call: path,
      why: 'hands a command line to a shell',
    };
  }

  /** `exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", line}}`. */
  function literalHit(node: SyntaxNode): Hit | undefined {
    if (!/^\w+\.Cmd$/.test(text(childOf(node, 'type')))) return undefined;
    const entries = childOf(node, 'body')?.children ?? [];
    const list = entries.find((entry) => text(childOf(entry, 'key')) === 'Args');
    const value = list && behind(childOf(list, 'value'));
    if (!value || !handsShellText(wordsOf([value]))) return undefined;
    return { start: node.start, end: node.end, call: 'exec.Cmd', why: 'hands a command line to a shell' };
  }

  function wordsOf(given: readonly SyntaxNode[]): readonly (string | undefined)[] {
    return given.flatMap((argument) => {
      const value = behind(argument.type === 'variadic_argument' ? argument.children[0] : argument);
      if (value?.type === 'call_expression' && text(childOf(value, 'function')) === 'append')
        return wordsOf(childOf(value, 'arguments')?.children ?? []);
      if (value?.type === 'composite_literal')
        return childOf(value, 'body')?.children.map((item) => literal(behind(item))) ?? [];
      if (value?.type === 'call_expression' && /Getenv\(\s*"SHELL"\s*\)$/.test(text(value).slice(0, 80)))
        return ['sh'];
      return [literal(value)];
    });
  }
}
