/* Direct execution and unsafe settings in C#. */
import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { type TypedLanguage, typedNames } from '../../readers/source/names/typed-names.ts';
import { type Match, Query } from '../../readers/source/query/query.ts';
import { type CallRow, callOf, collectHits, type Hit, hitOf, returnsTrue, sastHit, why } from './hits.ts';
import { isShell, passesShellText, startsWithFlag } from './shell-command.ts';

/** How C# gives names. */
export const csharpNaming: TypedLanguage = {
  declarations: new Query(`
    [(class_declaration) (struct_declaration) (record_declaration) (interface_declaration) (enum_declaration)]
      @scope @scope.class
    [(method_declaration) (constructor_declaration) (accessor_declaration)] @scope @scope.function
    [(local_function_statement) (lambda_expression) (anonymous_method_expression) (block) (for_statement)
      (foreach_statement) (using_statement) (catch_clause)] @scope
    (identifier) @plain
    (using_directive (_) @import .)
    (using_directive name: (_) @alias (_) @real)
    [(class_declaration name: (_) @own) (struct_declaration name: (_) @own) (record_declaration name: (_) @own)
      (interface_declaration name: (_) @own) (enum_declaration name: (_) @own)]
    [(method_declaration name: (_) @method) (local_function_statement name: (_) @method)]
    (variable_declaration type: (_) @type (variable_declarator name: (_) @name (_)? @value .))
    (property_declaration type: (_) @type name: (_) @name value: (_)? @value)
    (parameter type: (_)? @type name: (_) @name)
    (foreach_statement left: (identifier) @name) @in
    (assignment_expression left: (identifier) @name right: (_) @value (#set! in known))
    (assignment_expression
      left: (member_access_expression expression: (_) @object name: (_) @property) right: (_) @set)
    (invocation_expression
      function: (member_access_expression
        expression: (member_access_expression expression: (_) @object name: (_) @list) name: (_) @add)
      arguments: (argument_list . (argument (_) @set .))
      (#match? @list "^ArgumentList$") (#match? @add "^Add$"))`),
  expressions: new Query(`
    (parenthesized_expression . (_) @same)
    (cast_expression type: (_) @type)
    ; this.name
    (member_access_expression . name: (_) @own)`),
  values: new Query('(conditional_expression . (_) (_) @choice (_) @choice)'),
  calls: new Query(`
    (invocation_expression
      function: [(identifier) @name (member_access_expression expression: (_) @object name: (_) @name)])
    (object_creation_expression type: (_) @made)`),
};
const told = /^(?:FileName|Arguments|ArgumentList(?:\.Add)?)$/;
/** Limit for one object; a program is configured once. */
const maxSettings = 50;
/** A longer text is not a name. */
const maxName = 200;

/** `info.Arguments = line` and `info.ArgumentList.Add(line)`, without the last name. */
interface Setting {
  readonly property: string;
  readonly value: SyntaxNode;
}

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

