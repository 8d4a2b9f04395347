/* Direct execution and unsafe commands in shell scripts. */
import { firstIndex } from '../../readers/source/first-index.ts';
import {
  ancestorOf,
  childOf,
  childrenOf,
  type SyntaxNode,
} from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { collectHits, type Hit, sastHit } from './hits.ts';
import {
  baseOf,
  type Interpreter,
  inputReason,
  interpreterOf,
  isBuiltText,
  type ShellCaller,
  type ShellCommand,
  type ShellWord,
  shellCallerOf,
  shellCommand,
} from './shell-command.ts';

const stdin = /^(?:-|\/dev\/stdin|\/dev\/fd\/\d+|\/proc\/self\/fd\/\d+)$/;
/** What replaces a piece of a script that is only known when it runs. */
const unknownPiece = '\0';
const maxScript = 1_000;
/** A part of a script of GNU sed: an address, `s` and `y` with flags, `e` with its command, another command. */
const sedPart =
  /[\s;{}!,~+\d$\0]+|\/(?:\\[\s\S]|[^\\/])*\/[IM]*|[sy]([^\\\n])(?:\\[\s\S]|(?!\1)[^\\])*\1(?:\\[\s\S]|(?!\1)[^\\])*\1(?<flags>[gpiImMe\d]*)(?:w[^\n]*)?|e(?<run>[^\n]*)|[aicrwRW](?:\\[\s\S]|[^\\\n])*|[btT:][^;\n}]*|[dDgGhHnNpPxqQlLFz=]/y;
/** Of one variable. */
const maxValues = 20;
const why = {
  eval: 'evaluates a string as shell code',
  shell: 'hands a built command line to a shell',
  code: 'hands a built text to an interpreter',
  printed: 'runs what another command prints',
  later: 'keeps a built text that is evaluated later',
};

/**
 * Finds direct execution in shell scripts: `eval`, non-literal text passed to a shell or another interpreter (as an
 * argument, a document or through a pipe), and sourcing the output of a command. `exec` replaces the process and
 * evaluates no text, so it does not count.
 */
