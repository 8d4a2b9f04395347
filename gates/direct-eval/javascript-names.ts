import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Names } from './names.ts';
import type { Reading } from './reading.ts';

const functions = [
  'function_declaration',
  'generator_function_declaration',
  'function_expression',
  'generator_function',
  'arrow_function',
  'method_definition',
];
const opens = [
  ...functions,
  'statement_block',
  'class_body',
  'class_static_block',
  'for_statement',
  'for_in_statement',
  'catch_clause',
  'switch_body',
  'internal_module',
  'module',
];
const hoisting = new Set([...functions, 'class_static_block', 'internal_module', 'module']);
const unwrapped = new Set([
  'parenthesized_expression',
  'as_expression',
  'satisfies_expression',
  'non_null_expression',
  'await_expression',
  'type_assertion',
]);
const globals = /^(?:(?:globalThis|window|global|self|top|parent|frames|document\.defaultView)\.)+(?=.)/;
const maxDepth = 300;
/** Of one question; ordinary source takes a handful. */
const maxSteps = 400;

/** What the names of a JavaScript or TypeScript file stand for. */
export interface JavascriptNames {
  /**
   * What an expression reaches: `eval`, `#child_process.exec` (`#` marks a module), or `undefined` for anything of the file's own.
   * `seen` collects where the names on the way were given.
   */
  resolve(node: SyntaxNode | undefined, seen?: number[]): string | undefined;
  /** The expression behind a name or wrapper, where there is one. */
  behind(node: SyntaxNode | undefined): SyntaxNode | undefined;
}

