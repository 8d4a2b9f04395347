/* The built-in static analysis for shell scripts. */
import { firstIndex } from '../../readers/source/first-index.ts';
import { ancestorOf, childOf, type SyntaxNode } from '../../readers/source/grammar/syntax-tree.ts';
import type { Reading } from '../../readers/source/names/reading.ts';
import { collectHits, type Hit } from '../direct-eval/hits.ts';
import { shellHits } from '../direct-eval/shell.ts';
import { shellCommand } from '../direct-eval/shell-command.ts';
import { sastHit } from './rows.ts';

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

/** Findings of the built-in rows for shell scripts. */
export function shellSast(reading: Reading): readonly Hit[] {
  const { tree, text, literal } = reading;
  /** Commands that execute text. */
  const executing = shellHits(reading);
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