export function shellHits(reading: Reading): readonly Hit[] {
  const { tree, text } = reading;
  /** Own functions, and whether each runs its words. */
  const own = new Map<string, boolean>();
  const values = new Map<string, SyntaxNode[]>();
  const aliases = new Map<string, string>();
  for (const node of tree.nodes) {
    if (node.type === 'function_definition') own.set(text(childOf(node, 'name')), false);
    else if (node.type === 'variable_assignment') {
      const value = childOf(node, 'value');
      const name = text(childOf(node, 'name'));
      const known = values.get(name) ?? [];
      values.set(name, known);
      if (value && known.length < maxValues) known.push(value);
    } else if (node.type === 'command') readCommand(node);
  }
  const hits = collectHits(tree, { command: commandHit });
  return [...hits, ...unsafeHits(reading, hits)];

  function readCommand(node: SyntaxNode): void {
    const name = text(childOf(node, 'name'));
    if (name === 'alias') {
      for (const argument of childrenOf(node, 'argument')) {
        const found = /^(\w+)=["']?(\w+)["']?$/.exec(text(argument));
        if (found?.[1] !== undefined && found[2] !== undefined) aliases.set(found[1], found[2]);
      }
    } else if (/^"?\$(?:@|\*|\{@\})"?$/.test(name)) {
      const around = ancestorOf(node, 'function_definition');
      if (around) own.set(text(childOf(around, 'name')), true);
    }
  }

  function commandHit(node: SyntaxNode): Hit | undefined {
    const command = shellCommand(reading, node, (name) => own.get(name) === false);
    const word = command?.words[command.at];
    if (!command || !word) return undefined;
    const given = command.words.slice(command.at + 1);
    for (const called of namesOf(word, command.at === 0)) {
      const isOwn = command.at === 0 && own.has(called);
      const found = isOwn ? undefined : reasonOf(node, called, given, command);
      if (found) return { start: word.node.start, end: node.end, call: found[0], why: found[1] };
    }
    return undefined;
  }

  /** The commands that a word may name: every value that a variable was given. */
  function namesOf({ node, said }: ShellWord, isFirst: boolean): readonly string[] {
    if (said !== undefined) return [isFirst && !own.has(said) ? (aliases.get(said) ?? said) : said];
    const inner = node.type === 'string' && node.children.length === 1 ? node.children[0] : node;
    if (!inner || !/^(?:simple_expansion|expansion)$/.test(inner.type)) return [];
    const name = text(inner.children[0]);
    if (name === 'SHELL' || name === 'BASH') return ['sh'];
    return [...new Set(values.get(name)?.flatMap((value) => reading.literal(value) ?? []))];
  }

  function reasonOf(
    node: SyntaxNode,
    called: string,
    given: readonly ShellWord[],
    command: ShellCommand,
  ): readonly [call: string, why: string] | undefined {
    const base = baseOf(called);
    if (called === 'eval') return given.length > 0 ? [called, why.eval] : undefined;
    if (called === 'source' || called === '.') {
      if (given[0]?.node.type === 'process_substitution') return [called, why.printed];
      const reason = stdin.test(given[0]?.said ?? '') ? inputReason(reading, node) : undefined;
      return reason === undefined ? undefined : [`${called} ${given[0]?.said}`, reason];
    }
    if (called === 'trap') {
      const operands = operandsOf(given, /^$/);
      return operands.length > 1 && isBuilt(operands[0]) ? [called, why.later] : undefined;
    }
    if (called === 'alias')
      return given.some((one) => one.opening.includes('=') && isBuilt(one)) ? [called, why.later] : undefined;
    if (/^g?sed$/.test(base)) return sedRuns(given) ? [`${base} e`, 'runs what it reads'] : undefined;
    if (/^(?:at|batch)$/.test(base)) return fed(base, node);
    const caller = shellCallerOf(called);
    if (caller) return callerReason(node, base, given, caller);
    const interpreter = interpreterOf(called);
    return (
      interpreter && interpreterReason(node, called, given, { interpreter, placeholder: command.placeholder })
    );
  }

  function interpreterReason(
    node: SyntaxNode,
    called: string,
    given: readonly ShellWord[],
    {
      interpreter,
      placeholder,
    }: { readonly interpreter: Interpreter; readonly placeholder: string | undefined },
  ): readonly [call: string, why: string] | undefined {
    const isShell = /sh$/.test(baseOf(called));
    const { code, valued, elsewhere, input } = interpreter;
    for (let at = 0; at < given.length; at += 1) {
      const word = given[at];
      const option = word?.opening ?? '';
      if (
        !word ||
        !/^[-+/]./.test(option) ||
        (word.said !== undefined && stdin.test(word.said)) ||
        (option.startsWith('/') && !code.test(option))
      ) {
        if (word?.node.type === 'process_substitution') return [called, why.printed];
        if (input === 'operand')
          return isBuilt(word) && !isAllWords(word) ? [baseOf(called), why.code] : undefined;
        return word?.said !== undefined && stdin.test(word.said) ? fed(called, node) : undefined;
      }
      const flag = code.exec(option)?.[0];
      if (flag !== undefined) {
        // A shell's options may follow `-c`; in other programs the code follows the letter.
        const line =
          word.said === flag
            ? given.slice(at + 1).find(({ said }) => !isShell || said === undefined || !/^-/.test(said))
            : word;
        return line && (isBuilt(line) || isFilledIn(line, placeholder))
          ? [`${called} ${flag}`, isShell ? why.shell : why.code]
          : undefined;
      }
      if (elsewhere.test(option)) return undefined;
      if (isShell && /^-[a-zA-Z]*s/.test(option)) break;
      if (valued.test(option)) {
        at += 1;
        if (given[at]?.node.type === 'process_substitution') return [called, why.printed];
      } else if (/^--?(?:version|help)$|^-[nV]$/.test(option)) return undefined;
    }
    return input === 'input' ? fed(called, node) : undefined;
  }

  function callerReason(
    node: SyntaxNode,
    base: string,
    given: readonly ShellWord[],
    { valued, code, joinsFrom, unless }: ShellCaller,
  ): readonly [call: string, why: string] | undefined {
    if (Number.isNaN(joinsFrom)) {
      const at = given.findIndex(({ opening }) => code.test(opening));
      const word = given[at];
      const line = word && code.exec(word.opening)?.[0] === word.said ? given[at + 1] : word;
      return isBuilt(line) ? [`${base} ${code.exec(word?.opening ?? '')?.[0]}`, why.shell] : undefined;
    }
    if (given.some(({ said }) => unless.test(said ?? ''))) return undefined;
    const operands = operandsOf(given, valued);
    // `ssh $options "$host" uptime`: an unquoted variable may expand to several words, so its position is uncertain.
    const [first] = operands;
    const isOpen = joinsFrom > 0 && operands.length > 2 && first !== undefined && mayBeMany(first);
    const words = operands.slice(joinsFrom + (isOpen ? 1 : 0));
    if (words.length === 0) return base === 'ssh' && operands.length > 0 ? fed(base, node) : undefined;
    return words.some(isBuilt) ? [base, why.shell] : undefined;
  }

  function fed(called: string, node: SyntaxNode): readonly [call: string, why: string] | undefined {
    const reason = inputReason(reading, node);
    return reason === undefined ? undefined : [`| ${called}`, reason];
  }

  function sedRuns(given: readonly ShellWord[]): boolean {
    const scripts: (ShellWord | undefined)[] = [];
    const operands: ShellWord[] = [];
    let isNamed = false;
    given.forEach((word, at) => {
      const before = given[at - 1]?.said ?? '';
      if (/^-[nErsuzi]*e$|^--expression$/.test(before)) scripts.push(word);
      else if (/^-[nErsuz]*[fl]$/.test(before)) return;
      else if (/^-[nErsuzi]*f|^--file/.test(word.opening)) isNamed = true;
      else if (!word.opening.startsWith('-')) operands.push(word);
    });
    if (scripts.length === 0 && !isNamed) scripts.push(operands[0]);
    return scripts.some((word) => word !== undefined && sedRunsText(pieces(word.node)));
  }

  /** `"$@"`: the words come from the caller, so this is not a hit here. */
  function isAllWords(word: ShellWord | undefined): boolean {
    return /^"?\$(?:@|\{@\}|\{\w+\[@\]\})"?$/.test(text(word?.node).slice(0, 100));
  }

  /** A word's text, with a mark for each piece that is not known. */
  function pieces(node: SyntaxNode): string {
    const said = reading.literal(node);
    if (said !== undefined) return said;
    if (node.type === 'string_content') return text(node);
    return node.type === 'string' || node.type === 'concatenation'
      ? node.children.map(pieces).join('')
      : unknownPiece;
  }

  function isBuilt(word: ShellWord | undefined): boolean {
    return word !== undefined && isBuiltText(reading, word.node);
  }

  /** Whether another program puts something into a literal before it is run. */
  function isFilledIn(word: ShellWord, placeholder: string | undefined): boolean {
    return placeholder !== undefined && placeholder !== '' && (word.said ?? '').includes(placeholder);
  }
}

/** Whether a `sed` script runs its input, or a command that is not a literal: `s/…/…/e`, `1e "$command"`. */
function sedRunsText(script: string): boolean {
  const text = script.slice(0, maxScript);
  sedPart.lastIndex = 0;
  for (let part = sedPart.exec(text); part; part = sedPart.exec(text)) {
    const { flags, run } = part.groups ?? {};
    if (flags?.includes('e') || (run !== undefined && /^\s*(?:$|[;}])|\0/.test(run))) return true;
  }
  return false;
}

