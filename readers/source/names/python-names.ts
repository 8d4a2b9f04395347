/* Resolves names in Python. */
import { argumentsOf, childOf, firstOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Query } from '../query/query.ts';
import type { NamingLanguage } from './names.ts';
import { readNames } from './names.ts';
import { type Follow, followPaths, mapPaths, type Way } from './paths.ts';
import type { Reading } from './reading.ts';

/** How Python gives names: in functions and classes, of which functions inside a class see none. */
export const pythonNaming: NamingLanguage = {
  declarations: new Query(`
    [(function_definition) (lambda)] @scope @scope.function
    (class_definition) @scope @scope.function @scope.blind
    [(list_comprehension) (set_comprehension) (dictionary_comprehension) (generator_expression)] @scope
    (identifier) @plain
    (attribute) @member
    (import_statement name: (dotted_name . (_) @name) @module)
    (import_statement name: (aliased_import name: (_) @module alias: (_) @name))
    (import_from_statement module_name: (_) @module name: (dotted_name . (_) @name) @part)
    (import_from_statement module_name: (_) @module name: (aliased_import name: (_) @part alias: (_) @name))
    (import_from_statement module_name: (_) @module (wildcard_import))
    (function_definition name: (_) @name (#set! in function) (#set! type def))
    (class_definition name: (_) @name (#set! in function) (#set! type def))
    ; a parameter is whatever the caller gives, its default included
    ([(parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern) (tuple_pattern)]* @name)
      (lambda_parameters [(identifier) (list_splat_pattern) (dictionary_splat_pattern)]* @name)
      (parameters [(default_parameter name: (_) @name) (typed_parameter . (_) @name type: (_) @type)
        (typed_default_parameter name: (_) @name type: (_) @type)])
      (lambda_parameters (default_parameter name: (_) @name))] (#set! in parent))
    (assignment left: [(identifier) (attribute)] @name right: (_)? @value (#set! in function))
    (assignment left: [(pattern_list) (tuple_pattern) (list_pattern)] @names
      right: [(expression_list) (tuple) (list)]? @values (#set! in function))
    (named_expression name: (_) @name value: (_) @value (#set! in function))
    (for_statement left: (_) @name (#set! in function))
    (for_in_clause left: (_) @name)
    (as_pattern_target . (_) @name (#set! in function))`),
  patterns: new Query(`
    [(pattern_list (_) @inner) (tuple_pattern (_) @inner) (list_pattern (_) @inner)
      (list_splat_pattern (_) @inner) (dictionary_splat_pattern (_) @inner)]`),
  expressions: new Query(`
    [(parenthesized_expression . (_) @same) (await . (_) @same) (assignment right: (_) @same)
      (named_expression value: (_) @same)]`),
  // Python reads a name in its compatibility form: full-width `ｅｖａｌ` is `eval`.
  nameOf: (written) =>
    /[^\x00-\x7f]/.test(written)
      ? Buffer.from(written, 'latin1').toString('utf8').normalize('NFKC')
      : written,
};

const builtins =
  /^(?:builtins|__builtins__|__builtin__|six\.moves\.builtins)\.(?:__dict__\.)?(?!__dict__$)(?=.)/;
/** Classes with objects that execute text: a method call on them is known by its name. */
const made =
  /^(?:code\.Interactive(?:Interpreter|Console)|(?:cProfile|profile)\.Profile|pdb\.Pdb|bdb\.Bdb|trace\.Trace)$/;
const libraries = /^ctypes\.(?:CDLL|PyDLL|WinDLL|OleDLL|(?:cdll|windll|pydll)\.LoadLibrary)$/;

/**
 * Resolves the names of a Python file: an expression may reach `eval` or `os.system`; a name that the file itself
 * defines reaches none. `offers` lists the names that a star import of a module may add.
 */
