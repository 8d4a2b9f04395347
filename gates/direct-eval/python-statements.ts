import { childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { PythonNames } from '../../readers/source/names/python-names.ts';
import type { Reading } from '../../readers/source/names/reading.ts';

/**
 * Functions of the standard library that execute their first argument, which is a text or what was compiled from one.
 */
const runners =
  /^(?:(?:cProfile|profile)\.(?:Profile\(\)\.)?(?:run|runctx)|(?:pdb\.(?:Pdb\(\)\.)?|bdb\.Bdb\(\)\.)(?:run|runeval|runctx)|trace\.Trace\(\)\.(?:run|runctx)|code\.Interactive(?:Interpreter|Console)\(\)\.(?:runsource|runcode|push)|code(?:op)?\.compile_command)$/;
/** Functions that execute the file or module which their first argument names. */
const scripts = /^runpy\.run_(?:path|module)$/;
/** They ask whoever sits before them, and need no argument for that. */
export const consoles: RegExp = /^code\.(?:interact|InteractiveConsole\(\)\.interact)$/;
/** Functions that execute `stmt` and `setup`, each a text or a function. */
const timers = /^timeit\.(?:timeit|repeat|Timer)$/;
const named = /^(?:stmt|setup|cmd|statement|expression|source|code|path_name|mod_name)$/;
const textMethods =
  /^(?:format|format_map|join|read|readline|strip|rstrip|lstrip|replace|decode|getvalue|read_text|lower|upper|removeprefix|dedent|substitute)$/;
const textFunctions = /^(?:input|str|repr|chr|textwrap\.dedent|os\.getenv|os\.environ\.get)$/;
/** What a parameter without a type is called where it is a function. */
const functionLike =
  /^_*(?:f|g|fn|cb|op|\w*(?:func|function|callable|callback|method|target|task|impl|benchmark|bench|handler|fn))\d*$/;

/** Of choices between values: what goes further is not to be told. */
const maxSteps = 50;

/**
 * Why a call executes text that is not written down, of the functions that take a statement; a literal statement is no
 * finding.
 */
export function statementReason(
  reading: Reading,
  names: PythonNames,
  path: string,
  given: readonly SyntaxNode[],
): string | undefined {
  if (consoles.test(path)) return 'evaluates what is typed';
  const isTimer = timers.test(path);
  if (!isTimer && !runners.test(path) && !scripts.test(path)) return undefined;
  const positional = given.filter(({ type }) => type !== 'keyword_argument');
  const texts = [
    ...positional.slice(0, isTimer ? 2 : 1),
    ...given
      .filter(
        ({ type, ...one }) =>
          type === 'keyword_argument' && named.test(reading.text(childOf({ type, ...one }, 'name'))),
      )
      .map((one) => childOf(one, 'value')),
  ];
  const isOpen = texts.some(
    (one) =>
      one && reading.literal(names.behind(one)) === undefined && (!isTimer || mayBeText(reading, names, one)),
  );
  if (!isOpen) return undefined;
  return scripts.test(path) ? 'runs a file whose name is not written down' : 'evaluates a string as code';
}

/** Whether a value, where it may as well be a function, is a text or not to be told from one. */
function mayBeText(reading: Reading, names: PythonNames, given: SyntaxNode, walked = { steps: 0 }): boolean {
  const { text } = reading;
  const node = names.behind(given);
  walked.steps += 1;
  if (walked.steps > maxSteps) return true;
  if (!node) return false;
  switch (node.type) {
    case 'string':
    case 'concatenated_string':
    case 'binary_operator':
    case 'subscript':
      return true;
    case 'conditional_expression':
      return node.children.some((child) => mayBeText(reading, names, child, walked));
    case 'call': {
      const target = childOf(node, 'function');
      const member = target?.type === 'attribute' ? text(childOf(target, 'attribute')) : '';
      return textMethods.test(member) || textFunctions.test(names.resolve(target) ?? '');
    }
    case 'identifier': {
      const type = names.typeOf(node);
      return type === undefined ? !functionLike.test(text(node)) : /\bstr\b/.test(type);
    }
  }
  return false;
}
