import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
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
/** Of patterns within patterns. */
const maxDepth = 24;

/** Which names a JavaScript or TypeScript file gives, and to what. */
export interface JavascriptBindings {
  readonly names: Names;
  /** `api.run = eval`, by the text left of the sign. */
  readonly members: ReadonlyMap<string, SyntaxNode>;
  /** A name as it is meant, its escapes undone. */
  nameOf(node: SyntaxNode): string;
}

/** Reads declarations, imports, patterns and assignments, hoisting and shadowing as the language does. */
export function javascriptBindings({ tree, text, literal }: Reading): JavascriptBindings {
  const names = new Names(opens);
  const members = new Map<string, SyntaxNode>();
  const assignments: SyntaxNode[] = [];
  for (const node of tree.nodes) readNode(node);
  for (const node of assignments) readAssignment(node);
  return { names, members, nameOf };

  function readNode(node: SyntaxNode): void {
    const scope = () => names.scopeOf(node);
    switch (node.type) {
      case 'import_statement':
        readImport(node);
        return;
      case 'assignment_expression':
        assignments.push(node);
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
      case 'assignment_pattern':
      case 'object_assignment_pattern': {
        const left = childOf(pattern, 'pattern') ?? childOf(pattern, 'left');
        const otherwise = childOf(pattern, 'value') ?? childOf(pattern, 'right');
        inner(left, pick);
        if (left?.type === 'shorthand_property_identifier_pattern')
          names.give(scope, nameOf(left), { value: otherwise, at: left.start });
        else if (otherwise) givePattern(left, otherwise, scope, undefined, depth + 1);
        return;
      }
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
      case 'array_pattern': {
        // Places left empty have no node.
        const isDense = !/^\[\s*,|,\s*,/.test(text(pattern).slice(0, 2_000));
        pattern.children.forEach((child, index) => {
          if (isDense && pattern.children.length < 50)
            inner(child, [pick, String(index)].filter(Boolean).join('.'));
          else givePattern(child, undefined, scope, undefined, depth + 1);
        });
        return;
      }
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
}

/** The module that a specifier means; `#` marks it. */
export function moduleOf(name: string | undefined): string | undefined {
  return name === undefined ? undefined : `#${name.replace(/^node:/, '')}`;
}

/** Chains can hold whole programs; their text is not a name. */
export function isShort(node: SyntaxNode): boolean {
  return node.end - node.start < 200;
}