/** Words that are neither options nor their values. */
function operandsOf(given: readonly ShellWord[], valued: RegExp): readonly ShellWord[] {
  const operands: ShellWord[] = [];
  for (let at = 0; at < given.length; at += 1) {
    const word = given[at];
    if (!word) break;
    if (operands.length === 0 && /^-./.test(word.opening)) {
      if (word.said === '--') return given.slice(at + 1);
      if (valued.test(word.said ?? '')) at += 1;
    } else operands.push(word);
  }
  return operands;
}

/** An expansion that the shell may split into several words. */
function mayBeMany({ node }: ShellWord): boolean {
  if (node.type === 'simple_expansion' || node.type === 'expansion') return true;
  return (
    node.type === 'string' &&
    node.children.length === 1 &&
    node.children[0]?.children[0]?.type === 'subscript'
  );
}

const downloads = /^(?:.*\/)?(?:curl|wget|fetch)$/;
/** Commands around one that are looked through. */
const maxCommands = 500;
/** Curl options with a value. Letters after one of them are its value, not options. */
const valued = 'AbcCdDeEFhHKmoPQrtTuUwxXyYz';
const curlSwitch = new RegExp(`^--insecure$|^-[^-${valued}]*k`);
const curlValued = new RegExp(`^-[^-${valued}]*[${valued}]$`);
const local = /^(?:https?:\/\/)?(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?:[:/]|$)/i;
const switches: Readonly<Record<string, string>> = {
  GIT_SSL_NO_VERIFY: '^(?:1|true)$',
  NODE_TLS_REJECT_UNAUTHORIZED: '^0$',
  PYTHONHTTPSVERIFY: '^0$',
};