/** Reads the names that a file gives, hoisting and shadowing as the language does. */
export function javascriptNames(reading: Reading): JavascriptNames {
  const { tree, text, literal } = reading;
  const names = new Names(opens);
  /** `api.run = eval`, by the text left of the sign. */
  const members = new Map<string, SyntaxNode>();
  for (const node of tree.nodes) readNode(node);
  for (const node of tree.nodes) if (node.type === 'assignment_expression') readAssignment(node);
  /** What nodes came to: names that stand for names with several values would else be followed along every way. */
  const resolved = new Map<
    SyntaxNode,
    { readonly path: string | undefined; readonly seen: readonly number[] }
  >();
  const pending = new Set<SyntaxNode>();
  let circles = 0;
  let steps = 0;
  return {
    resolve(node, seen = []) {
      steps = 0;
      return resolve(node, seen, 0);
    },
    behind: (node) => behind(node, 0),
  };

  function readNode(node: SyntaxNode): void {
    const scope = () => names.scopeOf(node);
    switch (node.type) {
      case 'import_statement':
        readImport(node);
        return;
      case 'variable_declarator': {
        const isVar = node.parent?.type === 'variable_declaration';
        givePattern(
          childOf(node, 'name'),
          childOf(node, 'value'),
          isVar ? names.scopeOf(node, hoisting) : scope(),
        );
        return;
      }
      case 'for_in_statement':
        givePattern(childOf(node, 'left'), undefined, node);
        return;
      case 'catch_clause':
        givePattern(childOf(node, 'parameter'), undefined, node);
        return;
      case 'formal_parameters':
        if (node.parent)
          for (const child of node.children) givePattern(child, promised(node.parent), node.parent);
        return;
      case 'arrow_function':
        givePattern(childOf(node, 'parameter'), promised(node), node);
        return;
      case 'function_expression':
        giveOwn(childOf(node, 'name'), node);
        return;
      case 'function_declaration':
      case 'generator_function_declaration':
      case 'class_declaration':
      case 'enum_declaration':
      case 'function_signature':
        giveOwn(childOf(node, 'name'), scope());
        return;
    }
  }

  function giveOwn(node: SyntaxNode | undefined, scope: SyntaxNode): void {
    if (node) names.give(scope, text(node), { at: node.start });
  }

  /** `import('x').then((module) => …)`: what the callback is given is the module. */
  function promised(callback: SyntaxNode): SyntaxNode | undefined {
    const call = callback.parent?.parent;
    const target = childOf(call, 'function');
    if (call?.type !== 'call_expression' || target?.type !== 'member_expression') return undefined;
    return text(childOf(target, 'property')) === 'then' ? childOf(target, 'object') : undefined;
  }

  function givePattern(
    pattern: SyntaxNode | undefined,
    value: SyntaxNode | undefined,
    scope: SyntaxNode,
    pick?: string,
    depth = 0,
  ): void {
    if (!pattern || depth > maxDepth) return;
    const inner = (node: SyntaxNode | undefined, part?: string) =>
      givePattern(node, value, scope, part, depth + 1);
    switch (pattern.type) {
      case 'identifier':
      case 'shorthand_property_identifier_pattern': {
        const part = pattern.type === 'identifier' ? pick : [pick, text(pattern)].filter(Boolean).join('.');
        names.give(scope, nameOf(pattern), { value, pick: part, at: pattern.start });
        return;
      }
      case 'required_parameter':
      case 'optional_parameter':
        inner(childOf(pattern, 'pattern'), pick);
        return;
      case 'assignment_pattern':
      case 'object_assignment_pattern':
        inner(childOf(pattern, 'left'), pick);
        return;
      case 'object_pattern':
        for (const child of pattern.children) inner(child, pick);
        return;
      case 'pair_pattern': {
        const key = childOf(pattern, 'key');
        const name =
          key?.type === 'computed_property_name' ? literal(key.children[0]) : (literal(key) ?? text(key));
        inner(childOf(pattern, 'value'), [pick, name].filter(Boolean).join('.'));
        return;
      }
      case 'array_pattern':
      case 'rest_pattern':
        for (const child of pattern.children) givePattern(child, undefined, scope, undefined, depth + 1);
    }
  }

  function readImport(node: SyntaxNode): void {
    const required = node.children.find(({ type }) => type === 'import_require_clause');
    const module = moduleOf(literal(childOf(required ?? node, 'source')));
    const give = (name: SyntaxNode | undefined, path: string | undefined) => {
      if (name) names.give(tree.root, nameOf(name), { path, at: name.start });
    };
    if (required) {
      give(required.children[0], module);
      return;
    }
    for (const part of node.children.find(({ type }) => type === 'import_clause')?.children ?? []) {
      if (part.type === 'identifier') give(part, module);
      else if (part.type === 'namespace_import') give(part.children[0], module);
      else
        for (const one of part.children) {
          const name = childOf(one, 'name');
          const real = literal(name) ?? text(name);
          give(childOf(one, 'alias') ?? name, real === 'default' ? module : `${module}.${real}`);
        }
    }
  }

  function readAssignment(node: SyntaxNode): void {
    const left = childOf(node, 'left');
    const value = childOf(node, 'right');
    if (!left || !value) return;
    if (left.type === 'member_expression' || left.type === 'subscript_expression') {
      if (members.size < 10_000 && isShort(left)) members.set(text(left).replace(/\s/g, ''), value);
      return;
    }
    const targets = left.type === 'identifier' ? [left] : [];
    if (targets.length === 0) {
      givePattern(left, value, names.scopeOf(node));
      return;
    }
    for (const target of targets) {
      const name = nameOf(target);
      names.give(names.ownerOf(name, target) ?? tree.root, name, { value, at: target.start });
    }
  }

  function nameOf(node: SyntaxNode): string {
    const written = text(node);
    if (!written.includes('\\')) return written;
    return written.replace(
      /\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))/g,
      (_, braced: string, four: string) => String.fromCharCode(Number.parseInt(braced ?? four, 16)),
    );
  }

  function unwrap(node: SyntaxNode | undefined): SyntaxNode | undefined {
    let at = node;
    for (let depth = 0; at && depth < maxDepth; depth += 1) {
      if (unwrapped.has(at.type)) at = at.children.find(({ type }) => type !== 'type_arguments');
      else if (at.type === 'sequence_expression') at = at.children.at(-1);
      else return at;
    }
    return at;
  }

  function behind(node: SyntaxNode | undefined, depth: number): SyntaxNode | undefined {
    const inner = unwrap(node);
    if (inner?.type !== 'identifier' || depth > maxDepth) return inner;
    const given = names.find(nameOf(inner), inner)?.find(({ value, pick }) => value && pick === undefined);
    return given ? behind(given.value, depth + 1) : inner;
  }

  function resolve(node: SyntaxNode | undefined, seen: number[], depth: number): string | undefined {
    const inner = unwrap(node);
    if (!inner) return undefined;
    if (depth > maxDepth || steps > maxSteps) {
      reading.state.gaveUp = true;
      return undefined;
    }
    const known = resolved.get(inner);
    if (known) {
      for (const at of known.seen) seen.push(at);
      return known.path;
    }
    if (pending.has(inner)) {
      circles += 1;
      return undefined;
    }
    steps += 1;
    pending.add(inner);
    const before = circles;
    const own: number[] = [];
    const path = resolveInner(inner, own, depth);
    pending.delete(inner);
    // What was cut short where names stand for one another may come out otherwise from elsewhere.
    if (path !== undefined || (circles === before && depth < maxDepth / 2))
      resolved.set(inner, { path, seen: own });
    for (const at of own) seen.push(at);
    return path;
  }

  function resolveInner(inner: SyntaxNode, seen: number[], depth: number): string | undefined {
    switch (inner.type) {
      case 'identifier':
      case 'shorthand_property_identifier':
        return resolveName(inner, seen, depth);
      case 'member_expression':
      case 'subscript_expression':
        return resolveMember(inner, seen, depth);
      case 'call_expression':
        return resolveCall(inner, seen, depth);
      case 'assignment_expression':
        return resolve(childOf(inner, 'right'), seen, depth + 1);
      case 'binary_expression':
      case 'ternary_expression': {
        if (inner.type === 'binary_expression' && !/^\s*(?:\|\||\?\?|&&)\s*$/.test(operatorOf(inner)))
          return undefined;
        for (const child of inner.children.slice(inner.type === 'ternary_expression' ? 1 : 0)) {
          const path = resolve(child, seen, depth + 1);
          if (path !== undefined && path !== 'undefined') return path;
        }
        return undefined;
      }
      case 'import':
        return 'import';
      case 'this':
        return 'this';
      case 'arrow_function':
      case 'function_expression':
        return '(function)';
    }
    return undefined;
  }

  function operatorOf(node: SyntaxNode): string {
    const [left, right] = node.children;
    const whole = text(node);
    return left && right ? whole.slice(left.end - node.start, right.start - node.start) : '';
  }

  function resolveName(node: SyntaxNode, seen: number[], depth: number): string | undefined {
    const name = nameOf(node);
    const given = names.find(name, node);
    if (!given) return name;
    for (const { path, value, pick, at } of given) {
      const base =
        path ??
        (value && (pick ? resolvePart(value, pick, seen, depth + 1) : resolve(value, seen, depth + 1)));
      if (base === undefined || base === '(function)') continue;
      seen.push(at);
      return base;
    }
    return undefined;
  }

  /** A part of a value: of an object literal its property, of a module its export. */
  function resolvePart(value: SyntaxNode, part: string, seen: number[], depth: number): string | undefined {
    const object = behind(value, depth);
    if (object?.type === 'object') {
      const [first, ...rest] = part.split('.');
      for (const entry of object.children) {
        if (entry.type === 'shorthand_property_identifier' && text(entry) === first)
          return resolve(entry, seen, depth + 1);
        const key = childOf(entry, 'key');
        if (entry.type !== 'pair' || (literal(key) ?? text(key)) !== first) continue;
        const found = childOf(entry, 'value');
        return rest.length > 0 && found
          ? resolvePart(found, rest.join('.'), seen, depth + 1)
          : resolve(found, seen, depth + 1);
      }
      return undefined;
    }
    const base = resolve(value, seen, depth + 1);
    return base === undefined ? undefined : normal(`${base}.${part}`);
  }

  function resolveMember(node: SyntaxNode, seen: number[], depth: number): string | undefined {
    const given = isShort(node) ? members.get(text(node).replace(/\s/g, '')) : undefined;
    if (given && depth < maxDepth) {
      const path = resolve(given, seen, depth + 1);
      if (path !== undefined && path !== '(function)') return path;
    }
    const object = childOf(node, 'object');
    const property = childOf(node, 'property');
    const index = childOf(node, 'index');
    const part = property ? nameOf(property) : literal(behind(index, depth));
    if (!object || part === undefined) return undefined;
    if (part === 'constructor' && isFunction(object)) return 'Function';
    return resolvePart(object, part, seen, depth + 1);
  }

  /** A function for certain: written there, or asked for its prototype. */
  function isFunction(node: SyntaxNode, depth = 0): boolean {
    const value = behind(node, 0);
    if (!value || depth > maxDepth) return false;
    if (/^(?:arrow_function|function_expression|generator_function)$/.test(value.type)) return true;
    if (value.type !== 'call_expression') return false;
    const argument = childOf(value, 'arguments')?.children[0];
    return (
      text(childOf(value, 'function')) === 'Object.getPrototypeOf' &&
      argument !== undefined &&
      isFunction(argument, depth + 1)
    );
  }

  function resolveCall(node: SyntaxNode, seen: number[], depth: number): string | undefined {
    const target = childOf(node, 'function');
    const argument = childOf(node, 'arguments')?.children[0];
    const path = resolve(target, seen, depth + 1);
    if (path === undefined) return undefined;
    if (
      /^(?:import|require|module\.require|process\.mainModule\.require|process\.getBuiltinModule|#module\.createRequire\(\))$/.test(
        path,
      )
    ) {
      return moduleOf(literal(behind(argument, depth)));
    }
    if (path === '#module.createRequire') return '#module.createRequire()';
    if (/(?:^|\.)promisify$/.test(path)) return resolve(argument, seen, depth + 1);
    if (path.endsWith('.bind')) return path.slice(0, -'.bind'.length);
    return undefined;
  }

  function moduleOf(name: string | undefined): string | undefined {
    return name === undefined ? undefined : `#${name.replace(/^node:/, '')}`;
  }
}

/** Chains can hold whole programs; their text is not a name. */
function isShort(node: SyntaxNode): boolean {
  return node.end - node.start < 200;
}

function normal(path: string): string {
  const short = path.replace(globals, '');
  return short.startsWith('#') ? short.replace(/\.default(?=\.|$)/, '') : short;
}

/** Whether a node stands where a name is given or described, not used. */
export function isDeclared(node: SyntaxNode): boolean {
  return ancestorOf(node, 'type_annotation', 'type_alias_declaration', 'interface_declaration') !== undefined;
}
