/* Direct execution and unsafe calls in Ruby. */
import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import { type NamingLanguage, readNames } from '../../readers/source/names/names.ts';
import type { Way } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { Query } from '../../readers/source/query/query.ts';
import { type Call, type CallRow, collectHits, executesText, type Hit, hitOf, why as kinds } from './hits.ts';
import { passesShellText } from './shell-command.ts';

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
const evals = /^(?:instance|class|module)_(?:eval|exec)$/;
const isKernelName =
  /^(?:Kernel|Object|Process|(?:Object|Module|Kernel)\.const_get\(\s*[:'"]+Kernel["']?\s*\))$/;
const why = { code: kinds.code, shell: 'runs a built command line in a shell' };

/**
 * Finds direct execution in Ruby. Blocks, argument lists (`system('ls', dir)`) and literal commands evaluate no text.
 */
export function rubyHits(reading: Reading): readonly Hit[] {
  const { text, literal, tree } = reading;
  const own = new Map<SyntaxNode, Set<string>>();
  /** `alias run eval`, `run = method(:eval)`. */
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const names = readNames(reading, rubyNaming, (match, all) => {
    const method = match.one('own');
    const owner = all.scopeOf(match.node, 'scope.class');
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
  /** By receiver and method; functions of Kernel have it as their receiver, whatever is written. */
  const rows: readonly CallRow[] = [
    [/^Kernel\.eval$|(?:^|[._])(?:binding|TOPLEVEL_BINDING)(?:\(\))?\.eval$/i, why.code],
    [/\.(?:instance|class|module)_eval$/, why.code, ({ given }) => isTextual(given[0])],
    [
      /^(?:Kernel\.(?:system|exec|spawn|`)|Open3\.(?:capture2e?|capture3|popen2e?|popen3)|PTY\.(?:spawn|getpty))$/,
      why.shell,
      ({ given }) => isBuilt(given),
    ],
    [/^IO\.popen$/, why.shell, ({ given }) => isBuilt(given.slice(0, 1))],
    [/^Open3\.pipeline/, why.shell, ({ given }) => given.some((one) => isBuilt([one]))],
    [
      /^Kernel\.load$/,
      'runs what it is fed',
      ({ given }) => /^\/dev\/(?:stdin|fd\/)/.test(literal(given[0]) ?? ''),
    ],
    [
      /^(?:Signal|Process|Kernel)\.trap$/,
      why.code,
      ({ given }) => reading.isText(given[1]) && literal(given[1]) === undefined,
    ],
    [/^ERB\.new$/, 'makes code of a template that is not written down', ({ given }) => isTemplate(given[0])],
    [
      /^(?:(?:Kernel|URI)\.open|IO\.(?:read|binread|readlines|foreach|write|binwrite|copy_stream))$/,
      why.shell,
      ({ given }) => /^\s*\|/.test(reading.opening(given[0])) && literal(given[0]) === undefined,
    ],
    [/^Marshal\.(?:load|restore)$/, 'sast/ruby-unsafe-deserialization', ({ given }) => isForeign(given[0])],
    [/^(?:YAML|Psych)\.unsafe_load_(?:file|stream)$/, 'sast/ruby-yaml-load'],
    [
      /^(?:YAML|Psych)\.unsafe_load$/,
      'sast/ruby-yaml-load',
      ({ given: [first] }) => first && literal(behind(first)) === undefined,
    ],
    [/^RubyVM::InstructionSequence\.(?:compile|new)$/, 'compiles a string as code'],
  ];
  return collectHits(tree, {
    subshell: ({ start, end, children }) =>
      children.some(({ type }) => type === 'interpolation')
        ? { start, end, call: '`…`', why: why.shell }
        : undefined,
    block_argument: handedOn,
    element_reference: handedOn,
    call(node) {
      const hit = callHit(node);
      // A here-document is behind the call that it belongs to.
      const [first] = argumentsOf(node);
      return hit && { ...hit, end: (first && documents.get(first)?.end) ?? node.end };
    },
  });

  function callHit(node: SyntaxNode): Hit | undefined {
    const receiver = childOf(node, 'receiver');
    const name = childOf(node, 'method');
    const word = text(name);
    const owner = ownerOf(receiver);
    // Options and the environment hash are not words of a command.
    const given = argumentsOf(node).filter(
      ({ type }) => !/^(?:pair|hash_splat_argument|block_argument|hash)$/.test(type),
    );
    const call: Call = { node, target: name ?? node, given };
    const isCalled = receiver && (!name || word === 'call');
    const alias = aliases.get(isCalled ? text(receiver).slice(0, 100) : receiver ? '' : word);
    const method = alias?.path ?? (isCalled ? methodObject(receiver) : undefined);
    if (method !== undefined)
      return kernel.test(method) ? found(call, `Kernel.${method}`, method, alias?.at) : undefined;
    if (given.length === 0) return undefined;
    if (/^(?:send|__send__|public_send)$/.test(word)) {
      const sent = symbolOf(given[0]) ?? '';
      const isEval = sent === 'eval' || (evals.test(sent) && given.length > 1);
      const rest = isEval ? given : given.slice(1);
      return isEval || /^(?:system|exec|spawn|`)$/.test(sent)
        ? found({ ...call, given: rest }, isEval ? 'Kernel.eval' : `Kernel.${sent}`, `${word} :${sent}`)
        : undefined;
    }
    const isOwn = isOwnMethod(node, word);
    const isKernel = receiver ? isKernelName.test(owner) || (owner === 'self' && !isOwn) : !isOwn;
    const path = `${isKernel ? 'Kernel' : owner}.${word}`;
    return found(call, path, /^(?!Kernel\b)[A-Z:]/.test(path) ? path : word);
  }

  function found(call: Call, path: string, said: string, at?: number): Hit | undefined {
    const way: Way = { path, origin: at === undefined ? undefined : { at, before: undefined } };
    const hit = hitOf(rows, call, [way]);
    // A row of static analysis points at the whole call.
    const place = !hit || executesText(hit) ? {} : { start: call.node.start, also: [hit.start] };
    return hit && { ...hit, ...place, call: said };
  }

  /** Whether the only argument is not a literal, or a shell receives such a text. */
  function isBuilt(given: readonly SyntaxNode[]): boolean {
    const values = given.map(behind);
    if (given.length > 1) return passesShellText(values.map(textOf));
    const [value] = values;
    if (!value || given[0]?.type === 'splat_argument') return false;
    return value.type === 'array' ? passesShellText(value.children.map(textOf)) : textOf(value) === undefined;
  }

  /** Whether a template's text is neither written down nor read from a file. */
  function isTemplate(node: SyntaxNode | undefined): boolean {
    const value = node && behind(node);
    if (!value || textOf(value) !== undefined) return false;
    for (let at: SyntaxNode | undefined = value; at?.type === 'call'; at = childOf(at, 'receiver'))
      if (/^(?:read|binread|readlines)$/.test(text(childOf(at, 'method')))) return false;
    return true;
  }

  /** `lines.each(&method(:system))`, `method(:eval)[text]`. */
  function handedOn({ start, end, children: [given] }: SyntaxNode): Hit | undefined {
    if (!given || given.type === 'simple_symbol') return undefined;
    const path = methodObject(given) ?? aliases.get(text(given).slice(0, 100))?.path;
    return path !== undefined && kernel.test(path)
      ? { start, end, call: path, why: path === 'eval' ? why.code : why.shell }
      : undefined;
  }

  /** A text for certain or for all that can be seen; a constant or a block is none. */
  function isTextual(node: SyntaxNode | undefined): boolean {
    return (
      node !== undefined &&
      !/^(?:block_argument|lambda|simple_symbol|integer|nil|self|pair)$/.test(behind(node).type)
    );
  }

  /** Who receives a call, also behind a name that was given it. */
  function ownerOf(node: SyntaxNode | undefined): string {
    return text(node && behind(node))
      .slice(0, 200)
      .replace(/^::/, '');
  }

  /** Neither text of the source nor what the same expression has just dumped: `Marshal.load(Marshal.dump(x))`. */
  function isForeign(node: SyntaxNode | undefined): boolean {
    const value = node && behind(node);
    if (!value || literal(value) !== undefined) return false;
    const receiver = value.type === 'call' ? childOf(value, 'receiver') : undefined;
    return !(receiver && ownerOf(receiver) === 'Marshal' && text(childOf(value, 'method')) === 'dump');
  }

  /** Whether the class around a node, or the file, defines a method of that name. */
  function isOwnMethod(node: SyntaxNode, method: string): boolean {
    return [names.scopeOf(node, 'scope.class'), tree.root].some((owner) => own.get(owner)?.has(method));
  }

  /** The expression behind a name, where there is one: the one it was given last. */
  function behind(node: SyntaxNode): SyntaxNode {
    if (!names.isPlain(node)) return node;
    const from = /^[@$A-Z]/.test(text(node)) ? tree.root : node;
    return names.find(text(node), from)?.at(-1)?.value ?? node;
  }

  /** Returns the text of a fully literal string, including here-documents. */
  function textOf(node: SyntaxNode): string | undefined {
    const body = documents.get(node);
    if (!body) return literal(node);
    const isWhole = body.children.every(({ type }) =>
      /^(?:heredoc_content|heredoc_end|escape_sequence)$/.test(type),
    );
    return isWhole ? text(body) : undefined;
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
