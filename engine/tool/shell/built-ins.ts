import { checkAssignedName } from './assigned-name.ts';
import { type Reading, type ShellWord, unproven } from './reading.ts';

/** Built-ins that give text or a name a meaning that the tree does not show. */
const refused = new Set(
  `
    eval . source alias unalias trap fc hash builtin enable declare typeset let shopt mapfile readarray bind
    complete compgen compopt caller dirs pushd popd disown suspend logout history help local getopts coproc
    select function autoload emulate noglob nocorrect whence print functions setopt unsetopt zmodload chdir
  `
    .trim()
    .split(/\s+/),
);

/** Built-ins whose operands are variables, with the options that they may have. */
const namingOptions: ReadonlyMap<string, RegExp> = new Map([
  ['export', /^(?:-p|--)$/],
  ['readonly', /^(?:-p|--)$/],
  ['unset', /^(?:-v|--)$/],
  ['read', /^-r$/],
]);

/** Ends the reading where a shell built-in would do more than run with these arguments. */
export function checkBuiltIn(name: string, args: readonly ShellWord[], reading: Reading): void {
  if (refused.has(name)) unproven(`what \`${name}\` does cannot be told from its text`);
  const naming = namingOptions.get(name);
  if (naming) checkNames(name, args, reading, naming);
  if (name === 'set') {
    const isPlain = args.every((word) =>
      /^(?:[-+][aefuxC]+|[-+]o|errexit|nounset|xtrace|noglob|pipefail)$/.test(word.literal ?? ''),
    );
    if (!isPlain || args.length === 0) unproven('expected plain options after `set`');
  }
  if (name === 'test' || name === '[') checkTest(name, args);
  if ((name === 'printf' || name === 'wait') && args[0] !== undefined) {
    if (!args[0].operand && !/^--?$/.test(args[0].literal ?? '')) unproven(`\`${name}\` with an option`);
  }
}

const afterOperand = /^(?:\]|\)|=|!=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef|a|o))$/;

/** `-v` evaluates the subscript in its operand, with the commands that stand in it; an expansion must not become it. */
function checkTest(name: string, args: readonly ShellWord[]): void {
  for (const [index, word] of args.entries()) {
    if (/^-[vR]$/.test(word.literal ?? '')) unproven(`\`${name} ${word.literal}\` is not in every shell`);
    if (word.literal !== undefined || word.operand) continue;
    if (!word.single) unproven(`expected quotes around ${word.text.slice(0, 40)} in \`${name}\``);
    const next = args[index + 1];
    if (next && !afterOperand.test(next.literal ?? ''))
      unproven(`an expansion in \`${name}\` that could be an operator`);
  }
}

/** Operands that name variables: each is written out and may be assigned. */
function checkNames(name: string, args: readonly ShellWord[], reading: Reading, option: RegExp): void {
  for (const word of args) {
    const { literal, head } = word;
    if (literal !== undefined && option.test(literal)) continue;
    const equals = head.indexOf('=');
    const hasValue = equals !== -1 && (name === 'export' || name === 'readonly');
    if (hasValue ? !word.single : literal === undefined)
      unproven(`a name after \`${name}\` that is not written out`);
    const variable = hasValue ? head.slice(0, equals) : (literal ?? '');
    const value = literal?.slice(equals + 1);
    if (name === 'export' && !hasValue) {
      if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(variable)) unproven(`expected a name after \`${name}\``);
      reading.reference(variable);
      continue;
    }
    checkAssignedName(variable, value === undefined ? undefined : { ...word, literal: value });
    reading.assigned.add(variable);
  }
}
