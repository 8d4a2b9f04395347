/* Direct execution and unsafe settings in C#. */
import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { csharpNames, type Setting } from '../../readers/source/names/csharp-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { type CallRow, callOf, collectHits, type Hit, hitOf, returnsTrue, sastHit, why } from './hits.ts';
import { isShell, passesShellText, startsWithFlag } from './shell-command.ts';

const formatters =
  /^(?:BinaryFormatter|NetDataContractSerializer|SoapFormatter|LosFormatter|ObjectStateFormatter)$/;
const callbacks = /^(?:ServerCertificate(?:Custom)?ValidationCallback|RemoteCertificateValidationCallback)$/;
const maxDepth = 12;

/** Libraries that run a text, by the namespace that brings them, the type and its methods. */
const engines: readonly (readonly [space: RegExp, type: RegExp, methods: RegExp])[] = [
  [/^Jint(?:\.|$)/, /^Engine$/, /\.(?:Execute|Evaluate)$/],
  [/^Microsoft\.ClearScript/, /ScriptEngine$/, /\.(?:Execute|Evaluate|ExecuteCommand|Compile)$/],
  [
    /^(?:IronPython|IronRuby|Microsoft\.Scripting)/,
    /^ScriptEngine$/,
    /\.(?:Execute|ExecuteAndWrap|CreateScriptSourceFromString)$/,
  ],
  [/^MoonSharp\./, /^Script$/, /\.(?:RunString|DoString|LoadString)$/],
  [/^(?:NLua|KeraLua)/, /^Lua$/, /\.(?:DoString|LoadString)$/],
  [/^System\.Management\.Automation/, /^ScriptBlock$/, /\.Create$/],
  [/^System\.Management\.Automation/, /^Runspace$/, /\.CreatePipeline$/],
  [/^System\.Linq\.Dynamic/, /^DynamicExpressionParser$/, /\.Parse\w*$/],
  [/^Microsoft\.JScript/, /^Eval$/, /\.JScriptEvaluate$/],
];

/**
 * Finds direct execution in C#. A program with arguments is not a hit, however the arguments are built, unless the
 * program is a shell that runs a text.
 */
