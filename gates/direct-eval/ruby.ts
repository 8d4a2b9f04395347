/* Direct execution in Ruby. */
import { argumentsOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Way } from '../../readers/source/names/paths.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { rubyNames } from '../../readers/source/names/ruby-names.ts';
import { type Call, type CallRow, type Hit, hitOf, why as kinds } from './hits.ts';
import { passesShellText } from './shell-command.ts';

const kernel = /^(?:eval|system|exec|spawn)$/;
const evals = /^(?:instance|class|module)_(?:eval|exec)$/;
const isKernelName =
  /^(?:::)?(?:Kernel|Object|Process|(?:Object|Module|Kernel)\.const_get\(\s*[:'"]+Kernel["']?\s*\))$/;
const why = { code: kinds.code, shell: 'runs a built command line in a shell' };

/**
 * Finds direct execution in Ruby. Blocks, argument lists (`system('ls', dir)`) and literal commands evaluate no text.
 */
export function rubyHits(reading: Reading): readonly Hit[] {
  const { text, literal, tree } = reading;
  const names = rubyNames(reading);
  const { behind, symbolOf } = names;
  /** By receiver and method; functions of Kernel have it as their receiver, whatever is written. */
  const rows: readonly CallRow[] = [
    [/^Kernel\.eval$|(?:^|[._])(?:binding|TOPLEVEL_BINDING)(?:\(\))?\.eval$/i, why.code],
    [/^(\w+)\.eval$/, why.code, ({ node }, { path }) => isBinding(path.slice(0, -'.eval'.length), node)],
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
      /^(?:::)?(?:Signal|Process|Kernel)\.trap$/,
      why.code,
      ({ given }) => reading.isText(given[1]) && literal(given[1]) === undefined,
    ],
    [
      /^(?:::)?ERB\.new$/,
      'makes code of a template that is not written down',
      ({ given }) => isTemplate(given[0]),
    ],
    [
      /^(?:(?:Kernel|URI)\.open|IO\.(?:read|binread|readlines|foreach|write|binwrite|copy_stream))$/,
      why.shell,
      ({ given }) => /^\s*\|/.test(reading.opening(given[0])) && literal(given[0]) === undefined,
    ],
    [/^RubyVM::InstructionSequence\.(?:compile|new)$/, 'compiles a string as code'],
  ];
  const hits: Hit[] = [];
  for (const node of tree.nodes) {
    const { start, end } = node;
    if (node.type === 'subshell' && node.children.some(({ type }) => type === 'interpolation'))
      hits.push({ start, end, call: '`…`', why: why.shell });
    const handed = handedOn(node);
    if (handed !== undefined)
      hits.push({ start, end, call: handed, why: handed === 'eval' ? why.code : why.shell });
    const hit = node.type === 'call' ? callHit(node) : undefined;
    // A here-document is behind the call that it belongs to.
    const [first] = argumentsOf(node);
    if (hit) hits.push({ ...hit, end: (first && names.documents.get(first)?.end) ?? end });
  }
  return hits;

  function callHit(node: SyntaxNode): Hit | undefined {
    const receiver = childOf(node, 'receiver');
    const name = childOf(node, 'method');
    const word = text(name);
    const owner = text(receiver).slice(0, 200);
    // Options and the environment hash are not words of a command.
    const given = argumentsOf(node).filter(
      ({ type }) => !/^(?:pair|hash_splat_argument|block_argument|hash)$/.test(type),
    );
    const call: Call = { node, target: name ?? node, given };
    const isCalled = receiver && (!name || word === 'call');
    const alias = names.aliases.get(isCalled ? owner : receiver ? '' : word);
    const method = alias?.path ?? (isCalled ? names.methodObject(receiver) : undefined);
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
    const isOwn = names.isOwn(node, word);
    const isKernel = receiver ? isKernelName.test(owner) || (owner === 'self' && !isOwn) : !isOwn;
    const path = `${isKernel ? 'Kernel' : owner}.${word}`;
    return found(call, path, /^(?!Kernel\b)[A-Z:]/.test(path) ? path : word);
  }

  function found(call: Call, path: string, said: string, at?: number): Hit | undefined {
    const way: Way = { path, origin: at === undefined ? undefined : { at, before: undefined } };
    const hit = hitOf(rows, call, [way]);
    return hit && { ...hit, call: said };
  }

  /** Whether the only argument is not a literal, or a shell receives such a text. */
  function isBuilt(given: readonly SyntaxNode[]): boolean {
    const values = given.map(behind);
    if (given.length > 1) return passesShellText(values.map(names.literal));
    const [value] = values;
    if (!value || given[0]?.type === 'splat_argument') return false;
    return value.type === 'array'
      ? passesShellText(value.children.map(names.literal))
      : names.literal(value) === undefined;
  }

  /** Whether a template's text is neither written down nor read from a file. */
  function isTemplate(node: SyntaxNode | undefined): boolean {
    const value = node && behind(node);
    if (!value || names.literal(value) !== undefined) return false;
    for (let at: SyntaxNode | undefined = value; at?.type === 'call'; at = childOf(at, 'receiver'))
      if (/^(?:read|binread|readlines)$/.test(text(childOf(at, 'method')))) return false;
    return true;
  }

  /** `lines.each(&method(:system))`, `method(:eval)[text]`. */
  function handedOn(node: SyntaxNode): string | undefined {
    const [given] = /^(?:block_argument|element_reference)$/.test(node.type) ? node.children : [];
    if (!given || given.type === 'simple_symbol') return undefined;
    const path = names.methodObject(given) ?? names.aliases.get(text(given).slice(0, 100))?.path;
    return path !== undefined && kernel.test(path) ? path : undefined;
  }

  /** A text for certain or for all that can be seen; a constant or a block is none. */
  function isTextual(node: SyntaxNode | undefined): boolean {
    return (
      node !== undefined &&
      !/^(?:block_argument|lambda|simple_symbol|integer|nil|self|pair)$/.test(behind(node).type)
    );
  }

  function isBinding(owner: string, from: SyntaxNode): boolean {
    return /(?:^|\.)(?:get_)?binding(?:\(\))?$/.test(text(names.givenTo(owner, from)).slice(0, 200));
  }
}
