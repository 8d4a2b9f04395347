import { childOf, type SyntaxNode } from '../grammar/syntax-tree.ts';
import type { Hit } from './hit.ts';
import type { Reading } from './reading.ts';
import { type RubyNames, rubyBehind, rubyClassOf, rubyNames } from './ruby-names.ts';
import { handsShellText } from './shell-words.ts';

const kernel = /^(?:eval|system|exec|spawn)$/;
const evals = /^(?:instance_eval|class_eval|module_eval|instance_exec|class_exec|module_exec)$/;
const sends = /^(?:send|__send__|public_send)$/;
const why = { code: 'evaluates a string as code', shell: 'runs a built command line in a shell' };

/** Direct execution in Ruby. Blocks, argument lists (`system('ls', dir)`) and commands that are wholly written down evaluate nothing. */
export function rubyHits(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  const known = rubyNames(reading);
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

function callHit(reading: Reading, known: RubyNames, node: SyntaxNode): Hit | undefined {
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
    (known.own.get(rubyClassOf(node, tree.root))?.has(word) || known.own.get(tree.root)?.has(word)) === true;
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
function isBuilt(reading: Reading, { values }: RubyNames, given: readonly SyntaxNode[]): boolean {
  const first = given[0];
  if (!first) return false;
  const words = given.map((one) => reading.literal(rubyBehind(reading, values, one)));
  if (given.length > 1) return handsShellText(words);
  const value = rubyBehind(reading, values, first);
  if (first.type === 'splat_argument') return false;
  if (value?.type === 'array') return handsShellText(value.children.map((one) => reading.literal(one)));
  return words[0] === undefined;
}

/** A text for certain or for all that can be seen; a constant or a block is none. */
function isTextual(reading: Reading, { values }: RubyNames, node: SyntaxNode | undefined): boolean {
  if (!node) return false;
  const { type } = rubyBehind(reading, values, node);
  return !/^(?:block_argument|lambda|simple_symbol|integer|nil|self|pair)$/.test(type);
}

function isBindingValue({ text }: Reading, { values }: RubyNames, owner: string): boolean {
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
