/* Resolves names in JavaScript and TypeScript. */
import { ancestorOf, childOf, firstOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Query } from '../query/query.ts';
import type { NamingLanguage } from './names.ts';
import { readNames } from './names.ts';
import { type Follow, followPaths, mapPaths, type Way } from './paths.ts';
import type { Reading } from './reading.ts';

/** How JavaScript and TypeScript give names, hoisting and shadowing as they do. */
export const javascriptNaming: NamingLanguage = {
  declarations: new Query(`
    [(function_declaration) (generator_function_declaration) (function_expression) (generator_function)
      (arrow_function) (method_definition)] @scope @scope.function
    [(class_static_block) (internal_module) (module)] @scope @scope.function
    [(statement_block) (class_body) (for_statement) (for_in_statement) (catch_clause) (switch_body)] @scope
    [(identifier) (shorthand_property_identifier_pattern)] @plain
    [(member_expression) (subscript_expression)] @member
    (variable_declaration (variable_declarator name: (_) @name value: (_)? @value) (#set! in function))
    (lexical_declaration (variable_declarator name: (_) @name value: (_)? @value))
    (for_in_statement left: (_) @name) @in
    (catch_clause parameter: (_) @name) @in
    ; import('x').then((module) => …): what the callback is given is the module
    (call_expression
      function: (member_expression object: (_) @value property: (_) @then)
      arguments: (arguments [
        (arrow_function parameter: (_) @name)
        (arrow_function parameters: (formal_parameters . (_) @name))
        (function_expression parameters: (formal_parameters . (_) @name))] @in)
      (#match? @then "^then$"))
    (formal_parameters (_)* @name (#set! in parent))
    (arrow_function parameter: (_) @name) @in
    (function_expression name: (_) @name) @in
    [(function_declaration name: (_) @name) (generator_function_declaration name: (_) @name)
      (class_declaration name: (_) @name) (enum_declaration name: (_) @name)
      (function_signature name: (_) @name)]
    (assignment_expression left: (identifier) @name right: (_) @value (#set! in known) (#set! else file))
    (assignment_expression
      left: [(object_pattern) (array_pattern) (member_expression) (subscript_expression)] @name
      right: (_) @value)
    (import_statement (import_clause (identifier) @name) source: (_) @module)
    (import_statement (import_clause (namespace_import (_) @name)) source: (_) @module)
    (import_statement (import_clause (named_imports (import_specifier name: (_) @part alias: (_)? @name)))
      source: (_) @module)
    (import_statement (import_require_clause . (_) @name source: (_) @module))`),
  patterns: new Query(`
    (object_pattern (shorthand_property_identifier_pattern) @key @inner)
    (object_pattern (pair_pattern key: (_) @key value: (_) @inner))
    (object_pattern (object_assignment_pattern left: (_) @key @inner right: (_) @otherwise))
    (object_pattern (rest_pattern) @inner)
    (array_pattern (_) @inner (#set! part place))
    (rest_pattern (_) @inner (#set! value none))
    (assignment_pattern left: (_) @inner right: (_) @otherwise)
    (required_parameter pattern: (_) @inner value: (_)? @otherwise)
    (optional_parameter pattern: (_) @inner value: (_)? @otherwise)`),
  expressions: new Query(`
    [(parenthesized_expression . (_) @same) (as_expression . (_) @same) (satisfies_expression . (_) @same)
      (non_null_expression . (_) @same) (await_expression . (_) @same) (type_assertion (_) @same .)
      (sequence_expression (_) @same .)]`),
  nameOf: unescaped,
};

