import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { goNames } from '../../readers/source/names/go-names.ts';
import { originsOf } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { collectHits, type Hit } from './hit.ts';
import { handsShellText } from './shell-words.ts';

/** What starts a program from an argument list. */
const launchers =
  /^(?:os\/exec\.(?:Command|CommandContext)|syscall\.(?:Exec|ForkExec|StartProcess)|os\.StartProcess|golang\.org\/x\/sys\/unix\.Exec|golang\.org\/x\/sys\/execabs\.Command(?:Context)?)$/;
/** Interpreters: the import that brings one, and its functions and methods that run a text. */
const interpreters: readonly (readonly [module: RegExp, methods: RegExp])[] = [
  [/\/yaegi\/interp$/, /^(?:Eval|EvalWithContext|Compile)$/],
  [/\/goja$/, /^(?:RunString|RunScript|RunProgram|Compile|MustCompile)$/],
  [/\/otto(?:\.v\d+)?$/, /^(?:Run|Eval|Compile)$/],
  [/\/gopher-lua$/, /^(?:DoString|LoadString)$/],
  [/\/v8go$/, /^RunScript$/],
  [/\/starlark$/, /^(?:ExecFile|ExecFileOptions|Eval|EvalOptions)$/],
  [/^mvdan\.cc\/sh\/v\d+\/interp$/, /^Run$/],
];
const maxDepth = 16;

/**
 * Direct execution in Go: a shell that is handed a built text, or an embedded interpreter; `exec.Command(name, args…)`
 * is neither.
 */
export function goHits(reading: Reading): readonly Hit[] {
  const { tree, text, literal } = reading;
  const { names, imports, ways } = goNames(reading, (path) => launchers.test(path));
  const runs = interpreters.filter(([module]) => [...imports].some((path) => module.test(path)));
  return collectHits(tree, {
    call_expression: callHit,
    composite_literal: literalHit,
    assignment_statement: argsHit,
  });

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    const given = childOf(node, 'arguments')?.children.filter(({ type }) => type !== 'comment') ?? [];
    if (!target || given.length === 0) return undefined;
    const name = target.type === 'selector_expression' ? text(childOf(target, 'field')) : '';
    if (isInterpreter(target, name))
      return { start: target.start, end: node.end, call: name, why: 'evaluates a string as code' };
    const way = ways(target).find(({ path }) => launchers.test(path));
    if (!way || !handsShellText(wordsOf(given))) return undefined;
    return {
      start: target.start,
      end: node.end,
      also: originsOf(way),
      call: way.path,
      why: 'hands a command line to a shell',
    };
  }

  /** The interpreter's own function, a method of what it made, or of what nobody knows the type of. */
  function isInterpreter(target: SyntaxNode, name: string): boolean {
    const known = runs.filter(([, methods]) => methods.test(name));
    if (known.length === 0) return false;
    const owner = packageOf(childOf(target, 'operand'));
    return known.some(([module]) => owner === undefined || module.test(owner));
  }

  /** The package whose value an expression is, where that can be told. */
  function packageOf(node: SyntaxNode | undefined, depth = 0): string | undefined {
    if (!node || depth > maxDepth) return undefined;
    if (node.type === 'call_expression') {
      const target = childOf(node, 'function');
      return target?.type === 'selector_expression'
        ? packageOf(childOf(target, 'operand'), depth + 1)
        : undefined;
    }
    if (node.type === 'unary_expression') return packageOf(childOf(node, 'operand'), depth + 1);
    if (node.type === 'composite_literal') return typePackage(text(childOf(node, 'type')), node);
    if (node.type !== 'identifier') return undefined;
    for (const { path, type, value, pick } of names.find(text(node), node) ?? []) {
      // What the call of another package answers first is of that package, or hides no less.
      const maker = pick === '0' ? text(childOf(value, 'function')) : type;
      const found =
        path ?? (maker ? typePackage(maker, node) : pick ? undefined : packageOf(value, depth + 1));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  function typePackage(type: string, from: SyntaxNode): string | undefined {
    const name = /^[*&[\]]{0,4}(\w+)\./.exec(type)?.[1];
    return name && (names.find(name, from)?.find(({ path }) => path)?.path ?? name);
  }

  /** `cmd.Args = []string{"sh", "-c", line}`. */
  function argsHit(node: SyntaxNode): Hit | undefined {
    const left = childOf(node, 'left')?.children[0];
    const right = childOf(node, 'right')?.children[0];
    if (!right || text(childOf(left, 'field')) !== 'Args' || !handsShellText(wordsOf([right])))
      return undefined;
    return { start: node.start, end: node.end, call: 'exec.Cmd', why: 'hands a command line to a shell' };
  }

  /** `exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", line}}`. */
  function literalHit(node: SyntaxNode): Hit | undefined {
    if (!/^\w+\.Cmd$/.test(text(childOf(node, 'type')))) return undefined;
    const entries = childOf(node, 'body')?.children ?? [];
    const list = entries.find((entry) => text(childOf(entry, 'key')) === 'Args');
    const value = list && names.behind(childOf(list, 'value'));
    if (!value || !handsShellText(wordsOf([value]))) return undefined;
    return { start: node.start, end: node.end, call: 'exec.Cmd', why: 'hands a command line to a shell' };
  }

  function wordsOf(given: readonly SyntaxNode[], depth = 0): readonly (string | undefined)[] {
    if (depth > 4) return [undefined];
    return given.flatMap((argument) => {
      const value = names.behind(argument.type === 'variadic_argument' ? argument.children[0] : argument);
      if (value?.type === 'call_expression' && text(childOf(value, 'function')) === 'append')
        return wordsOf(childOf(value, 'arguments')?.children ?? [], depth + 1);
      const appended = appendedTo(argument.type === 'variadic_argument' ? argument.children[0] : argument);
      if (value?.type === 'composite_literal')
        return [
          ...(childOf(value, 'body')?.children.map((item) => literal(names.behind(item))) ?? []),
          ...wordsOf(appended, depth + 1),
        ];
      if (value?.type === 'call_expression' && /Getenv\(\s*"SHELL"\s*\)$/.test(text(value).slice(0, 80)))
        return ['sh'];
      return [literal(value)];
    });
  }

  /** `args = append(args, line)`. */
  function appendedTo(node: SyntaxNode | undefined): readonly SyntaxNode[] {
    if (node?.type !== 'identifier') return [];
    const name = text(node);
    return (names.find(name, node) ?? []).flatMap(({ value }) => {
      if (value?.type !== 'call_expression' || text(childOf(value, 'function')) !== 'append') return [];
      const [list, ...more] = childOf(value, 'arguments')?.children ?? [];
      return text(list) === name ? more.filter((one) => text(one) !== name) : [];
    });
  }
}
