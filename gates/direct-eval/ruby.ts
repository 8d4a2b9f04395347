import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import {
  type RubyNames,
  rubyBehind,
  rubyClassOf,
  rubyLiteral,
  rubyMethodObject,
  rubyNames,
  rubySymbol,
} from '../../readers/source/names/ruby-names.ts';
import type { Hit } from './hit.ts';
import { handsShellText } from './shell-words.ts';

const kernel = /^(?:eval|system|exec|spawn)$/;
const evals = /^(?:instance_eval|class_eval|module_eval|instance_exec|class_exec|module_exec)$/;
/** Methods of IO that run what stands behind a bar. */
const pipes = /^(?:read|binread|readlines|foreach|write|binwrite|copy_stream)$/;
const sends = /^(?:send|__send__|public_send)$/;
const why = { code: 'evaluates a string as code', shell: 'runs a built command line in a shell' };

/**
 * Direct execution in Ruby. Blocks, argument lists (`system('ls', dir)`) and commands that are wholly written down
 * evaluate nothing.
 */
export function rubyHits(reading: Reading): readonly Hit[] {
  const { tree } = reading;
  const known = rubyNames(reading);
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    if (node.type === 'subshell' && node.children.some(({ type }) => type === 'interpolation'))
      hits.push({ start: node.start, end: node.end, call: '`…`', why: why.shell });
    const handed = handedOn(reading, known, node);
    if (handed !== undefined)
      hits.push({
        start: node.start,
        end: node.end,
        call: handed,
        why: handed === 'eval' ? why.code : why.shell,
      });
    if (node.type !== 'call') continue;
    const hit = callHit(reading, known, node);
    if (hit) hits.push({ ...hit, end: endOf(known, node) });
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
  if (receiver?.type === 'call' && (!name || word === 'call')) {
    const path = rubyMethodObject(reading, receiver);
    if (path !== undefined)
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
    /^(?:::)?(?:Kernel|Object|Process|(?:Object|Module|Kernel)\.const_get\(\s*[:'"]+Kernel["']?\s*\))$/.test(
      owner,
    ) ||
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
    (/^(?:capture2e?|capture3|popen2e?|popen3)$/.test(word) && owner === 'Open3') ||
    (/^(?:spawn|getpty)$/.test(word) && owner === 'PTY')
  )
    return isBuilt(reading, known, given.slice(0, word === 'popen' ? 1 : undefined))
      ? hit(`${owner}.${word}`, why.shell)
      : undefined;
  if (/^pipeline/.test(word) && owner === 'Open3')
    return given.some((one) => isBuilt(reading, known, [one]))
      ? hit(`${owner}.${word}`, why.shell)
      : undefined;
  if (word === 'load' && isKernel && /^\/dev\/(?:stdin|fd\/)/.test(reading.literal(given[0]) ?? ''))
    return hit(word, 'runs what it is fed');
  if (word === 'trap' && /^(?:|(?:::)?(?:Signal|Process|Kernel))$/.test(owner) && given.length > 1)
    return reading.isText(given[1]) && reading.literal(given[1]) === undefined
      ? hit(word, why.code)
      : undefined;
  if (word === 'new' && /^(?:::)?ERB$/.test(owner))
    return isTemplate(reading, known, given[0])
      ? hit('ERB.new', 'makes code of a template that is not written down')
      : undefined;
  if (
    ((word === 'open' && (isKernel || owner === 'URI')) || (pipes.test(word) && owner === 'IO')) &&
    /^\s*\|/.test(reading.opening(given[0])) &&
    reading.literal(given[0]) === undefined
  )
    return hit(word, why.shell);
  if (/^RubyVM::InstructionSequence$/.test(owner) && /^(?:compile|new)$/.test(word))
    return hit(`${owner}.${word}`, 'compiles a string as code');
  if (sends.test(word)) {
    const called = rubySymbol(reading, given[0]);
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
function isBuilt(reading: Reading, known: RubyNames, given: readonly SyntaxNode[]): boolean {
  const first = given[0];
  if (!first) return false;
  const words = given.map((one) => rubyLiteral(reading, known, rubyBehind(reading, known.values, one)));
  if (given.length > 1) return handsShellText(words);
  const value = rubyBehind(reading, known.values, first);
  if (first.type === 'splat_argument') return false;
  if (value?.type === 'array')
    return handsShellText(value.children.map((one) => rubyLiteral(reading, known, one)));
  return words[0] === undefined;
}

/** Whether a template's text is neither written down nor read from a file. */
function isTemplate(reading: Reading, known: RubyNames, node: SyntaxNode | undefined): boolean {
  if (!node) return false;
  const value = rubyBehind(reading, known.values, node);
  if (rubyLiteral(reading, known, value) !== undefined) return false;
  let at: SyntaxNode | undefined = value;
  for (let steps = 0; at?.type === 'call' && steps < 20; steps += 1) {
    if (/^(?:read|binread|readlines)$/.test(reading.text(childOf(at, 'method')))) return false;
    at = childOf(at, 'receiver');
  }
  return true;
}

/** `lines.each(&method(:system))`, `method(:eval)[text]`. */
function handedOn(reading: Reading, known: RubyNames, node: SyntaxNode): string | undefined {
  if (node.type !== 'block_argument' && node.type !== 'element_reference') return undefined;
  const taken = node.children[0];
  if (!taken) return undefined;
  const path = rubyMethodObject(reading, taken) ?? known.aliases.get(reading.text(taken).slice(0, 100))?.path;
  return path !== undefined && taken.type !== 'simple_symbol' && kernel.test(path) ? path : undefined;
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
function endOf({ documents }: RubyNames, node: SyntaxNode): number {
  const first = childOf(node, 'arguments')?.children[0];
  return (first && documents.get(first)?.end) ?? node.end;
}
