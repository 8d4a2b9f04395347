import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { javascriptNaming } from './javascript-query.ts';
import { maxPathDepth, rememberPaths } from './path-memory.ts';
import { readNames } from './read-names.ts';
import type { Reading } from './reading.ts';

const globals = /^(?:(?:globalThis|window|global|self|top|parent|frames|document\.defaultView)\.)+(?=.)/;
/** Of a text put together from texts put together. */
const maxSaid = 8;
/** Functions that everybody has, whose constructor is `Function`. */
const builtins =
  /^(?:Object|Array|String|Number|Boolean|Symbol|Date|RegExp|Promise|Map|Set|Error|Function(?:\.prototype)?|parseInt|parseFloat|isNaN|(?:Math|JSON|Reflect|Object|Array)\.(?!prototype$)\w+)$/;

/** What the names of a JavaScript or TypeScript file stand for. */
export interface JavascriptNames {
  /**
   * What an expression reaches: `eval`, `#child_process.exec` (`#` marks a module), or `undefined` for anything of the
   * file's own. `seen` collects where the names on the way were given.
   */
  resolve(node: SyntaxNode | undefined, seen?: number[]): string | undefined;
  /** The expression behind a name or wrapper, where there is one. */
  behind(node: SyntaxNode | undefined): SyntaxNode | undefined;
  /** What a text comes to, where all of it is known: names, templates and `['a', 'b'].join('')` put together. */
  said(node: SyntaxNode | undefined): string | undefined;
}

/** Reads the names that a file gives, hoisting and shadowing as the language does. */
export function javascriptNames(reading: Reading): JavascriptNames {
  const { text, literal } = reading;
  const names = readNames(reading, javascriptNaming, (match, given) => {
    const part = match.one('part');
    const name = match.one('name') ?? part;
    const module = moduleOf(literal(match.one('module')));
    const real = part && (literal(part) ?? text(part));
    const path = real === undefined || real === 'default' ? module : `${module}.${real}`;
    if (name) given.give(reading.tree.root, given.nameOf(name), { path, at: name.start });
  });
  const nameOf = (node: SyntaxNode) => names.nameOf(node);
  const memory = rememberPaths();
  return {
    resolve(node, seen = []) {
      memory.begin();
      return resolve(node, seen, 0);
    },
    behind: (node) => names.behind(node),
    said(node) {
      memory.begin();
      return said(node, 0);
    },
  };

  function said(node: SyntaxNode | undefined, depth: number): string | undefined {
    const value = names.behind(node);
    const written = literal(value);
    if (written !== undefined || !value || depth > maxSaid) return written;
    const { parts, between } = partsOf(value);
    const pieces: string[] = [];
    for (const part of parts) {
      if (!memory.step()) return undefined;
      const piece = part.type === 'string_fragment' ? text(part) : said(part, depth + 1);
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

  function resolve(node: SyntaxNode | undefined, seen: number[], depth: number): string | undefined {
    const inner = names.same(node);
    // Most names are given elsewhere: nothing of them needs remembering.
    if (inner?.type === 'identifier' && !names.gives(nameOf(inner))) return nameOf(inner);
    return inner && memory.follow(inner, seen, depth, resolveInner);
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
      case 'new_expression': {
        const made = resolve(childOf(inner, 'constructor'), seen, depth + 1);
        return made?.startsWith('#') ? `${made}()` : undefined;
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
    const object = names.behind(value);
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
    if (object?.type === 'array') {
      const item = /^\d{1,4}$/.test(part) ? object.children[Number(part)] : undefined;
      return item && resolve(item, seen, depth + 1);
    }
    const base = resolve(value, seen, depth + 1);
    return base === undefined ? undefined : normal(`${base}.${part}`);
  }

  function resolveMember(node: SyntaxNode, seen: number[], depth: number): string | undefined {
    const given = names.memberOf(node);
    if (given && depth < maxPathDepth) {
      const path = resolve(given, seen, depth + 1);
      if (path !== undefined && path !== '(function)') return path;
    }
    const object = childOf(node, 'object');
    const property = childOf(node, 'property');
    const index = childOf(node, 'index');
    const part = property ? nameOf(property) : index?.type === 'number' ? text(index) : said(index, 0);
    if (!object || part === undefined) return undefined;
    if (part === 'constructor' && isFunction(object)) return 'Function';
    return resolvePart(object, part, seen, depth + 1);
  }

  /**
   * A function for certain: written there, a method of something written there, one that everybody has, or the
   * prototype of such.
   */
  function isFunction(node: SyntaxNode, depth = 0): boolean {
    const value = names.behind(node);
    if (!value || depth > maxPathDepth) return false;
    if (/^(?:arrow_function|function_expression|generator_function)$/.test(value.type)) return true;
    if (value.type === 'member_expression' || value.type === 'subscript_expression') {
      const object = names.behind(childOf(value, 'object'));
      const property = childOf(value, 'property');
      const part = property ? text(property) : said(childOf(value, 'index'), 0);
      if (part === '__proto__') return object !== undefined && isFunction(object, depth + 1);
      if (property && object && /^(?:array|string|template_string|number|regex)$/.test(object.type))
        return part !== 'length';
      if (object?.type === 'array' && part !== undefined && !/^(?:\d+|length)$/.test(part)) return true;
    }
    if (value.type === 'identifier' || value.type === 'member_expression')
      return builtins.test(resolve(value, [], depth + 1) ?? '');
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
      return moduleOf(said(argument, 0));
    }
    if (path === 'Reflect.get') {
      const key = said(childOf(node, 'arguments')?.children[1], 0);
      return argument && key !== undefined ? resolvePart(argument, key, seen, depth + 1) : undefined;
    }
    if (path === '#module.createRequire') return '#module.createRequire()';
    if (/(?:^|\.)promisify$/.test(path)) return resolve(argument, seen, depth + 1);
    if (path.endsWith('.bind')) return path.slice(0, -'.bind'.length);
    return undefined;
  }
}

/** The module that a specifier means; `#` marks it. */
function moduleOf(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `#${name.replace(/^node:/, '')}`;
}

function normal(path: string): string {
  const short = path.replace(globals, '');
  return short.startsWith('#') ? short.replace(/\.default(?=\.|$)/, '') : short;
}

/** Whether a node stands where a name is given or described, not used. */
export function isDeclared(node: SyntaxNode): boolean {
  return ancestorOf(node, 'type_annotation', 'type_alias_declaration', 'interface_declaration') !== undefined;
}
