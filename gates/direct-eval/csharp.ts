import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import { Names } from './names.ts';
import type { Reading } from './reading.ts';
import { handsShellText, isShell, startsWithFlag } from './shell-words.ts';

const opens = [
  'class_declaration',
  'struct_declaration',
  'record_declaration',
  'method_declaration',
  'constructor_declaration',
  'local_function_statement',
  'lambda_expression',
  'anonymous_method_expression',
  'block',
  'for_statement',
  'foreach_statement',
  'using_statement',
  'catch_clause',
];
const scripts = /^CSharpScript\.(?:EvaluateAsync|RunAsync|Create)$/;
const compilers = /^(?:CompileAssemblyFromSource|AddScript|InvokeScript)$/;
const why = { code: 'evaluates a string as code', shell: 'hands a command line to a shell' };
const maxDepth = 12;

/** Direct execution in C#. A program with arguments is none, however they are built, unless the program is a shell told to run a text. */
export function csharpHits(reading: Reading): readonly Hit[] {
  const { tree, text, literal, opening } = reading;
  const names = new Names(opens);
  const aliases = new Map<string, string>();
  const statics: string[] = [];
  /** `info.Arguments = …` by variable, the last one. */
  const set = new Map<string, Map<string, SyntaxNode>>();
  const added = new Map<string, SyntaxNode[]>();
  const ownTypes = new Set<string>();
  for (const node of tree.nodes) readNode(node);
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    if (node.type === 'invocation_expression') {
      const hit = callHit(node);
      if (hit) hits.push(hit);
    } else if (
      node.type === 'object_creation_expression' ||
      node.type === 'implicit_object_creation_expression'
    ) {
      const hit = infoHit(node);
      if (hit) hits.push(hit);
    }
  }
  return hits;

  function readNode(node: SyntaxNode): void {
    switch (node.type) {
      case 'using_directive': {
        const alias = childOf(node, 'name');
        const path = text(node.children.find((child) => child !== alias)).replace(/\s/g, '');
        if (alias && node.children.length > 1) aliases.set(text(alias), path);
        else if (/^(?:global\s+)?using\s+static\b/.test(text(node))) statics.push(path);
        return;
      }
      case 'variable_declarator': {
        const name = childOf(node, 'name');
        const type = text(childOf(node.parent, 'type'));
        const value = node.children.find(
          (child) => child !== name && child.type !== 'bracketed_argument_list',
        );
        if (name) names.give(names.scopeOf(node), text(name), { value, type, at: name.start });
        return;
      }
      case 'parameter': {
        const name = childOf(node, 'name');
        if (name)
          names.give(names.scopeOf(node), text(name), { type: text(childOf(node, 'type')), at: name.start });
        return;
      }
      case 'class_declaration':
        ownTypes.add(text(childOf(node, 'name')));
        return;
      case 'assignment_expression': {
        const left = childOf(node, 'left');
        const right = childOf(node, 'right');
        if (!left || !right) return;
        if (left.type === 'identifier') {
          const owner = names.ownerOf(text(left), left);
          if (owner) names.give(owner, text(left), { value: right, at: left.start });
        } else if (left.type === 'member_access_expression') {
          const target = text(childOf(left, 'expression'))
            .slice(0, 200)
            .replace(/\.StartInfo$/, '');
          const known = set.get(target) ?? new Map<string, SyntaxNode>();
          set.set(target, known);
          known.set(text(childOf(left, 'name')), right);
        }
        return;
      }
      case 'invocation_expression': {
        const found = /^(\w[\w.]*?)(?:\.StartInfo)?\.ArgumentList\.Add$/.exec(
          text(childOf(node, 'function')).slice(0, 200),
        );
        const value = argumentsOf(node)[0];
        if (found?.[1] !== undefined && value)
          added.set(found[1], [...(added.get(found[1]) ?? []).slice(0, 20), value]);
      }
    }
  }

  function argumentsOf(node: SyntaxNode): readonly SyntaxNode[] {
    const list = childOf(node, 'arguments') ?? node.children.find(({ type }) => type === 'argument_list');
    return (
      list?.children.filter(({ type }) => type === 'argument').map((one) => one.children.at(-1) ?? one) ?? []
    );
  }

  function behind(node: SyntaxNode | undefined, depth = 0): SyntaxNode | undefined {
    if (node?.type === 'parenthesized_expression') return behind(node.children[0], depth + 1);
    if (node?.type !== 'identifier' || depth > maxDepth) return node;
    const value = names.find(text(node), node)?.find((one) => one.value)?.value;
    return value && value !== node ? behind(value, depth + 1) : node;
  }

  /** Type and method, with aliases undone: `Process.Start`. */
  function pathOf(target: SyntaxNode): string {
    if (target.type !== 'member_access_expression') {
      const name = bare(target);
      if (names.find(name, target)) return '';
      const holder = statics.find((path) => /(?:^|\.)(?:Process|CSharpScript)$/.test(path));
      return holder ? `${holder.slice(holder.lastIndexOf('.') + 1)}.${name}` : '';
    }
    const object = childOf(target, 'expression');
    const name = bare(childOf(target, 'name'));
    if (!object) return '';
    if (object.type === 'identifier' && names.find(text(object), object)) return `.${name}`;
    const written = text(object)
      .slice(0, 200)
      .replace(/\s/g, '')
      .replace(/^global::/, '');
    const path = aliases.get(written) ?? written;
    const type = path.slice(path.lastIndexOf('.') + 1);
    return ownTypes.has(type) ? `.${name}` : `${type}.${name}`;
  }

  function bare(node: SyntaxNode | undefined): string {
    return text(node?.type === 'generic_name' ? node.children[0] : node);
  }

  function callHit(node: SyntaxNode): Hit | undefined {
    const target = childOf(node, 'function');
    const given = argumentsOf(node);
    if (!target || given.length === 0) return undefined;
    const path = pathOf(target);
    const name = path.slice(path.lastIndexOf('.') + 1);
    const hit = (call: string, reason: string): Hit => ({
      start: target.start,
      end: node.end,
      also: [childOf(target, 'name')?.start ?? target.start],
      call,
      why: reason,
    });
    if (scripts.test(path)) return hit(path, why.code);
    if (compilers.test(name) && target.type === 'member_access_expression')
      return name === 'AddScript' || name === 'InvokeScript' || given.length > 1
        ? hit(name, why.code)
        : undefined;
    if (path !== 'Process.Start') return undefined;
    const [program, line] = given;
    return isShellLine(program, line) ? hit(path, why.shell) : undefined;
  }

  /** A shell, and a command line that starts with its flag for text and is built, or that is out of sight. */
  function isShellLine(program: SyntaxNode | undefined, line: SyntaxNode | undefined): boolean {
    if (!program || !line || !isShell(literal(behind(program)))) return false;
    const value = behind(line);
    if (
      value &&
      /^(?:array_creation_expression|implicit_array_creation_expression|collection_expression)$/.test(
        value.type,
      )
    ) {
      const items = value.children.flatMap((child) =>
        child.type === 'initializer_expression' ? child.children : [child],
      );
      return handsShellText(['sh', ...items.map((item) => literal(behind(item)))]);
    }
    return literal(value) === undefined && (startsWithFlag(`${opening(value)} `) || !reading.isText(value));
  }

  /** `new ProcessStartInfo("cmd.exe", …) { … }`, also filled in afterwards. */
  function infoHit(node: SyntaxNode): Hit | undefined {
    const declarator = ancestorOf(node, 'variable_declarator');
    const direct = declarator?.children.includes(node) ? declarator : undefined;
    const declared = direct ? text(childOf(direct.parent, 'type')) : '';
    const written = node.type === 'object_creation_expression' ? text(childOf(node, 'type')) : declared;
    const path = aliases.get(written) ?? written;
    const type = path.slice(path.lastIndexOf('.') + 1);
    if (type !== 'ProcessStartInfo' && type !== 'Process') return undefined;
    const given = argumentsOf(node);
    const options = new Map<string, SyntaxNode>();
    const initializer =
      childOf(node, 'initializer') ??
      node.children.find(({ type: kind }) => kind === 'initializer_expression');
    for (const one of initializer?.children ?? []) {
      const value = childOf(one, 'right');
      if (value) options.set(text(childOf(one, 'left')), value);
    }
    const variable = direct ? text(childOf(direct, 'name')) : '';
    for (const [key, value] of set.get(variable) ?? []) options.set(key, value);
    const program = options.get('FileName') ?? given[0];
    const line = options.get('Arguments') ?? given[1];
    const list = options.get('ArgumentList');
    const words = [...(list?.children ?? []), ...(added.get(variable) ?? [])].map((one) =>
      literal(behind(one)),
    );
    const isHit =
      isShellLine(program, line) || (isShell(literal(behind(program))) && handsShellText(['sh', ...words]));
    if (!isHit) return undefined;
    const also = [program, line, ...(added.get(variable) ?? [])].flatMap((one) => (one ? [one.start] : []));
    return { start: node.start, end: node.end, also, call: type, why: why.shell };
  }
}
