/* Resolves names in Ruby. */
import { argumentsOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import { Query } from '../query/query.ts';
import type { NamingLanguage } from './names.ts';
import { readNames } from './names.ts';
import type { Reading } from './reading.ts';

/** How Ruby gives names: methods see no variables around them. */
export const rubyNaming: NamingLanguage = {
  declarations: new Query(`
    [(program) (class) (module) (singleton_class)] @scope @scope.class @scope.blind
    [(method) (singleton_method)] @scope @scope.function
    [(block) (do_block) (lambda)] @scope @scope.open
    [(identifier) (constant) (instance_variable) (global_variable)] @plain
    [(method name: (_) @own) (singleton_method name: (_) @own)]
    (alias name: (_) @alias alias: (_) @real)
    (assignment left: (_) @alias right: (call) @object)
    (assignment left: (identifier) @name right: (_) @value (#set! in function))
    (assignment left: [(constant) (instance_variable) (global_variable)] @name right: (_) @value (#set! in file))
    [(method_parameters [(identifier) @name (optional_parameter name: (_) @name)
        (keyword_parameter name: (_) @name)] (#set! in parent))
      (block_parameters (identifier) @name (#set! in parent))
      (lambda_parameters (identifier) @name (#set! in parent))]`),
  expressions: new Query('(parenthesized_statements . (_) @same .)'),
};

const kernel = /^(?:eval|system|exec|spawn)$/;

/** Resolves the names of a Ruby file. */
export function rubyNames(reading: Reading) {
  const { tree, text, literal } = reading;
  const own = new Map<SyntaxNode, Set<string>>();
  /** `alias run eval`, `run = method(:eval)`. */
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const names = readNames(reading, rubyNaming, (match, all) => {
    const method = match.one('own');
    const owner = all.scopeOf(match.node, 'class');
    if (method) own.set(owner, (own.get(owner) ?? new Set()).add(text(method)));
    const [alias, real, object] = [match.one('alias'), match.one('real'), match.one('object')];
    const path = object ? methodObject(object) : real && text(real);
    if (alias && path !== undefined && (!object || kernel.test(path)))
      aliases.set(text(alias), { path, at: match.node.start });
  });
  for (const node of /\balias_method\b/.test(text(tree.root)) ? tree.nodes : []) {
    if (node.type !== 'call' || text(childOf(node, 'method')) !== 'alias_method') continue;
    const [name, path] = argumentsOf(node).map(symbolOf);
    if (name !== undefined && path !== undefined) aliases.set(name, { path, at: node.start });
  }
  /** Here-documents by where they are announced. */
  const written = text(tree.root).includes('<<') ? tree.nodes : [];
  const announced = written.filter(({ type }) => type === 'heredoc_beginning');
  const bodies = written.filter(({ type }) => type === 'heredoc_body');
  const documents = new Map(bodies.flatMap((body, at) => (announced[at] ? [[announced[at], body]] : [])));
  return {
    aliases,
    documents,
    /** Whether the class around a node, or the file, defines a method of that name. */
    isOwn: (node: SyntaxNode, method: string) =>
      [names.scopeOf(node, 'class'), tree.root].some((owner) => own.get(owner)?.has(method)),
    /** The expression behind a name, where there is one: the one it was given last. */
    behind: (node: SyntaxNode): SyntaxNode =>
      (names.isPlain(node) ? givenTo(text(node), node) : undefined) ?? node,
    givenTo,
    /** Returns the text of a fully literal string, including here-documents. */
    literal(node: SyntaxNode): string | undefined {
      const body = node.type === 'heredoc_beginning' ? documents.get(node) : undefined;
      if (!body) return literal(node);
      const isWhole = body.children.every(({ type }) =>
        /^(?:heredoc_content|heredoc_end|escape_sequence)$/.test(type),
      );
      return isWhole ? text(body) : undefined;
    },
    symbolOf,
    methodObject,
  };

  function givenTo(name: string, from: SyntaxNode): SyntaxNode | undefined {
    return names.find(name, /^[@$A-Z]/.test(name) ? tree.root : from)?.at(-1)?.value;
  }

  /** The name that a symbol or a text gives. */
  function symbolOf(node: SyntaxNode | undefined): string | undefined {
    if (node?.type === 'simple_symbol') return text(node).slice(1);
    if (node?.type !== 'delimited_symbol') return literal(node);
    return node.children.every(({ type }) => type === 'string_content')
      ? node.children.map(text).join('')
      : undefined;
  }

  /** The method of Kernel that an expression has as an object: `Kernel.method(:eval)`, `:eval.to_proc`. */
  function methodObject(node: SyntaxNode): string | undefined {
    let at: SyntaxNode | undefined = node;
    for (let depth = 0; at?.type === 'call' && depth < 4; depth += 1) {
      const receiver = childOf(at, 'receiver');
      const word = text(childOf(at, 'method'));
      if (/^(?:public_|instance_|singleton_)?method$/.test(word))
        return /^(?:|(?:::)?Kernel|self|binding|Object\.new)$/.test(text(receiver).slice(0, 40))
          ? symbolOf(argumentsOf(at)[0])
          : undefined;
      if (!/^(?:to_proc|curry|unbind)$/.test(word)) return undefined;
      if (receiver?.type === 'simple_symbol') return symbolOf(receiver);
      at = receiver;
    }
    return undefined;
  }
}
