import { ancestorOf, childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import type { Reading } from './reading.ts';
import { handsShellText } from './shell-words.ts';

const kernel = /^(?:eval|system|exec|spawn)$/;
const evals = /^(?:instance_eval|class_eval|module_eval|instance_exec|class_exec|module_exec)$/;
const sends = /^(?:send|__send__|public_send)$/;
const why = { code: 'evaluates a string as code', shell: 'runs a built command line in a shell' };

/** Direct execution in Ruby. Blocks, argument lists (`system('ls', dir)`) and commands that are wholly written down evaluate nothing. */
export function rubyHits(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  const known = readNames(reading);
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    if (node.type === 'subshell' && node.children.some(({ type }) => type === 'interpolation'))
      hits.push({ start: node.start, end: node.end, call: '`…`', why: why.shell });
    if (node.type !== 'call') continue;
    const hit = callHit(reading, known, node);
    if (hit) hits.push({ ...hit, end: endOf(tree.nodes, node, text) });
  }
  return hits;
}

interface Known {
  /** Own methods by the class (or file) that defines them. */
  readonly own: ReadonlyMap<SyntaxNode, ReadonlySet<string>>;
  /** `alias run eval`, `run = method(:eval)`. */
  readonly aliases: ReadonlyMap<string, { readonly path: string; readonly at: number }>;
  readonly values: ReadonlyMap<string, SyntaxNode>;
}

function readNames({ tree, text, literal }: Reading): Known {
  const own = new Map<SyntaxNode, Set<string>>();
  const aliases = new Map<string, { readonly path: string; readonly at: number }>();
  const values = new Map<string, SyntaxNode>();
  const symbolOf = (node: SyntaxNode | undefined) =>
    node?.type === 'simple_symbol' ? text(node).slice(1) : literal(node);
  for (const node of tree.nodes) {
    if (node.type === 'method' || node.type === 'singleton_method') {
      const owner = classOf(node, tree.root);
      own.set(owner, (own.get(owner) ?? new Set()).add(text(childOf(node, 'name'))));
    } else if (node.type === 'alias') {
      aliases.set(text(childOf(node, 'name')), { path: text(childOf(node, 'alias')), at: node.start });
    } else if (node.type === 'call' && text(childOf(node, 'method')) === 'alias_method') {
      const [name, old] = childOf(node, 'arguments')?.children ?? [];
      const path = symbolOf(old);
      if (name && path !== undefined) aliases.set(symbolOf(name) ?? '', { path, at: node.start });
    } else if (node.type === 'assignment') {
      const name = text(childOf(node, 'left'));
      const value = childOf(node, 'right');
      if (value && name.length < 100) values.set(name, value);
      if (value?.type !== 'call' || !/^(?:method|instance_method)$/.test(text(childOf(value, 'method'))))
        continue;
      const path = symbolOf(childOf(value, 'arguments')?.children[0]);
      const receiver = text(childOf(value, 'receiver'));
      if (path !== undefined && kernel.test(path) && /^(?:|Kernel|self|binding)$/.test(receiver))
        aliases.set(name, { path, at: node.start });
    }
  }
  return { own, aliases, values };
}

function classOf(node: SyntaxNode, root: SyntaxNode): SyntaxNode {
  return ancestorOf(node, 'class', 'module', 'singleton_class') ?? root;
}