/** A program with arguments is no hit, unless it is a shell that runs a built text. */
export function csharpHits(reading: Reading): readonly Hit[] {
  const { tree, text, literal, opening } = reading;
  const statics: string[] = [];
  const ownTypes = new Set<string>();
  /** Methods and local functions by name; `undefined` where two share one. */
  const methods = new Map<string, SyntaxNode | undefined>();
  /** What was set on the object at a place, in order. */
  const settings = new Map<string, Setting[]>();
  const sets: Match[] = [];
  const typed = typedNames(reading, csharpNaming, (match) => {
    const method = match.one('method');
    const own = match.one('own');
    if (method) methods.set(text(method), methods.has(text(method)) ? undefined : match.node);
    if (match.one('set')) sets.push(match);
    if (own) ownTypes.add(text(own));
    if (/^(?:global\s+)?using\s+static\b/.test(text(match.node).slice(0, maxName)))
      statics.push(text(match.one('import')).replace(/\s/g, ''));
  });
  const { names, simple } = typed;
  // What is assigned comes before what is added.
  for (const match of sets) if (!match.one('list')) keep(match, text(match.one('property')));
  for (const match of sets) if (match.one('list')) keep(match, 'ArgumentList.Add');
  const isLiteral = (one: SyntaxNode | undefined) => literal(names.behind(one)) !== undefined;
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
  const later = [...settings.values()].filter((list) => !reported.has(list));
  return [...hits, ...later.flatMap((list) => settingHit(list) ?? [])];

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    const path = target && pathOf(target);
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
    const type = typed.typesOf(childOf(target, 'expression')).find((one) => formatters.test(one));
    return type === undefined
      ? undefined
      : sastHit('sast/csharp-unsafe-deserialization', node, `${type}.${word}`);
  }

  /** `new SslStream(stream, false, (a, b, c, d) => true)`; of what is assigned, the assignment is the place. */
  function trustsAny(node: SyntaxNode): Hit | undefined {
    const type = simple(childOf(node, 'type'));
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
          returnsTrue(text, childOf(methods.get(name), 'body'))
        );
      }
      case 'identifier': {
        const value = names.behind(node);
        return value !== node
          ? takesAny(value, depth + 1)
          : returnsTrue(text, childOf(methods.get(text(node)), 'body'));
      }
    }
    return false;
  }

  /** Whether a method is called on what a library makes that runs a text. */
  function isEngine(target: SyntaxNode, path: string, space: RegExp, types: RegExp): boolean {
    const object = childOf(target, 'expression') ?? childOf(target, 'condition');
    const type = typeOf(object) || path.slice(0, path.lastIndexOf('.'));
    const written = text(childOf(object, 'type') ?? object);
    return types.test(type) && [written, ...typed.imports].some((using) => space.test(using));
  }

  /** A shell by name or path, from the environment, or put together from a directory. */
  function isShellProgram(node: SyntaxNode | undefined): boolean {
    return names.valuesOf(node).some((one) => {
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
    return names.valuesOf(line).some((value) => {
      if (names.itemsOf(value)) return passesShellText(['sh', ...names.wordsOf([value])]);
      return literal(value) === undefined && (startsWithFlag(`${opening(value)} `) || !reading.isText(value));
    });
  }

  /** `new ProcessStartInfo("cmd.exe", …) { … }`, also filled in afterwards. */
  function infoHit(node: SyntaxNode): Hit | undefined {
    const type = typeOf(node);
    if (type !== 'ProcessStartInfo' && type !== 'Process') return undefined;
    const place = targetOf(node);
    const later = settings.get(place ?? '') ?? [];
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
    const type = typeOf(object?.type === 'member_access_expression' ? object.children[0] : object);
    if (!/^(?:ProcessStartInfo|Process|)$/.test(type)) return undefined;
    return {
      start: (target ?? first).start,
      end: first.end,
      also,
      call: 'ProcessStartInfo',
      why: why.handed,
    };
  }

  /** The offsets of settings that make a shell run a built text. A line belongs to the program set beside it. */
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
    const words = added.map(({ value }) => literal(names.behind(value)));
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

  /** What `new()` makes. */
  function declaredType(node: SyntaxNode | undefined): string | undefined {
    if (node?.type !== 'implicit_object_creation_expression') return undefined;
    const target = node.parent;
    const declared = target?.type === 'property_declaration' ? target : target?.parent;
    const left = childOf(target, 'left');
    return left ? typed.typeOf(left) : simple(childOf(declared, 'type'));
  }

  function keep(match: Match, property: string): void {
    const target = match.one('object');
    const value = match.one('set');
    const place = target && told.test(property) ? placeOf(target) : undefined;
    if (place === undefined || !value) return;
    const list = settings.get(place) ?? [];
    settings.set(place, list);
    if (list.length < maxSettings) list.push({ property, value });
  }

  /** A name with what declares it; a process and its `process.StartInfo` are one. */
  function placeOf(target: SyntaxNode): string | undefined {
    if (target.end - target.start > maxName) return undefined;
    const name = text(target)
      .replace(/\s/g, '')
      .replace(/^this\./, '')
      .replace(/\.StartInfo$/, '');
    const first = /^\w*/.exec(name)?.[0] ?? '';
    const { start, end } = names.ownerOf(first, target) ?? names.scopeOf(target, 'scope.function');
    return `${start} ${end} ${name}`;
  }

  /** The place that an assignment or declaration gives a value to. */
  function targetOf({ parent, field }: SyntaxNode): string | undefined {
    const isAssigned = parent?.type === 'assignment_expression' && field === 'right';
    const isDeclared = /^(?:variable_declarator|property_declaration)$/.test(parent?.type ?? '');
    const target = isAssigned ? childOf(parent, 'left') : isDeclared ? childOf(parent, 'name') : undefined;
    return target && placeOf(target);
  }

  /** Type and method of what is called: `Process.Start`; `.Start` where the type is not known. */
  function pathOf(target: SyntaxNode): string {
    if (target.type === 'conditional_access_expression')
      return `.${bare(childOf(target.children.at(-1), 'name'))}`;
    if (target.type !== 'member_access_expression') {
      const name = bare(target);
      if (names.find(name, target)) return '';
      const holder = statics.find((path) => /(?:^|\.)(?:Process|\w+Script)$/.test(path));
      return holder ? `${holder.slice(holder.lastIndexOf('.') + 1)}.${name}` : '';
    }
    const object = childOf(target, 'expression');
    const name = bare(childOf(target, 'name'));
    if (!object) return '';
    if (object.type === 'identifier' && names.find(text(object), object)) return `.${name}`;
    const type = simple(object);
    return ownTypes.has(type) ? `.${name}` : `${type}.${name}`;
  }

  function bare(node: SyntaxNode | undefined): string {
    return text(node?.type === 'generic_name' ? node.children[0] : node);
  }

  /** The first of its types; `''` where the file does not show it. */
  function typeOf(node: SyntaxNode | undefined): string {
    return declaredType(node) ?? typed.typeOf(node) ?? '';
  }
}
