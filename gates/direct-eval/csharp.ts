import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { csharpNames, type Setting } from '../../readers/source/names/csharp-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import type { Hit } from './hit.ts';
import { handsShellText, isShell, startsWithFlag } from './shell-words.ts';

const scripts = /^(?:CSharpScript|VisualBasicScript)\.(?:EvaluateAsync|RunAsync|Create)$/;
const compilers = /^CompileAssemblyFromSource(?:Batch)?$/;
/** Of PowerShell and of whatever hosts it. */
const powershell = /^(?:AddScript|InvokeScript)$/;
/** Libraries that run a text, by the namespace that brings them, the type and its methods. */
const engines: readonly (readonly [space: RegExp, type: RegExp, methods: RegExp])[] = [
  [/^Jint(?:\.|$)/, /^Engine$/, /^(?:Execute|Evaluate)$/],
  [/^Microsoft\.ClearScript/, /ScriptEngine$/, /^(?:Execute|Evaluate|ExecuteCommand|Compile)$/],
  [
    /^(?:IronPython|IronRuby|Microsoft\.Scripting)/,
    /^ScriptEngine$/,
    /^(?:Execute|ExecuteAndWrap|CreateScriptSourceFromString)$/,
  ],
  [/^MoonSharp\./, /^Script$/, /^(?:RunString|DoString|LoadString)$/],
  [/^(?:NLua|KeraLua)/, /^Lua$/, /^(?:DoString|LoadString)$/],
  [/^System\.Management\.Automation/, /^ScriptBlock$/, /^Create$/],
  [/^System\.Management\.Automation/, /^Runspace$/, /^CreatePipeline$/],
  [/^System\.Linq\.Dynamic/, /^DynamicExpressionParser$/, /^Parse/],
  [/^Microsoft\.JScript/, /^Eval$/, /^JScriptEvaluate$/],
];
const why = { code: 'evaluates a string as code', shell: 'hands a command line to a shell' };

/**
 * Direct execution in C#. A program with arguments is none, however they are built, unless the program is a shell told
 * to run a text.
 */