export function pythonNames(reading: Reading, offers: Readonly<Record<string, readonly string[]>>) {
  const { text, literal } = reading;
  const stars = new Map<string, string>();
  const names = readNames(reading, pythonNaming, (match, given) => {
    const module = text(match.one('module')).replace(/\s/g, '');
    const part = match.one('part');
    const name = match.one('name');
    if (!name) for (const one of offers[module] ?? []) stars.set(one, `${module}.${one}`);
    // `import a.b` gives `a`.
    const path = part ? plainPath(`${module}.${text(part)}`) : isFirst(name) ? text(name) : module;
    if (name) given.give(given.scopeOf(match.node, 'function'), given.nameOf(name), { path, at: name.start });
  });
  const { behind } = names;
  const { ways, reaches } = followPaths(names, { free: (name) => stars.get(name) ?? name, expression });
  return {
    ways,
    reaches,
    behind,
    option,
    entry,
    /** The type that a name's declaration names; `def` for functions and classes of the file. */
    typeOf: (node: SyntaxNode): string | undefined => {
      const given = names.find(names.nameOf(node), node);
      return (
        given?.find(({ type }) => type !== undefined)?.type ??
        given?.find(({ path }) => path !== undefined)?.path
      );
    },
  };

  /** The value of a keyword among arguments, also out of a dictionary that is spread. */
  function option(given: readonly SyntaxNode[], name: string): SyntaxNode | undefined {
    return firstOf(given, (one) => {
      if (one.type === 'dictionary_splat') return entry(behind(one.children[0]), name);
      const isNamed = one.type === 'keyword_argument' && text(childOf(one, 'name')) === name;
      return isNamed ? behind(childOf(one, 'value')) : undefined;
    });
  }

  /** What a dictionary (`{'shell': True}`, `dict(shell=True)`) holds under a key. */
  function entry(node: SyntaxNode | undefined, key: string): SyntaxNode | undefined {
    if (node?.type === 'call' && reaches(childOf(node, 'function'), /^dict$/))
      return option(argumentsOf(node), key);
    const pair =
      node?.type === 'dictionary'
        ? node.children.find((one) => literal(childOf(one, 'key')) === key)
        : undefined;
    return behind(childOf(pair, 'value'));
  }

  function expression(node: SyntaxNode, follow: Follow): readonly Way[] {
    switch (node.type) {
      case 'attribute': {
        const part = childOf(node, 'attribute');
        return [
          ...names.membersOf(node).flatMap(follow.ways),
          ...memberOf(follow.ways(childOf(node, 'object')), part && names.nameOf(part)),
        ];
      }
      case 'subscript': {
        const key = literal(behind(childOf(node, 'subscript')));
        return mapPaths(follow.ways(childOf(node, 'value')), (base) => entryOf(base, key));
      }
      case 'call':
        return waysOfCall(node, follow);
      case 'conditional_expression':
      case 'boolean_operator':
        return node.children.flatMap(follow.ways);
    }
    return [];
  }

  /** What the value of a call reaches: `getattr(os, 'system')`, `__import__('os')`. */
  function waysOfCall(node: SyntaxNode, follow: Follow): readonly Way[] {
    const given = childOf(node, 'arguments')?.children ?? [];
    const said = (index: number) => literal(behind(given[index]));
    return follow.ways(childOf(node, 'function')).flatMap((way): readonly Way[] => {
      const { path } = way;
      const as = (other: string | undefined) => mapPaths([way], () => other);
      switch (path) {
        case '__import__':
        case 'importlib.import_module':
        case 'importlib.__import__':
          return as(said(0));
        case 'getattr':
          return memberOf(follow.ways(given[0]), said(1));
        case 'globals':
        case 'locals':
          return as('globals()');
        case 'vars':
          return given[0] ? mapPaths(follow.ways(given[0]), (base) => `${base}(vars)`) : as('globals()');
        case 'functools.partial':
          return follow.ways(given[0]);
        case 'operator.attrgetter':
        case 'operator.methodcaller':
          return as(said(0) === undefined ? undefined : `${path}(${said(0)})`);
      }
      if (made.test(path)) return as(`${path}()`);
      if (libraries.test(path)) return as('ctypes.CDLL()');
      const part = /^operator\.attrgetter\((.+)\)$/.exec(path)?.[1];
      return memberOf(part === undefined ? [] : follow.ways(given[0]), part);
    });
  }
}

function memberOf(ways: readonly Way[], part: string | undefined): readonly Way[] {
  return part === undefined ? [] : mapPaths(ways, (base) => plainPath(`${base}.${part}`));
}

/** `globals()['eval']`, `sys.modules['os']`, `builtins.__dict__['eval']`. */
function entryOf(base: string, key: string | undefined): string | undefined {
  if (key === undefined || /^(?:globals\(\)|sys\.modules)$/.test(base)) return key;
  return /^(?:builtins|__builtins__|__builtin__)(?:\.__dict__)?$|__dict__$|\(vars\)$/.test(base)
    ? plainPath(`${base.replace(/(?:\.__dict__|\(vars\))$/, '')}.${key}`)
    : undefined;
}

/** Returns a path without the builtins module, which names in it do not need. */
function plainPath(path: string): string {
  return path.replace(builtins, '');
}

/** Whether a name is the beginning of what is imported, and no name for all of it. */
function isFirst(name: SyntaxNode | undefined): name is SyntaxNode {
  return name?.parent?.type === 'dotted_name';
}