/** Unsafe commands and settings; `executing`: commands that execute text. */
function unsafeHits(reading: Reading, executing: readonly Hit[]): readonly Hit[] {
  const { tree, text, literal } = reading;
  const commands = executing.length > 0 ? tree.nodes.filter(({ type }) => type === 'command') : [];
  return collectHits(tree, { command: commandHit, variable_assignment: assignmentHit });

  /** The words of a command, past programs that only run the words behind them; `''` for what is not written down. */
  function wordsOf(node: SyntaxNode): readonly string[] {
    const { words, at } = shellCommand(reading, node, () => false) ?? { words: [], at: 0 };
    return words.slice(at).map(({ said = '' }) => said);
  }

  function commandHit(node: SyntaxNode): Hit | undefined {
    const words = wordsOf(node);
    const run = executing.find(({ start, end }) => start >= node.start && end === node.end);
    if (run && readsDownload(node))
      return sastHit(
        'sast/shell-download-executed',
        node,
        /^(?:eval|source|\.)\b/.test(run.call) ? (words[0] ?? '') : `| ${words[0]}`,
      );
    const mode = modeOf(words);
    if (mode !== undefined) return sastHit('sast/shell-world-writable', node, `chmod ${mode}`);
    const off = unverified(words);
    return off === undefined ? undefined : sastHit('sast/shell-tls-unverified', node, off);
  }

  /** `curl … | sh`, `sh <(curl …)`, `sh -c "$(curl …)"`. */
  function readsDownload(node: SyntaxNode): boolean {
    let whole = node;
    while (whole.parent && /^(?:redirected_statement|negated_command|pipeline)$/.test(whole.parent.type))
      whole = whole.parent;
    const first = firstIndex(commands.length, (at) => (commands[at]?.start ?? 0) < whole.start);
    return commands
      .slice(first, first + maxCommands)
      .some((one) => one.start < node.end && one !== node && downloads.test(wordsOf(one)[0] ?? ''));
  }

  function modeOf(words: readonly string[]): string | undefined {
    const isFind = /^(?:.*\/)?find$/.test(words[0] ?? '');
    const start = isFind
      ? words.findIndex((one, index) => one === 'chmod' && /^-exec(?:dir)?$/.test(words[index - 1] ?? ''))
      : 0;
    if (start < 0 || !/^(?:.*\/)?chmod$/.test(words[start] ?? '')) return undefined;
    const mode = words.slice(start + 1).find((one) => !/^-(?:[A-Zcfv]+|-\S+)$/.test(one));
    return mode !== undefined && isWorldWritable(mode) ? mode : undefined;
  }

  /** Others may write, and no sticky bit keeps them from each other's files. */
  function isWorldWritable(mode: string): boolean {
    if (/^[0-7]{3,5}$/.test(mode)) {
      const bits = Number.parseInt(mode, 8);
      return (bits & 0o002) !== 0 && (bits & 0o1000) === 0;
    }
    if (!/^[ugoa]*[-+=]/.test(mode) || /t/.test(mode)) return false;
    return mode.split(',').some((part) => /^[ug]*[oa][ugoa]*[+=][rxXs]*w/.test(part));
  }

  function unverified(words: readonly string[]): string | undefined {
    const name = (words[0] ?? '').replace(/^.*\//, '');
    if (
      name === 'curl' &&
      words.some((word, at) => curlSwitch.test(word) && !curlValued.test(words[at - 1] ?? '')) &&
      !isLocal(words)
    )
      return 'curl --insecure';
    if (name === 'wget' && words.includes('--no-check-certificate') && !isLocal(words))
      return 'wget --no-check-certificate';
    if (name === 'git') {
      const joined = words.join(' ');
      return /(?:^| )http\.(?:\S+\.)?sslVerify[ =](?:false|0)(?: |$)/i.test(joined)
        ? 'git http.sslVerify'
        : undefined;
    }
    if (/^(?:npm|yarn|pnpm)$/.test(name))
      return /(?:^| )(?:--)?strict-ssl[ =]false(?: |$)/.test(words.join(' '))
        ? 'strict-ssl false'
        : undefined;
    return undefined;
  }

  /** Every address is this machine's own. */
  function isLocal(words: readonly string[]): boolean {
    const addresses = words
      .slice(1)
      .filter((one) => one === '' || /^[a-z]+:\/\/|^(?:localhost|127\.)/i.test(one));
    return addresses.length > 0 && addresses.every((one) => local.test(one));
  }

  function assignmentHit(node: SyntaxNode): Hit | undefined {
    const name = text(childOf(node, 'name'));
    const value = childOf(node, 'value');
    const off = Object.hasOwn(switches, name) ? switches[name] : undefined;
    if (off === undefined || !value || ancestorOf(node, 'test_command')) return undefined;
    return new RegExp(off).test(literal(value) ?? '')
      ? sastHit('sast/shell-tls-unverified', node, name)
      : undefined;
  }
}
