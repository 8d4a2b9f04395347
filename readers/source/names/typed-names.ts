/* Resolves names in languages with typed declarations. */
import type { SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Match, Query } from '../query/query.ts';
import type { Binding, NamingLanguage } from './names.ts';
import { readNames } from './names.ts';
import type { Reading } from './reading.ts';

/** How a language with typed names binds names and expresses calls. */
export interface TypedLanguage extends NamingLanguage {
  /** `@name` of `@object` is called with each `@given`; `@made` is constructed; `@reference` is passed on. */
  readonly calls: Query;
  /** The type of a name that the file does not define; `isAlone`: the file defines no function. */
  readonly free?: (name: string, isAlone: boolean) => string;
}

/** A call, or a method of an object that is passed as a value. */
export interface TypedCall {
  readonly node: SyntaxNode;
  readonly object: SyntaxNode | undefined;
  /** The method; of `new A(…)`, the type. */
  readonly name: SyntaxNode;
  readonly given: readonly SyntaxNode[];
  readonly kind: 'call' | 'new' | 'reference';
}

const makers =
  /^(?:[cC]reate|builder|newBuilder|build|enter|newInstance|option|options|allowAllAccess|allowIO)$/;
const made: Readonly<Record<string, string>> = {
  getRuntime: 'Runtime',
  getSystemJavaCompiler: 'JavaCompiler',
  getEngineByName: 'ScriptEngine',
  getEngineByExtension: 'ScriptEngine',
  getEngineByMimeType: 'ScriptEngine',
  getScriptEngine: 'ScriptEngine',
  mkToolBox: 'ToolBox',
  CreateEngine: 'ScriptEngine',
};

/** Of one question. */
const maxSteps = 200;
/** A longer text is not a name. */
const maxName = 200;
const scopeFunctions = /^(?:let|also|use)$/;

export type TypedNames = ReturnType<typeof typedNames>;