export function csharpHits(reading: Reading): readonly Hit[] {
  const { tree, text, literal, opening } = reading;
  const names = csharpNames(reading);
  const { behind, ways } = names;
  const isLiteral = (one: SyntaxNode | undefined) => literal(behind(one)) !== undefined;
  const rows: readonly CallRow[] = [
    [/^(?:CSharpScript|VisualBasicScript)\.(?:EvaluateAsync|RunAsync|Create)$/, why.code],
    [/\.CompileAssemblyFromSource(?:Batch)?$/, why.code, ({ given }) => given.length > 1],
    // Of PowerShell and of whatever hosts it.
    [/\.(?:AddScript|InvokeScript)$/, why.code, ({ given: [first] }) => first && !isLiteral(first)],
    [/\.AddCommand$/, why.code, ({ given }) => /^(?:Invoke-Expression|iex)$/i.test(literal(given[0]) ?? '')],
    [/^Process\.Start$/, why.handed, ({ given: [program, line] }) => isShellLine(program, line)],
    ...engines.map(
      ([space, type, methods]): CallRow => [
        methods,
        why.code,
        // An expression that is written down is part of the program.
        ({ target, given }, { path }) =>
          given.length > 0 &&
          isEngine(target, path, space, type) &&
          !(/\.Parse/.test(path) && given.some(isLiteral)),
      ],
    ),
  ];
  /** Settings that are already reported at the creation of their object. */
  const reported = new Set<readonly Setting[]>();
  const hits = collectHits(tree, {
    invocation_expression: (node) => callHit(node) ?? deserializes(node),
    object_creation_expression: (node) => infoHit(node) ?? trustsAny(node),
    implicit_object_creation_expression: infoHit,
    assignment_expression(node) {
      const name = callbackOf(node);
      return name && takesAny(childOf(node, 'right'))
        ? sastHit('sast/csharp-tls-unverified', node, name)
        : undefined;
    },
  });
  const later = [...names.settings.values()].filter((list) => !reported.has(list));
  return [...hits, ...later.flatMap((list) => settingHit(list) ?? [])];

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    const path = target && names.pathOf(target);
    const hit = path && hitOf(rows, callOf(node, target), [{ path }]);
    if (!hit) return undefined;
    const isNamed = /^(?:Process|\w+Script)\./.test(path);
    const call = isNamed ? path : path.slice(path.lastIndexOf('.') + 1);
    return { ...hit, call, also: [childOf(target, 'name')?.start ?? target.start] };
  }

  function deserializes(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    const word = target?.type === 'member_access_expression' ? text(childOf(target, 'name')) : '';
    if (!/^(?:Unsafe)?Deserialize(?:MethodResponse)?$/.test(word)) return undefined;
    const type = names.typesOf(childOf(target, 'expression')).find((one) => formatters.test(one));
    return type === undefined
      ? undefined
      : sastHit('sast/csharp-unsafe-deserialization', node, `${type}.${word}`);
  }

  /** `new SslStream(stream, false, (a, b, c, d) => true)`; of what is assigned, the assignment is the place. */
  function trustsAny(node: SyntaxNode): Hit | undefined {
    const type = names.simple(childOf(node, 'type'));
    const place = type === 'SslStream' ? 2 : type === 'RemoteCertificateValidationCallback' ? 0 : undefined;
    return place !== undefined && takesAny(argumentsOf(node)[place]) && !callbackOf(node.parent)
      ? sastHit('sast/csharp-tls-unverified', node, type)
      : undefined;
  }

  /** The callback that an assignment sets. */
  function callbackOf(node: SyntaxNode | undefined): string | undefined {
    const left = node?.type === 'assignment_expression' ? childOf(node, 'left') : undefined;
    const name = text(left?.type === 'member_access_expression' ? childOf(left, 'name') : left);
    return callbacks.test(name) ? name : undefined;
  }

  function takesAny(node: SyntaxNode | undefined, depth = 0): boolean {
    if (!node || depth > maxDepth) return false;
    switch (node.type) {
      case 'lambda_expression':
        return returnsTrue(text, childOf(node, 'body'));
      case 'anonymous_method_expression':
        return returnsTrue(
          text,
          node.children.find(({ type }) => type === 'block'),
        );
      case 'object_creation_expression':
        return takesAny(argumentsOf(node)[0], depth + 1);
      case 'member_access_expression': {
        const name = text(childOf(node, 'name'));
        return (
          name === 'DangerousAcceptAnyServerCertificateValidator' ||
          returnsTrue(text, childOf(names.methods.get(name), 'body'))
        );
      }
      case 'identifier': {
        const value = behind(node);
        return value !== node
          ? takesAny(value, depth + 1)
          : returnsTrue(text, childOf(names.methods.get(text(node)), 'body'));
      }
    }
    return false;
  }

  /** Whether a method is called on what a library makes that runs a text. */
  function isEngine(target: SyntaxNode, path: string, space: RegExp, types: RegExp): boolean {
    const object = childOf(target, 'expression') ?? childOf(target, 'condition');
    const type = names.typeOf(object) || path.slice(0, path.lastIndexOf('.'));
    const written = text(childOf(object, 'type') ?? object);
    return types.test(type) && [written, ...names.usings].some((using) => space.test(using));
  }

  /** A shell by name or path, from the environment, or put together from a directory. */
  function isShellProgram(node: SyntaxNode | undefined): boolean {
    return ways(node).some((one) => {
      if (one.type !== 'invocation_expression') return isShell(literal(one));
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
      if (items) return passesShellText(['sh', ...items.map((item) => literal(behind(item)))]);
      return literal(value) === undefined && (startsWithFlag(`${opening(value)} `) || !reading.isText(value));
    });
  }

  function itemsOf(value: SyntaxNode): readonly SyntaxNode[] | undefined {
    // `["-c", line]` is a binding of an element without an object for the grammar.
    if (value.type === 'element_binding_expression')
      return value.children.map((child) => child.children[0] ?? child);
    if (!/^(?:implicit_)?array_creation_expression$/.test(value.type)) return undefined;
    return value.children.flatMap((child) => (child.type === 'initializer_expression' ? child.children : []));
  }

  /** `new ProcessStartInfo("cmd.exe", …) { … }`, also filled in afterwards. */
  function infoHit(node: SyntaxNode): Hit | undefined {
    const type = names.typeOf(node);
    if (type !== 'ProcessStartInfo' && type !== 'Process') return undefined;
    const place = names.targetOf(node);
    const later = names.settings.get(place ?? '') ?? [];
    const all: Setting[] = argumentsOf(node)
      .slice(0, 2)
      .map((value, at) => ({ property: at === 0 ? 'FileName' : 'Arguments', value }));
    readInitializer(
      node.children.find(({ type: kind }) => kind === 'initializer_expression'),
      all,
    );
    reported.add(later);
    const also = handsOn([...all, ...later]);
    return also && { start: node.start, end: node.end, also, call: type, why: why.handed };
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
    if (!also || !first) return undefined;
    const target = childOf(first.parent, 'left');
    const object = childOf(target, 'expression');
    const type = names.typeOf(object?.type === 'member_access_expression' ? object.children[0] : object);
    if (!/^(?:ProcessStartInfo|Process|)$/.test(type)) return undefined;
    return {
      start: (target ?? first).start,
      end: first.end,
      also,
      call: 'ProcessStartInfo',
      why: why.handed,
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
      if (!/^Argument(?:s|List)$/.test(property)) continue;
      const beside = programs.filter((one) => blockOf(one.value) === blockOf(value));
      const program = (beside.length > 0 ? beside : programs).find((one) => isShellLine(one.value, value));
      if (program) return [program.value.start, value.start];
    }
    const program = programs.find(({ value }) => isShellProgram(value));
    const words = added.map(({ value }) => literal(behind(value)));
    return program && passesShellText(['sh', ...words])
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
