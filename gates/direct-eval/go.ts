/* Direct execution and unsafe settings in Go. */
import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { goNames } from '../../readers/source/names/go-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { callOf, collectHits, type Hit, hitOf, sastHit, why } from './hits.ts';
import { passesShellText } from './shell-command.ts';

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
const maxDepth = 8;
const ownVerification = /^Verify(?:PeerCertificate|Connection)$/;
const setting = 'InsecureSkipVerify';

/**
 * Finds direct execution in Go: a shell that receives text built at run time, or an embedded interpreter.
 * `exec.Command(name, args…)` is neither.
 */
export function goHits(reading: Reading): readonly Hit[] {
  const { tree, text, literal } = reading;
  const { names, imports, ways } = goNames(reading, (path) => launchers.test(path));
  const runs = interpreters.filter(([module]) => [...imports].some((path) => module.test(path)));
  return collectHits(tree, {
    call_expression: (node) => {
      const target = childOf(node, 'function');
      const call = target && callOf(node, target);
      if (!call || call.given.length === 0) return undefined;
      const name = text(childOf(target, 'field'));
      const owner = packageOf(childOf(target, 'operand'));
      const isInterpreter = runs.some(
        ([module, methods]) => methods.test(name) && (owner === undefined || module.test(owner)),
      );
      return isInterpreter
        ? { start: target.start, end: node.end, call: name, why: why.code }
        : hitOf(
            [[launchers, why.handed, ({ given }) => passesShellText(wordsOf(given))]],
            call,
            ways(target),
          );
    },
    // `cmd.Args = []string{"sh", "-c", line}`.
    assignment_statement: (node) =>
      text(childOf(childOf(node, 'left')?.children[0], 'field')) === 'Args'
        ? commandHit(node, childOf(node, 'right')?.children[0])
        : settingHit(node),
    // `exec.Cmd{Path: "/bin/sh", Args: []string{"sh", "-c", line}}`.
    composite_literal: (node) =>
      /^\w+\.Cmd$/.test(text(childOf(node, 'type')))
        ? commandHit(
            node,
            childOf(
              childOf(node, 'body')?.children.find((entry) => text(childOf(entry, 'key')) === 'Args'),
              'value',
            ),
          )
        : undefined,
    keyed_element(node) {
      if (text(childOf(node, 'key')) !== setting || !isTrue(childOf(node, 'value'))) return undefined;
      const isOwn = node.parent?.children.some((one) => ownVerification.test(text(childOf(one, 'key'))));
      return isOwn ? undefined : sastHit('sast/go-tls-unverified', node, `${setting}: true`);
    },
    selector_expression(node) {
      if (text(childOf(node, 'field')) !== 'InsecureIgnoreHostKey') return undefined;
      const isSsh = ways(childOf(node, 'operand')).some(
        ({ path }) => path === 'golang.org/x/crypto/ssh' || (path === 'ssh' && !reading.isWhole),
      );
      return isSsh ? sastHit('sast/go-ssh-host-key', node, 'ssh.InsecureIgnoreHostKey') : undefined;
    },
  });

  function settingHit(node: SyntaxNode): Hit | undefined {
    const index = childOf(node, 'left')?.children.findIndex((one) => text(childOf(one, 'field')) === setting);
    return index !== undefined && isTrue(childOf(node, 'right')?.children[index])
      ? sastHit('sast/go-tls-unverified', node, `${setting} = true`)
      : undefined;
  }

  /** Written so, or the only value of a name. */
  function isTrue(node: SyntaxNode | undefined): boolean {
    const inner = names.same(node);
    const given = inner ? names.bindingsOf(inner) : [];
    return (given.length === 1 ? given[0]?.value : inner)?.type === 'true';
  }

  function commandHit({ start, end }: SyntaxNode, words: SyntaxNode | undefined): Hit | undefined {
    if (!words || !passesShellText(wordsOf([words]))) return undefined;
    return { start, end, call: 'exec.Cmd', why: why.handed };
  }

  /** The package that an expression's value comes from, if the file shows it. */
  function packageOf(node: SyntaxNode | undefined, depth = 0): string | undefined {
    if (node?.type !== 'identifier' || depth > maxDepth) return undefined;
    for (const { path, type, value, pick } of names.find(text(node), node) ?? []) {
      // What a function of another package returns is of that package.
      const maker = pick === '0' ? text(childOf(value, 'function')) : type;
      const holder = /^[*&[\]]{0,4}(\w+)\./.exec(maker ?? '')?.[1];
      const found = path ?? (holder ? (names.find(holder, node)?.[0]?.path ?? holder) : undefined);
      if (found !== undefined) return found;
      if (pick === undefined) return packageOf(value, depth + 1);
    }
    return undefined;
  }

  function wordsOf(given: readonly SyntaxNode[], depth = 0): readonly (string | undefined)[] {
    if (depth > maxDepth) return [undefined];
    return given.flatMap((argument) => {
      const written = argument.type === 'variadic_argument' ? argument.children[0] : argument;
      const value = names.behind(written);
      if (isAppend(value)) return wordsOf(argumentsOf(value), depth + 1);
      if (value?.type === 'composite_literal')
        return [
          ...(childOf(value, 'body')?.children.map((item) => literal(names.behind(item))) ?? []),
          ...wordsOf(appendedTo(written), depth + 1),
        ];
      return [/Getenv\(\s*"SHELL"\s*\)$/.test(text(value).slice(0, 80)) ? 'sh' : literal(value)];
    });
  }

  /** `args = append(args, line)`. */
  function appendedTo(list: SyntaxNode | undefined): readonly SyntaxNode[] {
    const given = list?.type === 'identifier' ? names.find(text(list), list) : undefined;
    return (given ?? []).flatMap(({ value }) =>
      isAppend(value) ? argumentsOf(value).filter((one) => text(one) !== text(list)) : [],
    );
  }

  function isAppend(value: SyntaxNode | undefined): boolean {
    return value?.type === 'call_expression' && text(childOf(value, 'function')) === 'append';
  }
}