export function csharpHits(reading: Reading): readonly Hit[] {
  const { tree, text, literal, opening } = reading;
  const names = csharpNames(reading);
  const { argumentsOf, behind, ways } = names;
  const hits: Hit[] = [];
  /** What was set on objects whose making is seen, told of there. */
  const told = new Set<readonly Setting[]>();
  for (const node of tree.nodes) {
    const hit =
      node.type === 'invocation_expression'
        ? callHit(node)
        : node.type.endsWith('object_creation_expression')
          ? infoHit(node)
          : undefined;
    if (hit) hits.push(hit);
  }
  for (const group of names.settings.values())
    for (const list of group.values()) {
      const hit = told.has(list) ? undefined : settingHit(list);
      if (hit) hits.push(hit);
    }
  return hits;

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    const given = argumentsOf(node);
    if (!target || given.length === 0) return undefined;
    const path = names.pathOf(target);
    const name = path.slice(path.lastIndexOf('.') + 1);
    const hit = (call: string, reason: string): Hit => ({
      start: target.start,
      end: node.end,
      also: [childOf(target, 'name')?.start ?? target.start],
      call,
      why: reason,
    });
    if (scripts.test(path)) return hit(path, why.code);
    const isMember = target.type !== 'identifier' && target.type !== 'generic_name';
    const isLiteral = (one: SyntaxNode | undefined) => literal(behind(one)) !== undefined;
    if (isMember && compilers.test(name) && given.length > 1) return hit(name, why.code);
    if (isMember && powershell.test(name) && !isLiteral(given[0])) return hit(name, why.code);
    if (isMember && name === 'AddCommand' && /^(?:Invoke-Expression|iex)$/i.test(literal(given[0]) ?? ''))
      return hit(name, why.code);
    // An expression that is written down is part of the program.
    if (isMember && isEngine(target, path, name) && !(/^Parse/.test(name) && given.some(isLiteral)))
      return hit(name, why.code);
    if (path !== 'Process.Start') return undefined;
    const [program, line] = given;
    return isShellLine(program, line) ? hit(path, why.shell) : undefined;
  }

  function isEngine(target: SyntaxNode, path: string, name: string): boolean {
    const known = engines.filter(([, , methods]) => methods.test(name));
    if (known.length === 0) return false;
    const object = childOf(target, 'expression') ?? childOf(target, 'condition');
    const type = names.typeOf(object) || path.slice(0, -name.length - 1);
    const written = text(object?.type === 'object_creation_expression' ? childOf(object, 'type') : object);
    return known.some(
      ([space, types]) =>
        types.test(type) && (space.test(written) || names.usings.some((using) => space.test(using))),
    );
  }

  /** A shell by name or path, from the environment, or put together from a directory. */
  function isShellProgram(node: SyntaxNode | undefined): boolean {
    return ways(node).some((one) => {
      const said = literal(one);
      if (said !== undefined || one.type !== 'invocation_expression') return isShell(said);
      const called = text(childOf(one, 'function'));
      const given = argumentsOf(one);
      if (/(?:^|\.)GetEnvironmentVariable$/.test(called))
        return /^(?:ComSpec|SHELL)$/i.test(literal(given[0]) ?? '');
      return /(?:^|\.)Path\.Combine$/.test(called) && isShell(literal(given.at(-1)));
    });
  }

  /** A shell, and a command line that starts with its flag for text and is built, or that is out of sight. */
  function isShellLine(program: SyntaxNode | undefined, line: SyntaxNode | undefined): boolean {
    if (!program || !line || !isShellProgram(program)) return false;
    return ways(line).some((value) => {
      const items = itemsOf(value);
      if (items) return handsShellText(['sh', ...items.map((item) => literal(behind(item)))]);
      return literal(value) === undefined && (startsWithFlag(`${opening(value)} `) || !reading.isText(value));
    });
  }

  function itemsOf(value: SyntaxNode): readonly SyntaxNode[] | undefined {
    if (value.type === 'element_binding_expression' || value.type === 'collection_expression')
      return value.children.map((child) => child.children[0] ?? child);
    if (!/^(?:implicit_)?array_creation_expression$/.test(value.type)) return undefined;
    return value.children.flatMap((child) => (child.type === 'initializer_expression' ? child.children : []));
  }

  /** `new ProcessStartInfo("cmd.exe", …) { … }`, also filled in afterwards. */
  function infoHit(node: SyntaxNode): Hit | undefined {
    const type = names.typeOf(node);
    if (type !== 'ProcessStartInfo' && type !== 'Process') return undefined;
    const place = names.targetOf(node);
    const later = (place && names.settings.get(place.owner)?.get(place.name)) ?? [];
    const given = argumentsOf(node);
    const [program, line] = given;
    const all: Setting[] = [
      ...(program ? [{ property: 'FileName', value: program }] : []),
      ...(line ? [{ property: 'Arguments', value: line }] : []),
    ];
    readInitializer(
      childOf(node, 'initializer') ??
        node.children.find(({ type: kind }) => kind === 'initializer_expression'),
      all,
    );
    told.add(later);
    const also = handsOn([...all, ...later]);
    return also && { start: node.start, end: node.end, also, call: type, why: why.shell };
  }

  function readInitializer(node: SyntaxNode | undefined, all: Setting[]): void {
    for (const one of node?.children ?? []) {
      const value = childOf(one, 'right');
      if (!value) continue;
      const property = text(childOf(one, 'left'));
      if (property === 'StartInfo') readInitializer(value, all);
      else if (property === 'ArgumentList' && value.type === 'initializer_expression')
        for (const item of value.children) all.push({ property: 'ArgumentList.Add', value: item });
      else all.push({ property, value });
    }
  }

  /** Set on what came from elsewhere: a parameter, a field of another file. */
  function settingHit(list: readonly Setting[]): Hit | undefined {
    const also = handsOn(list);
    const first = list.find(({ property }) => /^Argument/.test(property))?.value;
    const target =
      first?.parent?.type === 'assignment_expression' ? childOf(first.parent, 'left') : undefined;
    const object = childOf(target, 'expression');
    const type = names.typeOf(object?.type === 'member_access_expression' ? object.children[0] : object);
    if (!also || !first || !/^(?:ProcessStartInfo|Process|)$/.test(type)) return undefined;
    return {
      start: (target ?? first).start,
      end: first.end,
      also,
      call: 'ProcessStartInfo',
      why: why.shell,
    };
  }

  /**
   * Where settings make a shell run a text that is built: the offsets that do. A line belongs to the program that is
   * set beside it.
   */
  function handsOn(list: readonly Setting[]): readonly number[] | undefined {
    const programs = list.filter(({ property }) => property === 'FileName');
    const added = list.filter(({ property }) => property === 'ArgumentList.Add');
    for (const { property, value } of list) {
      if (property !== 'Arguments' && property !== 'ArgumentList') continue;
      const beside = programs.filter((one) => blockOf(one.value) === blockOf(value));
      const program = (beside.length > 0 ? beside : programs).find((one) => isShellLine(one.value, value));
      if (program) return [program.value.start, value.start];
    }
    const program = programs.find(({ value }) => isShellProgram(value));
    const words = added.map(({ value }) => literal(behind(value)));
    return program && handsShellText(['sh', ...words])
      ? [program.value.start, ...added.map(({ value }) => value.start)]
      : undefined;
  }

  function blockOf(node: SyntaxNode): SyntaxNode {
    let at = node;
    while (at.parent && !/^(?:block|initializer_expression|argument_list|compilation_unit)$/.test(at.type))
      at = at.parent;
    return at;
  }
}
