import { childOf, childrenOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';

const dynamic =
  /^(?:simple_expansion|expansion|command_substitution|process_substitution|string_expansion|translated_string)$/;
/** A count, a status, a process number, a length, a sum: digits, whatever happens. */
const digits = /^\$(?:[#?$!]|\{#\w+(?:\[[@*]\])?\}|\(\([\s\S]*\)\))$/;

/** An expansion in a document, other than a number. */
const expands = /(?<!\\)(?:\\\\)*(?:`|\$(?:[a-zA-Z_0-9@*-]|\{(?!#)|\((?!\()))/;
/** `$(( … ))` gives a number, whatever stands in it. */
const sums = /\$\(\((?:[^()]|\([^()]*\))*\)\)/g;
const maxDigits = 200;
/** A longer row of pipes is not looked along. */
const maxPipes = 500;

/** Whether a word or text holds something that is only known when it runs, and is no number. */
export function isBuiltText(reading: Reading, node: SyntaxNode): boolean {
  if (node.type === 'arithmetic_expansion') return false;
  if (dynamic.test(node.type)) return !digits.test(reading.text(node).slice(0, maxDigits));
  return node.children.some((child) => isBuiltText(reading, child));
}

/** The grammar takes some expansions in here-documents for text, so that their text is asked. */
function isBuiltDocument(reading: Reading, redirect: SyntaxNode): boolean {
  if (redirect.type === 'herestring_redirect') return isBuiltText(reading, redirect);
  const mark = redirect.children.find(({ type }) => type === 'heredoc_start');
  const body = redirect.children.find(({ type }) => type === 'heredoc_body');
  return (
    body !== undefined &&
    !/['"\\]/.test(reading.text(mark)) &&
    expands.test(reading.text(body).replace(sums, ''))
  );
}

/**
 * Why a command that runs its standard input runs text that is not written down; `undefined` where it reads a file or a
 * literal.
 */
export function inputReason(reading: Reading, node: SyntaxNode): string | undefined {
  const { text } = reading;
  const around = node.parent?.type === 'redirected_statement' ? node.parent : undefined;
  for (const redirect of [...redirectsOf(node), ...(around ? redirectsOf(around) : [])]) {
    if (redirect.type !== 'file_redirect')
      return isBuiltDocument(reading, redirect) ? 'runs a built text' : undefined;
    if (!/^0?</.test(text(redirect))) continue;
    const from = childOf(redirect, 'destination');
    return from?.type === 'process_substitution' ? 'runs what another command prints' : undefined;
  }
  return printedReason(reading, node);
}

/** What is piped into it, where a pipe leads to it. */
function printedReason(reading: Reading, node: SyntaxNode): string | undefined {
  let at = node;
  while (at.parent && /^(?:redirected_statement|negated_command)$/.test(at.parent.type)) at = at.parent;
  for (; at.parent?.type === 'pipeline'; at = at.parent) {
    const row = at.parent.children;
    const before = row.length > maxPipes ? row[0] : row[row.indexOf(at) - 1];
    if (before) return isWrittenDown(reading, before) ? undefined : 'runs what is piped into it';
  }
  // `cat <<END | sh`: the pipe stands inside the redirection.
  const outer = at.parent?.type === 'heredoc_redirect' ? at.parent.parent : undefined;
  if (!outer || at.type === 'command' || at.field === 'right') return undefined;
  return isWrittenDown(reading, outer) ? undefined : 'runs what is piped into it';
}

/** `echo` or `printf` of literals, `cat` of a literal document. */
function isWrittenDown(reading: Reading, node: SyntaxNode): boolean {
  const command = node.type === 'redirected_statement' ? childOf(node, 'body') : node;
  if (command?.type !== 'command') return false;
  const name = reading.text(childOf(command, 'name'));
  const given = childrenOf(command, 'argument');
  if (name === 'echo' || name === 'printf') return given.every((one) => reading.literal(one) !== undefined);
  const documents = [...redirectsOf(node), ...redirectsOf(command)].filter(
    ({ type }) => type !== 'file_redirect',
  );
  return (
    name === 'cat' &&
    given.length === 0 &&
    documents.length > 0 &&
    !documents.some((one) => isBuiltDocument(reading, one))
  );
}

function redirectsOf(node: SyntaxNode): readonly SyntaxNode[] {
  return node.children.filter(({ type }) => /^(?:file|heredoc|herestring)_redirect$/.test(type));
}