/** Resolves the names of a file; `other` receives the remaining matches of a language's declarations. */
export function typedNames(
  reading: Reading,
  language: TypedLanguage,
  other: (match: Match) => void = () => {},
) {
  const { text } = reading;
  const imports: string[] = [];
  /** Functions and, in Scala, classes that the file defines. */
  const own = new Set<string>();
  const aliases = new Map<string, string>();
  const additions: { readonly list: SyntaxNode; readonly given: readonly SyntaxNode[] }[] = [];
  const names = readNames(reading, language, (match, all) => {
    other(match);
    const list = match.one('list');
    const method = match.one('method');
    const imported = match.one('import');
    const alias = match.one('alias');
    const about = match.one('about');
    const receiver = match.one('receiver');
    if (list) additions.push({ list, given: callAt(match.node)?.given ?? [] });
    if (method) own.add(text(method));
    if (imported) imports.push(text(imported).replace(/^import\s+|\s/g, ''));
    if (alias) aliases.set(text(alias), simpleType(text(match.one('real') ?? imported)));
    const lambda = match.one('lambda');
    if (about && lambda) {
      const parameters = lambda.children.find(({ type }) => type === 'lambda_parameters');
      const isNamed = scopeFunctions.test(text(match.one('function')));
      const name = isNamed ? text(parameters?.children[0]) || 'it' : 'this';
      all.give(lambda, name, { value: about, at: about.start });
    }
    // Behind the name is what it returns.
    const isExtended =
      receiver && receiver.start < (match.node.children.find((one) => all.isPlain(one))?.start ?? 0);
    if (isExtended) all.give(match.node, 'this', { type: text(receiver), at: receiver.start });
  });
  // As if the list gave a name of its own to what is added.
  for (const { list, given } of additions) {
    const owner = names.ownerOf(text(list), list);
    for (const value of owner ? given : [])
      names.give(owner ?? list, `${text(list)}+`, { value, at: value.start });
  }
  return {
    names,
    imports,
    own,
    callAt,
    addedTo,
    typesOf,
    /** The first of them; `undefined` where the file does not show it. */
    typeOf: (node: SyntaxNode | undefined): string | undefined => typesOf(node)[0],
    /** The type with methods that are callable by name alone: `with(runtime) { … }`. */
    typeAround: (node: SyntaxNode): string | undefined => typesAround(node, { steps: 0 })[0],
    simple,
  };

  /** The call that a node is. */
  function callAt(node: SyntaxNode | undefined): TypedCall | undefined {
    const match = node && language.calls.mayFit(node) ? language.calls.at(node, text)[0] : undefined;
    const [constructed, reference] = [match?.one('made'), match?.one('reference')];
    const name = constructed ?? reference ?? match?.one('name');
    const object = match?.one('object');
    if (!match || !name || (reference && !isReference(object, reference))) return undefined;
    // What a call is given in Scala begins with a node for its bracket.
    const given = match.all('given').filter(({ type }) => type !== 'arguments' && !type.endsWith('comment'));
    return {
      node: match.node,
      object,
      name,
      given,
      kind: constructed ? 'new' : reference ? 'reference' : 'call',
    };
  }

  function isReference(object: SyntaxNode | undefined, name: SyntaxNode): boolean {
    return /^\s*(?:::|\.&)/.test(text({ ...name, start: object?.end ?? name.start }));
  }

  /** What was added to the list under a name, in order: `list.add(word)`, `line.addArgument(word)`. */
  function addedTo(name: SyntaxNode | undefined): readonly SyntaxNode[] {
    const given = names.isPlain(name) ? names.find(`${text(name)}+`, name) : undefined;
    return given?.flatMap(({ value }) => value ?? []) ?? [];
  }

  /** The simple names of an expression's types, as declared and as its values show. */
  function typesOf(node: SyntaxNode | undefined, work = { steps: 0 }): readonly string[] {
    work.steps += 1;
    if (!node || work.steps > maxSteps) return [];
    const match = language.expressions.mayFit(node) ? language.expressions.at(node, text)[0] : undefined;
    const cast = match?.one('type');
    if (cast) return [simple(cast)];
    const same = match?.one('same');
    if (same) return typesOf(same, work);
    if (/^(?:array_creation_expression|list)$/.test(node.type)) return ['[]'];
    const [left, right] = node.type === 'binary_op' ? node.children : [];
    // Groovy's casts are operators.
    if (left && right && /^\s+as\s+$/.test(text({ ...left, start: left.end, end: right.start })))
      return [right.type === 'index' ? '[]' : simple(right)];
    if (text(node) === 'this') return typesAround(node, work);
    const { kind, name, object } = callAt(node) ?? {};
    if (kind === 'new') return [simple(name)];
    if (kind === 'call') {
      const method = text(name);
      const type = madeBy(undefined, method) ?? madeBy(typesOf(object, work)[0], method);
      if (type !== undefined) return [type];
      // `ScriptEngineManager()` makes what it names.
      if (!object) return language.free && /^[A-Z]/.test(method) ? [simple(name)] : [];
    }
    const given = names.bindingsOf(node);
    if (given.length > 0) return given.flatMap((one) => typesOfBinding(one, work));
    const written = node.end - node.start < maxName ? text(node) : '';
    return language.free && /^\w[\w.\s]*$/.test(written) ? [language.free(simple(node), own.size === 0)] : [];
  }

  function typesAround(node: SyntaxNode, work: { steps: number }): readonly string[] {
    return names.find('this', node)?.flatMap((one) => typesOfBinding(one, work)) ?? [];
  }

  function typesOfBinding({ type = '', value }: Binding, work: { steps: number }): readonly string[] {
    const declared = type.includes('[]') ? '[]' : aliased(type);
    return [...(/^(?:var|val|def)?$/.test(type) ? [] : [declared]), ...typesOf(value, work)];
  }

  /** The simple name of a written type, aliases undone. */
  function simple(type: SyntaxNode | undefined): string {
    return aliased(text(type));
  }

  function aliased(type: string): string {
    const name = simpleType(type);
    return aliases.get(name) ?? name;
  }
}

/** The type that a call returns, by its method and the type of its receiver; that may be the same type. */
function madeBy(type: string | undefined, method: string): string | undefined {
  if (type === undefined) return Object.hasOwn(made, method) ? made[method] : undefined;
  if (type === 'JexlBuilder') return method === 'create' ? 'JexlEngine' : type;
  return makers.test(method) ? type : undefined;
}

/** A type's own name, without package and parameters. */
export function simpleType(type: string): string {
  const name = type
    .slice(0, maxName)
    .replace(/[<[].*$/s, '')
    .replace(/[?\s]/g, '');
  return /[^.:]*$/.exec(name)?.[0] ?? name;
}