function callHit(reading: Reading, known: Known, node: SyntaxNode): Hit | undefined {
  const { text, tree } = reading;
  const receiver = childOf(node, 'receiver');
  const name = childOf(node, 'method');
  const all = childOf(node, 'arguments')?.children.filter(({ type }) => type !== 'comment') ?? [];
  // Options and the environment hash are no words of a command.
  const given = all.filter(({ type }) => !/^(?:pair|hash_splat_argument|block_argument|hash)$/.test(type));
  const owner = receiver ? text(receiver).slice(0, 200) : '';
  const word = text(name);
  const hit = (call: string, reason: string, ...also: readonly number[]): Hit => ({
    start: (name ?? node).start,
    also,
    call,
    why: reason,
  });
  const alias = known.aliases.get(receiver && (!name || word === 'call') ? owner : receiver ? '' : word);
  if (alias && kernel.test(alias.path) && given.length > 0)
    return alias.path === 'eval' || isBuilt(reading, known, given)
      ? hit(alias.path, alias.path === 'eval' ? why.code : why.shell, alias.at)
      : undefined;
  if (
    receiver?.type === 'call' &&
    (!name || word === 'call') &&
    /^method$/.test(text(childOf(receiver, 'method')))
  ) {
    const path = text(childOf(receiver, 'arguments')?.children[0]).slice(1);
    return path === 'eval' || (kernel.test(path) && isBuilt(reading, known, given))
      ? hit(path, path === 'eval' ? why.code : why.shell)
      : undefined;
  }
  if (given.length === 0) return undefined;
  const isOwn =
    !receiver &&
    (known.own.get(classOf(node, tree.root))?.has(word) || known.own.get(tree.root)?.has(word)) === true;
  const isKernel =
    (!receiver && !isOwn) ||
    /^(?:::)?(?:Kernel|Object|Process)$/.test(owner) ||
    (owner === 'self' && !isOwn && known.own.size === 0);
  if (word === 'eval') {
    const isBinding =
      /(?:^|[._])(?:binding|TOPLEVEL_BINDING)(?:\(\))?$/i.test(owner) ||
      isBindingValue(reading, known, owner);
    return isKernel || isBinding ? hit(word, why.code) : undefined;
  }
  if (evals.test(word))
    return word.endsWith('_eval') && isTextual(reading, known, given[0]) ? hit(word, why.code) : undefined;
  if (/^(?:system|exec|spawn)$/.test(word) && isKernel)
    return isBuilt(reading, known, given) ? hit(word, why.shell) : undefined;
  if (
    (word === 'popen' && owner === 'IO') ||
    (/^(?:capture2e?|capture3|popen2e?|popen3|pipeline\w*)$/.test(word) && owner === 'Open3') ||
    (word === 'spawn' && owner === 'PTY')
  )
    return isBuilt(reading, known, given.slice(0, word === 'popen' ? 1 : undefined))
      ? hit(`${owner}.${word}`, why.shell)
      : undefined;
  if (
    word === 'open' &&
    isKernel &&
    /^\s*\|/.test(reading.opening(given[0])) &&
    reading.literal(given[0]) === undefined
  )
    return hit(word, why.shell);
  if (/^RubyVM::InstructionSequence$/.test(owner) && /^(?:compile|new|eval)$/.test(word))
    return hit(`${owner}.${word}`, 'compiles a string as code');
  if (sends.test(word)) {
    const first = given[0];
    const called = first?.type === 'simple_symbol' ? text(first).slice(1) : reading.literal(first);
    if (called === 'eval' || (called !== undefined && evals.test(called) && given.length > 1))
      return hit(`${word} :${called}`, why.code);
    return called !== undefined &&
      /^(?:system|exec|spawn|`)$/.test(called) &&
      isBuilt(reading, known, given.slice(1))
      ? hit(`${word} :${called}`, why.shell)
      : undefined;
  }
  return undefined;
}

/** One argument that is not wholly written down, or a shell told to run such a text. */
function isBuilt(reading: Reading, { values }: Known, given: readonly SyntaxNode[]): boolean {
  const first = given[0];
  if (!first) return false;
  const words = given.map((one) => reading.literal(behind(reading, values, one)));
  if (given.length > 1) return handsShellText(words);
  const value = behind(reading, values, first);
  if (first.type === 'splat_argument') return false;
  if (value?.type === 'array') return handsShellText(value.children.map((one) => reading.literal(one)));
  return words[0] === undefined;
}

function behind({ text }: Reading, values: ReadonlyMap<string, SyntaxNode>, node: SyntaxNode): SyntaxNode {
  return (
    (node.type === 'identifier' || node.type === 'constant' ? values.get(text(node)) : undefined) ?? node
  );
}

/** A text for certain or for all that can be seen; a constant or a block is none. */
function isTextual(reading: Reading, { values }: Known, node: SyntaxNode | undefined): boolean {
  if (!node) return false;
  const { type } = behind(reading, values, node);
  return !/^(?:block_argument|lambda|simple_symbol|integer|nil|self|pair)$/.test(type);
}

function isBindingValue({ text }: Reading, { values }: Known, owner: string): boolean {
  const value = values.get(owner);
  return value !== undefined && /(?:^|\.)(?:binding|get_binding)(?:\(\))?$/.test(text(value).slice(0, 200));
}

/** A here-document stands behind the call that it belongs to. */
function endOf(nodes: readonly SyntaxNode[], node: SyntaxNode, text: (node: SyntaxNode) => string): number {
  const first = childOf(node, 'arguments')?.children[0];
  if (first?.type !== 'heredoc_beginning' || text(first) === '') return node.end;
  const body = nodes.find(({ type, start }) => type === 'heredoc_body' && start >= node.end);
  return body ? body.end : node.end;
}
