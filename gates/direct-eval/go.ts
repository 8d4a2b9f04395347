/* Direct execution and unsafe settings in Go. */
import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { type NamingLanguage, readNames } from '../../readers/source/names/names.ts';
import { followPaths, mapPaths } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { Query } from '../../readers/source/query/query.ts';
import { callOf, collectHits, type Hit, hitOf, sastHit, why } from './hits.ts';
import { passesShellText } from './shell-command.ts';

/** How Go gives names. */
export const goNaming: NamingLanguage = {
  declarations: new Query(`
    [(function_declaration) (method_declaration) (func_literal) (block) (if_statement) (for_statement)
      (expression_switch_statement) (type_switch_statement) (expression_case) (communication_case)] @scope
    (identifier) @plain
    (import_spec name: (_)? @name path: (_) @module)
    (short_var_declaration left: (_) @names right: (_) @values)
    (assignment_statement left: (_) @names right: (_) @values (#set! in known))
    (range_clause left: (_) @names)
    (var_spec name: (_)* @name type: (_)? @type value: (_)? @values)
    (const_spec name: (_)* @name type: (_)? @type value: (_)? @values)
    (parameter_declaration name: (_)* @name type: (_) @type)
    (variadic_parameter_declaration name: (_)* @name type: (_) @type)
    (function_declaration name: (_) @name (#set! in file))`),
  expressions: new Query(`
    (parenthesized_expression . (_) @same)
    (literal_element . (_) @same)`),
  values: new Query('(selector_expression operand: (_) @object field: (_) @part)'),
};

/** The packages that are known by their last name where the imports are out of sight. */
const standard = ['os/exec', 'os', 'syscall'];

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

/** A shell that receives built text, or an embedded interpreter; `exec.Command(name, args…)` is neither. */
export function goHits(reading: Reading): readonly Hit[] {
  const { tree, text, literal } = reading;
  /** Paths of all imported packages. */
  const imports = new Set<string>();
  /** Packages with names that need no qualifier (`import . "os/exec"`). */
  const dotted: string[] = [];
  const names = readNames(reading, goNaming, (match, given) => {
    const alias = match.one('name');
    const path = literal(match.one('module'));
    if (path === undefined) return;
    imports.add(path);
    if (alias?.type === 'dot') dotted.push(path);
    else given.give(tree.root, alias ? text(alias) : nameOf(path), { path, at: match.node.start });
  });
  const knowsImports = reading.isWhole && tree.nodes.some(({ type }) => type === 'package_clause');
  const { ways } = followPaths(names, {
    free(name) {
      const offered = dotted.map((path) => `${path}.${name}`).find((path) => launchers.test(path));
      return offered ?? (knowsImports ? undefined : (standard.find((path) => path.endsWith(name)) ?? name));
    },
    part: (value, part, follow) => mapPaths(follow.ways(value), (base) => `${base}.${part}`),
  });
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

  function wordsOf(given: readonly SyntaxNode[]): readonly (string | undefined)[] {
    const said = (one: SyntaxNode | undefined) =>
      /Getenv\(\s*"SHELL"\s*\)$/.test(text(one).slice(0, 80)) ? 'sh' : literal(one);
    return names.wordsOf([...given, ...given.flatMap(appendedTo)], said);
  }

  /** `args = append(args, line)`. */
  function appendedTo(list: SyntaxNode): readonly SyntaxNode[] {
    const name = list.type === 'variadic_argument' ? list.children[0] : list;
    return (name ? names.bindingsOf(name) : []).flatMap(({ value }) =>
      isAppend(value) ? argumentsOf(value).filter((one) => text(one) !== text(name)) : [],
    );
  }

  function isAppend(value: SyntaxNode | undefined): boolean {
    return value?.type === 'call_expression' && text(childOf(value, 'function')) === 'append';
  }
}

/** What a package is called by default: `gopkg.in/robertkrimen/otto.v1` is `otto`, `a/b/v2` is `b`. */
function nameOf(path: string): string {
  const short = path.replace(/[/.]v\d+$/, '');
  return short.slice(short.lastIndexOf('/') + 1);
}