const globals = /^(?:(?:globalThis|window|global|self|top|parent|frames|document\.defaultView)\.)+(?=.)/;
/** Of a text put together from texts put together. */
const maxSaid = 8;
/** Of objects that are spread in objects. */
const maxSpread = 4;
const imports =
  /^(?:import|require|module\.require|process\.mainModule\.require|process\.getBuiltinModule|#module\.createRequire\(\))$/;
/** Text of what is a function for certain: written there, a global one, or a method of something written there. */
const functions =
  /=>|\bfunction\b|^(?:Object|Array|String|Number|Boolean|Symbol|Date|RegExp|Promise|Map|Set|Error|Function|parseInt|parseFloat|isNaN)$|^(?:Math|JSON|Reflect|Object|Array|\[[^\]]*\]|["'`/].*["'`/])\.(?!prototype$|length$)\w+$/s;
const maxFunction = 500;

/**
 * Resolves the names of a JavaScript or TypeScript file, with the language's hoisting and shadowing. An expression
 * may reach `eval` or `#child_process.exec` (`#` marks a module); a name that the file itself defines reaches none.
 */
export function javascriptNames(reading: Reading) {
  const { text, literal } = reading;
  const names = readNames(reading, javascriptNaming, (match, given) => {
    const part = match.one('part');
    const name = match.one('name') ?? part;
    const module = moduleOf(literal(match.one('module')));
    const real = part && (literal(part) ?? text(part));
    const path = real === undefined || real === 'default' ? module : `${module}.${real}`;
    if (name) given.give(reading.tree.root, given.nameOf(name), { path, at: name.start });
  });
  const { behind } = names;
  const paths = followPaths(names, { free: (name) => name, expression, part: waysOfPart });
  return {
    ways: paths.ways,
    reaches: paths.reaches,
    behind,
    /** The value of an option in an object among arguments, or in a variable that holds one. */
    option: (given: readonly SyntaxNode[], name: string): SyntaxNode | undefined =>
      behind(firstOf(given, (one) => entryOf(behind(one), name))),
    keyOf,
    /** What a text comes to, where all of it is known: names, templates and `['a', 'b'].join('')` put together. */
    said: (node: SyntaxNode | undefined) => said(node, paths.begin()),
  };

  /** The name of a property, where it is written down. */
  function keyOf(key: SyntaxNode | undefined): string | undefined {
    if (key?.type === 'computed_property_name') return literal(behind(key.children[0]));
    return key && (literal(key) ?? names.nameOf(key));
  }

  /** What an object literal holds under a name, also in what it spreads. */
  function entryOf(object: SyntaxNode | undefined, name: string, depth = 0): SyntaxNode | undefined {
    if (object?.type !== 'object' || depth > maxSpread) return undefined;
    return firstOf(object.children, (entry) => {
      if (entry.type === 'shorthand_property_identifier') return text(entry) === name ? entry : undefined;
      if (entry.type === 'spread_element') return entryOf(behind(entry.children[0]), name, depth + 1);
      return keyOf(childOf(entry, 'key')) === name ? childOf(entry, 'value') : undefined;
    });
  }

  function said(node: SyntaxNode | undefined, follow: Follow, depth = 0): string | undefined {
    const value = behind(node);
    const written = literal(value);
    if (written !== undefined || !value || depth > maxSaid) return written;
    const { parts, between } = partsOf(value);
    const pieces: string[] = [];
    for (const part of parts) {
      if (!follow.step()) return undefined;
      const piece = part.type === 'string_fragment' ? text(part) : said(part, follow, depth + 1);
      if (piece === undefined) return undefined;
      pieces.push(piece);
    }
    return pieces.length === 0 ? undefined : pieces.join(between);
  }

  function partsOf(value: SyntaxNode): { readonly parts: readonly SyntaxNode[]; readonly between: string } {
    const nothing = { parts: [], between: '' };
    switch (value.type) {
      case 'template_string':
      case 'template_substitution':
        return { parts: value.children, between: '' };
      case 'binary_expression':
        return /^\s*\+\s*$/.test(operatorOf(value)) ? { parts: value.children, between: '' } : nothing;
      case 'call_expression': {
        const target = childOf(value, 'function');
        const list = text(childOf(target, 'property')) === 'join' ? childOf(target, 'object') : undefined;
        const between = literal(childOf(value, 'arguments')?.children[0]);
        return list?.type === 'array' && between !== undefined ? { parts: list.children, between } : nothing;
      }
    }
    return nothing;
  }

  function expression(node: SyntaxNode, follow: Follow): readonly Way[] {
    switch (node.type) {
      case 'shorthand_property_identifier':
        return follow.name(node);
      case 'member_expression':
      case 'subscript_expression':
        return waysOfMember(node, follow);
      case 'call_expression':
        return waysOfCall(node, follow);
      case 'assignment_expression':
        return follow.ways(childOf(node, 'right'));
      case 'binary_expression':
        return /^\s*(?:\|\||\?\?|&&)\s*$/.test(operatorOf(node)) ? node.children.flatMap(follow.ways) : [];
      case 'ternary_expression':
        return node.children.slice(1).flatMap(follow.ways);
      case 'new_expression':
        return mapPaths(follow.ways(childOf(node, 'constructor')), (made) =>
          made.startsWith('#') ? `${made}()` : undefined,
        );
      case 'import':
      case 'this':
        return [{ path: node.type }];
    }
    return [];
  }

  function operatorOf(node: SyntaxNode): string {
    const [left, right] = node.children;
    const whole = text(node);
    return left && right ? whole.slice(left.end - node.start, right.start - node.start) : '';
  }

  /** A part of a value: of an object literal its property, of a module its export. */
  function waysOfPart(value: SyntaxNode, part: string, follow: Follow): readonly Way[] {
    const object = behind(value);
    if (object?.type === 'object') {
      const [first = '', ...rest] = part.split('.');
      const found = entryOf(object, first);
      return found && rest.length > 0 ? waysOfPart(found, rest.join('.'), follow) : follow.ways(found);
    }
    if (object?.type === 'array')
      return /^\d{1,4}$/.test(part) ? follow.ways(object.children[Number(part)]) : [];
    return mapPaths(follow.ways(value), (base) => normal(`${base}.${part}`));
  }

  function waysOfMember(node: SyntaxNode, follow: Follow): readonly Way[] {
    const given = names.membersOf(node).flatMap(follow.ways);
    const object = childOf(node, 'object');
    const property = childOf(node, 'property');
    const index = childOf(node, 'index');
    const part = property
      ? names.nameOf(property)
      : index?.type === 'number'
        ? text(index)
        : said(index, follow);
    if (!object || part === undefined) return given;
    // The constructor of every function is `Function`.
    if (part === 'constructor' && functions.test(text(behind(object)).slice(0, maxFunction)))
      return [...given, { path: 'Function' }];
    return [...given, ...waysOfPart(object, part, follow)];
  }

  function waysOfCall(node: SyntaxNode, follow: Follow): readonly Way[] {
    const [argument, second] = childOf(node, 'arguments')?.children ?? [];
    return follow.ways(childOf(node, 'function')).flatMap((way): readonly Way[] => {
      const { path, origin } = way;
      if (imports.test(path)) return mapPaths([way], () => moduleOf(said(argument, follow)));
      if (path === 'Reflect.get') {
        const key = said(second, follow);
        return argument && key !== undefined ? waysOfPart(argument, key, follow) : [];
      }
      if (path === '#module.createRequire') return [{ path: '#module.createRequire()', origin }];
      if (/(?:^|\.)promisify$/.test(path)) return follow.ways(argument);
      // `Function.call.bind(f)` calls `f`.
      if (/\.(?:call|apply)\.bind$/.test(path)) return follow.ways(argument);
      return path.endsWith('.bind') ? [{ path: path.slice(0, -'.bind'.length), origin }] : [];
    });
  }
}

/** A name as it is meant: letters may be written as escapes. */
function unescaped(written: string): string {
  if (!written.includes('\\')) return written;
  return written.replace(
    /\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))/g,
    (_, braced: string, four: string) => String.fromCharCode(Number.parseInt(braced ?? four, 16)),
  );
}

/** Returns the module of a specifier, marked with `#`. */
function moduleOf(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `#${name.replace(/^node:/, '')}`;
}

function normal(path: string): string {
  const short = path.replace(globals, '');
  return short.startsWith('#') ? short.replace(/\.default(?=\.|$)/, '') : short;
}

/** Whether a node is inside a type annotation, a type alias or an interface, where names are not used. */
export function isDeclared(node: SyntaxNode): boolean {
  return ancestorOf(node, 'type_annotation', 'type_alias_declaration', 'interface_declaration') !== undefined;
}
